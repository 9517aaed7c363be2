#include <cmath>

#include "core/json.h"
#include "core/json_number.h"
#include "grm/core/error.h"
#include "train/calibration_json.h"
#include "train/trainer.h"

namespace grm {

using nlohmann::ordered_json;

namespace {

ordered_json scores_json(const std::vector<DomainScore>& scores) {
  ordered_json list = ordered_json::array();
  for (const DomainScore& s : scores) {
    list.push_back({{"domain", s.domain}, {"value", s.value}});
    if (s.error) list.back()["error"] = true;
  }
  return list;
}

std::vector<DomainScore> scores_from(const ordered_json& list) {
  std::vector<DomainScore> scores;
  for (const auto& s : list) {
    scores.push_back({s.at("domain"), s.at("value"), s.value("error", false)});
  }
  return scores;
}

}  // namespace

std::string to_json_text(const RunRecord& record) {
  ordered_json rules;
  for (const auto& [rule, chosen] : record.chosen) {
    rules[rule] = {{"epoch", chosen.epoch},
                   {"validation", chosen.validation},
                   {"test", scores_json(chosen.test)}};
    if (chosen.smaller_is_better) rules[rule]["smaller_is_better"] = true;
    if (std::isfinite(chosen.validation_loss)) {
      rules[rule]["validation_loss"] = chosen.validation_loss;
    }
  }
  ordered_json text = {{"seed", record.seed},
                       {"chosen", rules},
                       {"constant", scores_json(record.constant)},
                       {"constant_own", scores_json(record.constant_own)},
                       {"epochs", record.epochs},
                       {"seconds_per_epoch", record.seconds_per_epoch},
                       {"evaluate_seconds", record.evaluate_seconds},
                       {"parameters", record.parameters},
                       {"peak_memory_mib", record.peak_memory_mib},
                       {"stopped_early", record.stopped_early}};
  if (record.calibration) text["calibration"] = to_json(*record.calibration);
  return json_text(text, 2) + "\n";
}

RunRecord record_from_json(const std::string& text, const std::string& origin) {
  RunRecord record;
  try {
    const ordered_json j = parse_json<ordered_json>(text, origin);
    record.seed = whole_number(j, "seed", origin);
    record.epochs = whole_number(j, "epochs", origin);
    record.seconds_per_epoch = j.at("seconds_per_epoch");
    record.evaluate_seconds = j.at("evaluate_seconds");
    record.parameters = whole_number(j, "parameters", origin);
    record.peak_memory_mib = j.at("peak_memory_mib");
    record.stopped_early = j.at("stopped_early");
    // Records of version 0.1.0 before studies lack it.
    if (j.contains("constant")) record.constant = scores_from(j.at("constant"));
    if (j.contains("calibration")) record.calibration = calibration_from(j["calibration"], origin);
    if (j.contains("constant_own")) record.constant_own = scores_from(j.at("constant_own"));
    for (const auto& [rule, c] : j.at("chosen").items()) {
      record.chosen[rule] = {whole_number(c, "epoch", origin), c.at("validation"),
                             scores_from(c.at("test")), c.value("validation_loss", kNoLoss),
                             c.value("smaller_is_better", false)};
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: damaged run record: {}", origin, error.what());
  }
  const size_t slash = origin.find_last_of('/');
  record.folder = slash == std::string::npos ? "." : origin.substr(0, slash);
  return record;
}

}  // namespace grm
