#pragma once

#include "core/json.h"
#include "train/calibration.h"

namespace grm::cli {

/// Adds what is known of the probabilities of one group to its entry: `ece`, `ece_raw` (without the
/// temperature), `confidence`, `accuracy`, `nll` and the curve `reliability`. Percent but for nll.
void add_reliability(nlohmann::ordered_json& entry, const BeforeAfter& both);

/// The curve as a table on stdout: items by their confidence, how many of them are right.
void print_reliability(const BeforeAfter& both, double temperature);

}  // namespace grm::cli
