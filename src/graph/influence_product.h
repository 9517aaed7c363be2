#pragma once

#include <vector>

namespace grm {

/// Whether the geometric mean of `counts` (positive, finite or infinite) is at least `limit`,
/// decided without rounding: a tie counts as reached.
bool geometric_mean_reaches(const std::vector<double>& counts, double limit);

}  // namespace grm
