#pragma once

#include <string>
#include <vector>

#include "grm/train/config.h"

// How `grm fit` spends its minutes: successive halving by a schedule that follows from counted work
// alone. The clock does not choose, so the same data and minutes give the same plan on any machine.
namespace grm::study {

/// Seconds that a run is counted to take, on two cores that do other things as well.
double counted_seconds(const RunConfig& config, const Task& task);

/// All that are still in it train `seeds` seeds up to `share` of their epochs; the best `keep` stay.
struct Rung {
  double share = 1.0;
  int64_t seeds = 1;
  int64_t keep = 1;
};

struct FitPlan {
  std::string schedule;  // in words
  std::vector<Rung> rungs;
  std::vector<size_t> candidates;  // that take part, by index
  std::vector<size_t> left_out;    // for which there is no time
  double seconds = 0.0;            // counted, at the most
  double budget = 0.0;             // counted seconds that the search may take
};

/// `seconds` of one whole run, by candidate. The richest schedule that fits; where even the poorest
/// does not, the dearest candidates are left out, and the cheapest one always stays.
FitPlan plan_fit(const std::vector<double>& seconds, double minutes);

/// Epochs that a run of this configuration has at the end of a rung: a share of all, rounded up to
/// one that is evaluated.
int64_t epochs_at(const RunConfig& config, double share);

}  // namespace grm::study
