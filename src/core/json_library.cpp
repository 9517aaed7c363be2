// The templates of the JSON library, compiled for everybody else.
#include "core/json.h"

namespace grm {

template nlohmann::json parse_json(std::string_view, const std::string&);
template nlohmann::ordered_json parse_json(std::string_view, const std::string&);
template nlohmann::json try_json(std::string_view);
template nlohmann::ordered_json try_json(std::string_view);
template std::string json_text(const nlohmann::json&, int);
template std::string json_text(const nlohmann::ordered_json&, int);

}  // namespace grm

template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;
