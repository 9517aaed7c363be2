#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/figure.h"

namespace grm::report {

/// Run folders among these, and below those that are none themselves, sorted. Error(data) if a
/// path leads to none.
std::vector<std::string> find_runs(const std::vector<std::string>& paths);

/// What the training logs of some runs say, by epoch; a value for each run that has one.
using ValuesByEpoch = std::map<int64_t, std::vector<double>>;
struct RunCurves {
  int64_t runs = 0;
  std::vector<std::string> terms;  // in the order of the log
  std::map<std::string, ValuesByEpoch> loss;
  ValuesByEpoch validation;
};
RunCurves read_curves(const std::vector<std::string>& run_folders);

/// Figures of training: the loss terms of each method, and the validation metric of all methods of
/// a dataset. Runs that differ in the seed alone are one line with a band. `dataset` is what the
/// data of all of them is called in titles; "" for the name in their configurations. `labels` are
/// what the folders' methods are called; none for their names and presets.
std::vector<Figure> training_curves(const std::vector<std::string>& run_folders,
                                    const std::string& dataset = "",
                                    const std::vector<std::string>& labels = {});

}  // namespace grm::report
