#include "nn/losses.h"

#include <cmath>

#include "checks.h"
#include "grm/core/error.h"

namespace grm::nn {
namespace {

using test::expect_close;
using test::numbers;
using test::uniform;

torch::Tensor labels(const std::vector<int64_t>& y) {
  return torch::tensor(y, torch::dtype(torch::kInt64));
}

double softplus(double x) {
  return std::log1p(std::exp(x));
}
double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST(Losses, TwoOutputLossAndGradientAreTheHandComputedOnes) {
  const torch::Tensor o = numbers({0.5, -1.0, 2.0, 0.25}).view({2, 2}).set_requires_grad(true);
  const torch::Tensor loss = supervised_loss(LossKind::binary_pair, o, labels({0, 1}));
  const double expected =
      (softplus(0.5) - 0.5 + softplus(-1.0) + softplus(2.0) + softplus(0.25) - 0.25) / 4;
  EXPECT_NEAR(loss.item<double>(), expected, 1e-14);
  loss.backward();
  expect_close(o.grad(),
               numbers({(sigmoid(0.5) - 1) / 4, sigmoid(-1.0) / 4, sigmoid(2.0) / 4,
                        (sigmoid(0.25) - 1) / 4})
                   .view({2, 2}),
               1e-14);
}

TEST(Losses, TwoOutputLossStaysFiniteForHugeScores) {
  const torch::Tensor o =
      torch::tensor({{1000.0f, -1000.0f}, {1000.0f, -1000.0f}}).set_requires_grad(true);
  const torch::Tensor loss = supervised_loss(LossKind::binary_pair, o, labels({0, 1}));
  EXPECT_NEAR(loss.item<double>(), 500.0, 1e-3);
  loss.backward();
  EXPECT_TRUE(torch::isfinite(o.grad()).all().item<bool>());
}

TEST(Losses, SoftmaxLossIsTheMeanNegativeLogProbabilityOfTheLabel) {
  const torch::Tensor o = numbers({1, 2, 3, 0, 0, 0}).view({2, 3});
  const double z = std::exp(1) + std::exp(2) + std::exp(3);
  const double expected = (-std::log(std::exp(2) / z) + std::log(3.0)) / 2;
  EXPECT_NEAR(supervised_loss(LossKind::softmax, o, labels({1, 0})).item<double>(), expected,
              1e-14);
}

TEST(Losses, GradientsAgreeWithFiniteDifferences) {
  for (const LossKind kind : {LossKind::softmax, LossKind::binary_pair}) {
    ParameterSet set(Rng(1), torch::kFloat64);
    const torch::Tensor o = set.parameter("logits", uniform({5, 2}, 21, -3, 3));
    const torch::Tensor y = labels({0, 1, 1, 0, 1});
    test::expect_gradients([&] { return supervised_loss(kind, o, y); }, set.parameters(), 1e-9);
  }
}

TEST(Losses, ProbabilitiesSumToOneAndRankByTheDifferenceOfScores) {
  const torch::Tensor p = class_probabilities(numbers({0, 1, 1000, 1000, -5, 3}).view({3, 2}));
  expect_close(p.sum(1), torch::ones({3}, torch::kFloat64), 1e-15);
  EXPECT_NEAR(p[0][1].item<double>(), sigmoid(1.0), 1e-15);
  EXPECT_NEAR(p[1][1].item<double>(), 0.5, 1e-15);
}

TEST(Losses, WrongShapesAndLabelsAreRefused) {
  const torch::Tensor o = torch::zeros({2, 3});
  EXPECT_THROW(supervised_loss(LossKind::softmax, o, labels({0})), Error);
  EXPECT_THROW(supervised_loss(LossKind::softmax, o, labels({0, 3})), Error);
  EXPECT_THROW(supervised_loss(LossKind::softmax, o, labels({-1, 0})), Error);
  EXPECT_THROW(supervised_loss(LossKind::binary_pair, o, labels({0, 1})), Error);
  EXPECT_THROW(supervised_loss(LossKind::softmax, torch::zeros({0, 3}), labels({})), Error);
}

}  // namespace
}  // namespace grm::nn
