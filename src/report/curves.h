#pragma once

#include <string>
#include <vector>

#include "report/figure.h"

namespace grm::report {

/// Run folders among these, and below those that are none themselves, sorted. Error(data) if a
/// path leads to none.
std::vector<std::string> find_runs(const std::vector<std::string>& paths);

/// Figures of training: the loss terms of each method, and the validation metric of all methods of
/// a dataset. Runs that differ in the seed alone are one line with a band. `dataset` is what the
/// data of all of them is called in titles; "" for the name in their configurations. `labels` are
/// what the folders' methods are called; none for their names and presets.
std::vector<Figure> training_curves(const std::vector<std::string>& run_folders,
                                    const std::string& dataset = "",
                                    const std::vector<std::string>& labels = {});

}  // namespace grm::report
