#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace grm {

/// What one evaluation found. Test scores are there under train.test = every (for the `oracle`
/// row); the rule that chooses a model is never handed them: see choose_by_validation.
struct Evaluation {
  int64_t epoch = 0;
  double validation = 0.0;   // mean over validation groups
  std::vector<double> test;  // by test group; empty unless every evaluation scores them
};

/// Index of the first largest value.
size_t first_maximum(const std::vector<double>& values);

/// Index of the epoch chosen by validation alone.
size_t choose_by_validation(const std::vector<double>& validation);

/// Index chosen in a history by a rule: "val", "last", or "oracle" (largest mean test score; an
/// upper bound for analysis, never a result).
size_t choose(const std::string& rule, const std::vector<Evaluation>& history);

/// Whether training stops early after this many evaluations. "no_gain": the best validation score
/// is `patience` evaluations old. "below_mean" (LiSA): after `warm_up` epochs, the latest score is
/// below the mean of the `patience` scores before it. patience 0: never.
bool stops_early(const std::string& rule, int64_t patience, int64_t warm_up,
                 const std::vector<Evaluation>& history);

}  // namespace grm
