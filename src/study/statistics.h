#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace grm::study {

/// The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1].
double incomplete_beta(double a, double b, double x);

/// Probability that Student's t with `freedom` degrees of freedom is at least |t| away from 0.
double two_sided_p(double t, double freedom);

/// Paired comparison of a and b over the same runs.
struct PairedTest {
  int64_t pairs = 0;
  double difference = 0.0;  // mean of a - b
  double deviation = 0.0;   // sample deviation of a - b
  /// Absent when there are fewer than two pairs. Differences without any spread have no t
  /// distribution: p is 1 if all are zero, else 0.
  std::optional<double> p;
};
PairedTest paired_t_test(const std::vector<std::pair<double, double>>& pairs);

}  // namespace grm::study
