#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace grm {

/// What one evaluation found. Test scores are recorded for the tables (and for the `oracle` row),
/// but the rule that chooses a model is never handed them: see choose_by_validation.
struct Evaluation {
  int64_t epoch = 0;
  double validation = 0.0;   // mean over validation groups
  std::vector<double> test;  // by test group
};

/// Index of the first largest value.
size_t first_maximum(const std::vector<double>& values);

/// Index of the epoch chosen by validation alone.
size_t choose_by_validation(const std::vector<double>& validation);

/// Index chosen in a history by a rule: "val", "last", or "oracle" (largest mean test score; an
/// upper bound for analysis, never a result).
size_t choose(const std::string& rule, const std::vector<Evaluation>& history);

}  // namespace grm
