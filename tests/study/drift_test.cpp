#include "study/drift.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grm/core/rng.h"

namespace grm::drift_tests {

using study::DriftReference;
using study::Sample;

constexpr int kColumns = 5, kReference = 8, kMonths = 24;

// A month of one column: long-tailed in the odd ones, and every month has a level of its own.
Sample month(uint64_t series, uint64_t column, uint64_t number, double shift) {
  Stream draw = Rng(series).stream("months", column, number);
  const double own = 0.1 * draw.normal();
  Sample values;
  for (int i = 0; i < 80; ++i) {
    const double value = draw.normal() + own + shift;
    values.push_back(column % 2 == 0 ? value : std::exp(value));
  }
  return values;
}

// The first month that alarms, from 1; 0: none. The shift of one column sets in at a month.
int first_alarm(uint64_t series, int shifted_from, double shift) {
  std::vector<DriftReference> references;
  for (uint64_t c = 0; c < kColumns; ++c) {
    std::vector<Sample> before;
    for (uint64_t m = 0; m < kReference; ++m) before.push_back(month(series, c, 1000 + m, 0.0));
    references.emplace_back(before);
  }
  for (int k = 1; k <= kMonths; ++k) {
    for (uint64_t c = 0; c < kColumns; ++c) {
      const bool shifted = c == 0 && shifted_from > 0 && k >= shifted_from;
      const Sample now = month(series, c, static_cast<uint64_t>(k), shifted ? shift : 0.0);
      for (const double p : {references[c].location(now).p, references[c].spread(now).p}) {
        if (p * 2 * kColumns < study::alpha_of(0.05, k)) return k;
      }
    }
  }
  return 0;
}

TEST(Drift, At200SeriesWithoutAShiftAtMostFivePercentAlarm) {
  int alarms = 0;
  for (uint64_t series = 0; series < 200; ++series) alarms += first_alarm(series, 0, 0.0) > 0;
  EXPECT_LE(alarms, 10);
}

TEST(Drift, AShiftInMonth13AlarmsWithinTwoMonthsAndNotBefore) {
  for (uint64_t series = 0; series < 20; ++series) {
    const int alarm = first_alarm(series, 13, 3.0);
    EXPECT_GE(alarm, 13) << series;
    EXPECT_LE(alarm, 14) << series;
  }
}

TEST(Drift, AlphaIsSpentOnceOverAnyNumberOfMonths) {
  double sum = 0.0;
  for (int64_t k = 1; k <= 100000; ++k) sum += study::alpha_of(0.05, k);
  EXPECT_LT(sum, 0.05);
  EXPECT_GT(sum, 0.0499);
}

// Ranks by a double loop; the variance of the means by hand.
TEST(Drift, EffectIsTheDifferenceOfMeanRanksOfANaiveLoop) {
  const std::vector<Sample> level = {{1, 2, 2, 5}, {0, 3, 3}};
  const Sample now = {2, 4, 9};
  const auto rank = [&](double value) {
    double below = 0.0, count = 0.0;
    for (const Sample& sample : level) {
      for (const double other : sample) {
        below += other < value ? 1.0 : other == value ? 0.5 : 0.0;
        count += 1.0;
      }
    }
    return below / count;
  };
  const auto mean_rank = [&](const Sample& sample) {
    double sum = 0.0;
    for (const double value : sample) sum += rank(value);
    return sum / static_cast<double>(sample.size());
  };
  const double expected = mean_rank(now) - 0.5 * (mean_rank(level[0]) + mean_rank(level[1]));
  EXPECT_NEAR(DriftReference(level).location(now).effect, expected, 1e-12);
}

// Equal domains without any variance between them: what chance alone gives is the yardstick.
TEST(Drift, AWiderSpreadIsSeenWhereTheLevelStays) {
  std::vector<Sample> level;
  Sample wide;
  for (uint64_t m = 0; m < 10; ++m) level.push_back(month(7, 0, m, 0.0));
  for (const double value : month(7, 0, 99, 0.0)) wide.push_back(6.0 * value);
  const DriftReference reference(level);
  EXPECT_LT(reference.spread(wide).p, 1e-4);
  EXPECT_GT(reference.location(wide).p, 1e-3);
  EXPECT_EQ(reference.location({}).p, 1.0);
}

TEST(Drift, FewReferenceDomainsAlarmAtLargeDifferencesOnly) {
  const DriftReference reference({month(3, 0, 0, 0.0)});
  EXPECT_EQ(reference.location(month(3, 0, 1, 0.15)).p, 1.0);
  EXPECT_LT(reference.location(month(3, 0, 1, 2.0)).p, 1e-6);
}

}  // namespace grm::drift_tests
