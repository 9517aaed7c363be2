#include "study/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace grm::study {
namespace {

// Printed tables of Student's t (two-sided), as found in any statistics book.
TEST(Statistics, TwoSidedProbabilityAgreesWithPrintedTables) {
  struct Entry {
    double t, freedom, p;
  };
  for (const Entry& e : {Entry{12.706, 1, .05},
                         {4.303, 2, .05},
                         {3.182, 3, .05},
                         {2.776, 4, .05},
                         {4.604, 4, .01},
                         {2.262, 9, .05},
                         {3.250, 9, .01},
                         {2.086, 20, .05},
                         {1.984, 100, .05},
                         {63.657, 1, .01}}) {
    EXPECT_NEAR(two_sided_p(e.t, e.freedom), e.p, 1e-3 * e.p) << e.t << " " << e.freedom;
    EXPECT_DOUBLE_EQ(two_sided_p(-e.t, e.freedom), two_sided_p(e.t, e.freedom));
  }
}

// One and two degrees of freedom have closed forms: 1 - 2/pi atan(t) and 1 - t / sqrt(2 + t^2).
TEST(Statistics, TwoSidedProbabilityAgreesWithClosedForms) {
  for (const double t : {0.0, 0.1, 0.7, 1.0, 2.5, 30.0, 1000.0}) {
    EXPECT_NEAR(two_sided_p(t, 1), 1 - 2 / M_PI * std::atan(t), 1e-13);
    EXPECT_NEAR(two_sided_p(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-13);
  }
}

// I_x(a, b) for whole a, b is a binomial tail: P(at least a of a + b - 1 trials succeed).
TEST(Statistics, IncompleteBetaIsTheBinomialTail) {
  for (const double x : {0.0, 0.01, 0.3, 0.5, 0.77, 1.0}) {
    for (int a = 1; a <= 6; ++a) {
      for (int b = 1; b <= 6; ++b) {
        const int n = a + b - 1;
        double tail = 0.0;
        for (int k = a; k <= n; ++k) {
          double choose = 1.0;
          for (int i = 1; i <= k; ++i) choose *= static_cast<double>(n - k + i) / i;
          tail += choose * std::pow(x, k) * std::pow(1 - x, n - k);
        }
        EXPECT_NEAR(incomplete_beta(a, b, x), tail, 1e-13) << a << " " << b << " " << x;
      }
    }
  }
}

// Differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3) with 2 degrees of freedom.
TEST(Statistics, PairedTestByHand) {
  const PairedTest test = paired_t_test({{11, 10}, {22, 20}, {33, 30}});
  EXPECT_EQ(test.pairs, 3);
  EXPECT_DOUBLE_EQ(test.difference, 2.0);
  const double t = 2 * std::sqrt(3.0);
  EXPECT_NEAR(test.p.value(), 1 - t / std::sqrt(2 + t * t), 1e-12);
}

TEST(Statistics, PairedTestWithoutSpreadIsExact) {
  EXPECT_FALSE(paired_t_test({}).p.has_value());
  EXPECT_FALSE(paired_t_test({{1, 2}}).p.has_value());
  EXPECT_EQ(paired_t_test({{1, 1}, {5, 5}}).p.value(), 1.0);
  EXPECT_EQ(paired_t_test({{2, 1}, {6, 5}}).p.value(), 0.0);
}

}  // namespace
}  // namespace grm::study
