#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "grm/core/error.h"

// The JSON library, compiled once (json_library.cpp): its templates in every file take a tenth of the build.
extern template class nlohmann::basic_json<>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace grm {

/// How deep lists and objects of a JSON text may lie in each other. Ours need five levels.
inline constexpr int kDeepestJson = 64;

/// What is wrong with the size of this JSON text, or nothing: brackets that lie deeper in each
/// other than kDeepestJson (the library walks values recursively, so a million brackets would end
/// the program), or so many values that they would take many times the memory of their text.
std::string oversize_of_json(std::string_view text);

/// Every JSON text from outside comes in through this function or the next one. Error(data) naming
/// `origin` for an oversize text; text that is not JSON throws what the library throws, an
/// exception of Json's own, which callers catch together with those of missing members.
template <class Json>
Json parse_json(std::string_view text, const std::string& origin) {
  const std::string oversize = oversize_of_json(text);
  if (!oversize.empty()) fail(ErrorKind::data, "{}: {}", origin, oversize);
  return Json::parse(text);
}

/// The same for texts that one can do without: a discarded value (is_discarded()) in place of any
/// error.
template <class Json>
Json try_json(std::string_view text) {
  if (!oversize_of_json(text).empty()) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

/// A JSON value as text, on one line or indented. Names and paths of users need not be UTF-8: what
/// is not becomes U+FFFD here, where dump() alone would throw. Every text of ours is made by this.
template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

extern template nlohmann::json parse_json(std::string_view, const std::string&);
extern template nlohmann::ordered_json parse_json(std::string_view, const std::string&);
extern template nlohmann::json try_json(std::string_view);
extern template nlohmann::ordered_json try_json(std::string_view);
extern template std::string json_text(const nlohmann::json&, int);
extern template std::string json_text(const nlohmann::ordered_json&, int);

}  // namespace grm
