#include "study/statistics.h"

#include <cmath>

#include "grm/core/error.h"
#include "train/summary.h"

namespace grm::study {
namespace {

// The continued fraction of the incomplete beta function, from its tail:
//   1 / (1 + d1 / (1 + d2 / (1 + ...))), d_{2m} = m (b - m) x / ((a + 2m - 1)(a + 2m)),
//   d_{2m+1} = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)).
// For x < (a + 1) / (a + b + 2) it needs about sqrt(max(a, b)) levels.
double beta_fraction(double a, double b, double x) {
  const int levels = 100 + 20 * static_cast<int>(std::sqrt(a + b));
  double tail = 1.0;
  for (int i = levels; i >= 1; --i) {
    const double m = i / 2;  // whole steps
    const double d = i % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    tail = 1.0 + d / tail;
  }
  return 1.0 / tail;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  ensure(a > 0 && b > 0 && x >= 0 && x <= 1, "incomplete_beta outside its domain");
  if (x == 0 || x == 1) return x;
  if (x > (a + 1) / (a + b + 2)) return 1.0 - incomplete_beta(b, a, 1.0 - x);
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) / a * beta_fraction(a, b, x);
}

double two_sided_p(double t, double freedom) {
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

PairedTest paired_t_test(const std::vector<std::pair<double, double>>& pairs) {
  PairedTest test;
  test.pairs = static_cast<int64_t>(pairs.size());
  std::vector<double> differences;
  for (const auto& [a, b] : pairs) differences.push_back(a - b);
  const MeanStd spread = mean_std(differences);
  test.difference = spread.mean;
  test.deviation = spread.std;
  if (test.pairs < 2) return test;
  bool equal = true;
  for (const double d : differences) equal = equal && d == differences.front();
  if (equal) {
    test.p = differences.front() == 0.0 ? 1.0 : 0.0;
  } else {
    const double n = static_cast<double>(test.pairs);
    test.p = two_sided_p(spread.mean / (spread.std / std::sqrt(n)), n - 1);
  }
  return test;
}

}  // namespace grm::study
