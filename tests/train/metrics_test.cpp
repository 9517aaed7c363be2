#include "train/metrics.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "support/golden.h"

namespace grm {
namespace {

TEST(Metrics, EqualScikitLearnOnTheGoldenCases) {
  const test::Golden golden("layers.npz");
  for (int k = 0; k < 5; ++k) {
    const std::string name = "metrics" + std::to_string(k) + "__";
    const torch::Tensor y = golden.at(name + "labels").to(torch::kInt64);
    const torch::Tensor predicted = golden.at(name + "predicted").to(torch::kInt64);
    const auto expected = [&](const std::string& what) {
      return 100.0 * golden.at(name + what).item<double>();
    };
    EXPECT_NEAR(roc_auc_of_scores(golden.at(name + "scores"), y), expected("roc_auc"), 1e-9);
    const F1Scores f1 = f1_scores(predicted, y, 2);
    EXPECT_NEAR(f1.macro, expected("macro_f1"), 1e-9);
    EXPECT_NEAR(f1.weighted, expected("weighted_f1"), 1e-9);
    EXPECT_NEAR(f1.positive, expected("positive_f1"), 1e-9);
  }
}

// The examples of the specification, computed by hand there.
TEST(Metrics, EqualTheHandExamples) {
  const torch::Tensor scores = torch::tensor({0.1, 0.4, 0.4, 0.8}, torch::kFloat64);
  EXPECT_DOUBLE_EQ(roc_auc_of_scores(scores, torch::tensor({0, 0, 1, 1}, torch::kInt64)), 87.5);
  const F1Scores f1 =
      f1_scores(torch::zeros({4}, torch::kInt64), torch::tensor({0, 0, 0, 1}, torch::kInt64), 2);
  EXPECT_NEAR(f1.macro, 100 * (6.0 / 7) / 2, 1e-9);
  EXPECT_DOUBLE_EQ(f1.positive, 0.0);
}

// matthews_corrcoef([0, 1, 2, 2, 1, 0, 1], [0, 2, 2, 1, 1, 0, 0]) of scikit-learn is 0.375; by
// hand: 7 items, 4 right, sum of products of class counts 2 * 3 + 3 * 2 + 2 * 2 = 16, sums of squares
// 17 and 17: (7 * 4 - 16) / sqrt((49 - 17) (49 - 17)) = 12 / 32.
TEST(Metrics, MatthewsCorrelationIsInPercent) {
  const torch::Tensor y = torch::tensor({0, 1, 2, 2, 1, 0, 1}, torch::kInt64);
  const torch::Tensor guess = torch::tensor({0, 2, 2, 1, 1, 0, 0}, torch::kInt64);
  const torch::Tensor logits = torch::one_hot(guess, 3).to(torch::kFloat32);
  EXPECT_NEAR(score(MetricKind::matthews, logits, y), 100 * 12.0 / 32, 1e-9);
  const torch::Tensor same = torch::one_hot(torch::zeros_like(y), 3).to(torch::kFloat32);
  EXPECT_EQ(score(MetricKind::matthews, same, y), 0);
  EXPECT_NEAR(score(MetricKind::matthews, torch::one_hot(y, 3).to(torch::kFloat32), y), 100, 1e-9);
}

TEST(Metrics, AucEqualsCountingAllPairs) {
  Stream draw = Rng(4).stream("auc");
  for (int round = 0; round < 20; ++round) {
    const int64_t n = 5 + static_cast<int64_t>(draw.below(40));
    torch::Tensor scores = torch::empty({n}, torch::kFloat64);
    torch::Tensor y = torch::empty({n}, torch::kInt64);
    for (int64_t i = 0; i < n; ++i) {
      scores[i] = static_cast<double>(draw.below(8));  // many ties
      y[i] = static_cast<int64_t>(i < 2 ? i : draw.below(2));
    }
    double wins = 0, pairs = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (y[i].item<int64_t>() != 1 || y[j].item<int64_t>() != 0) continue;
        const double a = scores[i].item<double>(), b = scores[j].item<double>();
        wins += a > b ? 1.0 : a == b ? 0.5 : 0.0;
        ++pairs;
      }
    }
    EXPECT_NEAR(roc_auc_of_scores(scores, y), 100 * wins / pairs, 1e-9);
  }
}

TEST(Metrics, AucOfLogitsRanksByTheirDifference) {
  const torch::Tensor logits = torch::tensor({{5.0, 1.0}, {0.0, 2.0}, {1.0, 0.0}});
  EXPECT_DOUBLE_EQ(roc_auc(logits, torch::tensor({0, 1, 0}, torch::kInt64)), 100.0);
}

TEST(Metrics, AucOfOneClassIsAnError) {
  EXPECT_THROW(roc_auc_of_scores(torch::rand({3}), torch::ones({3}, torch::kInt64)), Error);
}

TEST(Metrics, AucOfWhatIsNotANumberEndsWithAnError) {
  const torch::Tensor scores = torch::tensor({0.1, std::nan(""), 0.3}, torch::kFloat64);
  EXPECT_THROW(roc_auc_of_scores(scores, torch::tensor({0, 1, 1}, torch::kInt64)), InternalError);
}

TEST(Metrics, TiesOfTheArgmaxGoToTheSmallestClass) {
  const torch::Tensor logits = torch::tensor({{1.0, 1.0, 0.0}, {0.0, 2.0, 2.0}});
  EXPECT_TRUE(torch::equal(predicted_class(logits), torch::tensor({0, 1}, torch::kInt64)));
  EXPECT_DOUBLE_EQ(accuracy(logits, torch::tensor({0, 2}, torch::kInt64)), 50.0);
}

}  // namespace
}  // namespace grm
