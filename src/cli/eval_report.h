#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grm/train/model_file.h"
#include "train/bootstrap.h"
#include "train/calibration.h"
#include "train/threshold.h"

// What `grm eval RUN --data PATH` found, before it is printed.
namespace grm::cli {

/// A threshold for one class, and what it comes to.
struct EvalThreshold {
  Wanted wanted = Wanted::precision;
  double value = 0.0;  // wanted, a share
  int64_t positive = 1;
  bool on_validation = false;
  std::string why_not;  // validation was not at hand
  ThresholdChoice choice;
  std::vector<Called> domains;
  Called together;
};

struct EvalReport {
  std::string run, data;
  ModelAbout about;
  std::vector<std::string> labels;  // names of the classes
  std::vector<std::string> domains;
  std::vector<ScoredItems> groups;
  std::vector<ScoredItems> together;  // one
  std::vector<double> values;         // by domain: the metric of the run
  std::vector<double> ece;            // by domain
  double ece_together = 0.0;
  BootstrapOptions options;
  BootstrapIntervals intervals;
  std::optional<EvalThreshold> threshold;
  int64_t unlabelled = 0;
  std::vector<std::string> notes;
  double seconds = 0.0;
};

nlohmann::ordered_json eval_json(const EvalReport& report);
void print_eval(const EvalReport& report);

}  // namespace grm::cli
