// Metrics of multi-label targets and of regression against scikit-learn 1.2 (roc_auc_score,
// average_precision_score, f1_score, mean_squared_error, mean_absolute_error, r2_score), by column on
// the known labels and averaged, on numbers drawn by NumPy with many ties.
#include "train/target_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grm/core/error.h"
#include "train/metrics.h"

namespace grm::target_metric_tests {
namespace {

const double kUnknown = std::nan("");

torch::Tensor rows(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64).view({-1, 3});
}
torch::Tensor outputs() {
  return rows({-0.8, -1.3, -0.2, 0.4,  1.1,  0.1,  -0.6, -0.8, 0.7,  1.6,  0.3,  -1.2,
               -1.0, 1.6,  0.2,  -1.7, -0.1, -1.2, -0.6, -0.5, -0.7, 0.6,  -0.1, -0.6,
               0.4,  0.8,  -1.6, -0.3, -1.0, -0.2, -1.3, 0.0,  -0.0, -0.3, -1.0, -0.4});
}
torch::Tensor labels() {
  const double u = kUnknown;
  return rows({0, 1, 1, 0, 0, 0, 1, u, 0, 0, 0, 1, 1, 0, 1, 0, u, 0,
               1, 0, 0, 1, 0, u, 0, u, 1, u, 1, 0, u, 1, 0, 1, 1, u});
}
torch::Tensor numbers() {
  const double u = kUnknown;
  return rows({1.73, 2.85,  1.56, 0.91,  0.02, -0.62, 1.87, u,    0.05,  1.07, -0.33, 2.92,
               4.38, -1.21, 2.76, -0.31, u,    -1.03, 2.48, 0.43, -0.53, 2.55, 0.72,  u,
               0.87, u,     2.99, u,     3.12, 0.13,  u,    1.58, -0.34, 3.29, 3.13,  u});
}

TEST(TargetMetrics, OfMultiLabelTargetsAreThoseOfScikitLearn) {
  const std::pair<MetricKind, double> expected[] = {
      {MetricKind::roc_auc, 29.11111111111111},
      {MetricKind::average_precision, 42.41534391534391},
      {MetricKind::macro_f1, 16.931216931216934},
      {MetricKind::micro_f1, 17.391304347826086},
      {MetricKind::accuracy, 34.074074074074076}};
  for (const auto& [metric, value] : expected) {
    EXPECT_NEAR(score(metric, outputs(), labels()), value, 1e-9) << to_string(metric);
  }
}

TEST(TargetMetrics, OfRegressionAreThoseOfScikitLearn) {
  EXPECT_NEAR(score(MetricKind::rmse, outputs(), numbers()), 2.515212509187012, 1e-9);
  EXPECT_NEAR(score(MetricKind::mae, outputs(), numbers()), 1.9936666666666667, 1e-9);
  EXPECT_NEAR(score(MetricKind::r2, outputs(), numbers()), -217.31404977411145, 1e-9);
}

// Naive: every pair of a yes and a no, on random draws with ties and unknown labels.
TEST(TargetMetrics, RocAucIsTheShareOfPairsInOrder) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Stream draw = Rng(seed).stream("pairs");
    const int64_t n = 4 + static_cast<int64_t>(draw.below(12));
    torch::Tensor o = torch::zeros({n, 2}, torch::kFloat64), y = torch::zeros_like(o);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < 2; ++c) {
        o[i][c] = static_cast<double>(draw.below(5));
        y[i][c] = draw.uniform() < 0.2 ? kUnknown : static_cast<double>(draw.below(2));
      }
    }
    double sum = 0, tasks = 0;
    for (int64_t c = 0; c < 2; ++c) {
      double right = 0, pairs = 0;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          if (y[i][c].item<double>() != 1.0 || y[j][c].item<double>() != 0.0) continue;
          const double d = o[i][c].item<double>() - o[j][c].item<double>();
          right += d > 0 ? 1.0 : d == 0 ? 0.5 : 0.0;
          ++pairs;
        }
      }
      if (pairs == 0) continue;
      sum += 100 * right / pairs;
      ++tasks;
    }
    if (tasks == 0) {
      EXPECT_THROW(score(MetricKind::roc_auc, o, y), Error);
    } else {
      EXPECT_NEAR(score(MetricKind::roc_auc, o, y), sum / tasks, 1e-9) << seed;
    }
  }
}

TEST(TargetMetrics, WhatIsUndefinedIsSaid) {
  const torch::Tensor o = torch::ones({3, 1}), none = torch::full({3, 1}, kUnknown);
  EXPECT_THROW(score(MetricKind::micro_f1, o, none), Error);
  EXPECT_THROW(score(MetricKind::rmse, o, none), Error);
  EXPECT_THROW(score(MetricKind::r2, o, torch::ones({3, 1})), Error);
  EXPECT_THROW(score(MetricKind::average_precision, o, torch::zeros({3, 1})), Error);
  EXPECT_DOUBLE_EQ(score(MetricKind::macro_f1, -o, torch::zeros({3, 1})), 0.0);
}

}  // namespace
}  // namespace grm::target_metric_tests
