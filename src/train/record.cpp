#include <nlohmann/json.hpp>

#include "grm/core/error.h"
#include "grm/train/trainer.h"

namespace grm {

using nlohmann::ordered_json;

std::string to_json_text(const RunRecord& record) {
  ordered_json rules;
  for (const auto& [rule, chosen] : record.chosen) {
    ordered_json test = ordered_json::array();
    for (const DomainScore& s : chosen.test) {
      test.push_back({{"domain", s.domain}, {"value", s.value}});
    }
    rules[rule] = {{"epoch", chosen.epoch}, {"validation", chosen.validation}, {"test", test}};
  }
  const ordered_json text = {{"seed", record.seed},
                             {"chosen", rules},
                             {"epochs", record.epochs},
                             {"seconds_per_epoch", record.seconds_per_epoch},
                             {"evaluate_seconds", record.evaluate_seconds},
                             {"parameters", record.parameters},
                             {"peak_memory_mib", record.peak_memory_mib},
                             {"stopped_early", record.stopped_early}};
  return text.dump(2) + "\n";
}

RunRecord record_from_json(const std::string& text, const std::string& origin) {
  RunRecord record;
  try {
    const ordered_json j = ordered_json::parse(text);
    record.seed = j.at("seed");
    record.epochs = j.at("epochs");
    record.seconds_per_epoch = j.at("seconds_per_epoch");
    record.evaluate_seconds = j.at("evaluate_seconds");
    record.parameters = j.at("parameters");
    record.peak_memory_mib = j.at("peak_memory_mib");
    record.stopped_early = j.at("stopped_early");
    for (const auto& [rule, c] : j.at("chosen").items()) {
      Chosen chosen{c.at("epoch"), c.at("validation"), {}};
      for (const auto& s : c.at("test")) chosen.test.push_back({s.at("domain"), s.at("value")});
      record.chosen[rule] = chosen;
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: damaged run record: {}", origin, error.what());
  }
  const size_t slash = origin.find_last_of('/');
  record.folder = slash == std::string::npos ? "." : origin.substr(0, slash);
  return record;
}

}  // namespace grm
