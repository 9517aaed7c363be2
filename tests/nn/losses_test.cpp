#include "nn/losses.h"

#include <cmath>
#include <limits>

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

// What every row costs, by a plain loop over the formulas of losses.h.
double naive_row(const TrainLoss& loss, const torch::Tensor& o, const torch::Tensor& y, int64_t i) {
  const int64_t outputs = o.size(1);
  const auto at = [&](int64_t row, int64_t c) { return o[row][c].item<double>(); };
  const auto weight = [&](int64_t c) {
    return loss.weights.defined() ? loss.weights[c].item<double>() : 1.0;
  };
  const auto focal = [&](double p) { return std::pow(1 - p, loss.focal) * -std::log(p); };
  if (loss.kind == LossKind::softmax) {
    double sum = 0;
    for (int64_t c = 0; c < outputs; ++c) sum += std::exp(at(i, c));
    const int64_t label = y[i].item<int64_t>();
    return weight(label) * focal(std::exp(at(i, label)) / sum);
  }
  double row = 0, known = 0;
  for (int64_t c = 0; c < outputs; ++c) {
    if (loss.kind == LossKind::binary_pair) {
      const int64_t label = y[i].item<int64_t>();
      const double p = sigmoid(at(i, c));
      row += 0.5 * weight(label) * focal(c == label ? p : 1 - p);
      continue;
    }
    const double t = y[i][c].item<double>(), p = sigmoid(at(i, c));
    if (std::isnan(t)) continue;
    if (loss.kind == LossKind::squared) row += (at(i, c) - t) * (at(i, c) - t);
    if (loss.kind == LossKind::multi_label) row += t > 0 ? weight(c) * focal(p) : focal(1 - p);
  }
  if (loss.kind == LossKind::binary_pair) return row;
  for (int64_t k = 0; k < y.numel(); ++k) known += !std::isnan(y.view({-1})[k].item<double>());
  return row * static_cast<double>(y.size(0)) / known;
}

struct LossCase {
  TrainLoss loss;
  torch::Tensor y;
  int64_t outputs;
};

std::vector<LossCase> loss_cases() {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const torch::Tensor many =
      numbers({1, 0, unknown, 0, unknown, 1, 1, 1, 0, unknown, unknown, unknown, 0, 0, 1})
          .view({5, 3});
  std::vector<LossCase> cases;
  for (const double gamma : {0.0, 0.5, 2.0}) {
    for (const bool weighted : {false, true}) {
      const auto add = [&](LossKind kind, const torch::Tensor& y, const torch::Tensor& weights) {
        TrainLoss loss = kind;
        loss.focal = gamma;
        if (weighted) loss.weights = weights;
        cases.push_back({loss, y, weights.numel()});
      };
      add(LossKind::softmax, labels({0, 2, 1, 2, 0}), numbers({0.5, 2.0, 3.0}));
      add(LossKind::binary_pair, labels({0, 1, 1, 0, 1}), numbers({0.5, 4.0}));
      add(LossKind::multi_label, many, numbers({2.0, 0.5, 7.0}));
    }
  }
  cases.push_back({LossKind::squared, many * 2.5 - 1.0, 3});
  return cases;
}

TEST(Losses, WeightsFocalAndOtherTargetsAreTheFormulasAndTheirGradients) {
  for (const auto& [loss, y, outputs] : loss_cases()) {
    SCOPED_TRACE(to_string(loss.kind) + " gamma " + std::to_string(loss.focal) +
                 (loss.weights.defined() ? " weighted" : ""));
    ParameterSet set(Rng(1), torch::kFloat64);
    const torch::Tensor o = set.parameter("logits", uniform({5, outputs}, 21, -3, 3));
    const torch::Tensor rows = row_losses(loss, o, y);
    double mean = 0;
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(rows[i].item<double>(), naive_row(loss, o, y, i), 1e-12) << i;
      mean += naive_row(loss, o, y, i) / 5;
    }
    EXPECT_NEAR(supervised_loss(loss, o, y).item<double>(), mean, 1e-12);
    test::expect_gradients([&, &loss = loss, &y = y] { return supervised_loss(loss, o, y); },
                           set.parameters(), 1e-8);
    test::expect_gradients(
        [&, &loss = loss, &y = y] { return loss_residuals(loss, o, y).square().sum(); },
        set.parameters(), 1e-7);
    o.mutable_grad() = torch::Tensor();
    row_losses(loss, o, y).sum().backward();
    expect_close(loss_residuals(loss, o, y), o.grad(), 1e-12);
  }
}

TEST(Losses, FocalLossStaysFiniteForHugeScores) {
  for (const LossKind kind : {LossKind::softmax, LossKind::binary_pair}) {
    TrainLoss loss = kind;
    loss.focal = 0.5;
    const torch::Tensor o =
        torch::tensor({{1000.0f, -1000.0f}, {1000.0f, -1000.0f}}).set_requires_grad(true);
    supervised_loss(loss, o, labels({0, 1})).backward();
    EXPECT_TRUE(torch::isfinite(o.grad()).all().item<bool>());
    EXPECT_TRUE(torch::isfinite(loss_residuals(loss, o, labels({0, 1}))).all().item<bool>());
  }
}

TEST(Losses, TheMeanOfSamplesIsWhatTheirLogitsSay) {
  const torch::Tensor samples = uniform({4, 3, 2}, 5, 0.05, 0.95);
  const torch::Tensor mean = samples.mean(0);
  expect_close(
      output_means(LossKind::multi_label, logits_of_samples(LossKind::multi_label, samples)), mean,
      1e-12);
  expect_close(logits_of_samples(LossKind::squared, samples), mean, 1e-12);
  expect_close(logits_of_samples(LossKind::softmax, samples), mean.log(), 1e-12);
}

}  // namespace
}  // namespace grm::nn
