#include "grm/nn/parameters.h"

#include <gmock/gmock.h>

#include <cmath>

#include "checks.h"
#include "grm/core/error.h"
#include "nn/attention.h"
#include "nn/convolutions.h"

namespace grm::nn {
namespace {

using test::expect_close;

TEST(ParameterSet, DrawsKeepTheirBoundsAndFillThem) {
  ParameterSet set(Rng(1), torch::kFloat64);
  const torch::Tensor w = set.glorot("w", 200, 100);
  const double bound = std::sqrt(6.0 / 300.0);
  EXPECT_LE(w.abs().max().item<double>(), bound);
  EXPECT_GT(w.abs().max().item<double>(), 0.99 * bound);
  // A uniform law on [-b, b] has mean 0 and variance b^2 / 3; 20,000 draws, five deviations.
  EXPECT_NEAR(w.mean().item<double>(), 0.0, 5 * bound / std::sqrt(3.0 * 20000));
  EXPECT_NEAR(w.pow(2).mean().item<double>(), bound * bound / 3, 0.02 * bound * bound);
}

TEST(ParameterSet, LayersStartWithTheSpecifiedLaws) {
  ParameterSet set(Rng(2));
  const Linear linear(set, "linear", 400, 50);
  EXPECT_LE(linear.weight.abs().max().item<double>(), 0.05);
  EXPECT_GT(linear.weight.abs().max().item<double>(), 0.049);
  EXPECT_LE(linear.bias.abs().max().item<double>(), 0.05);
  EXPECT_GT(linear.bias.abs().max().item<double>(), 0.03);
  const GcnLayer conv(set, "conv", 30, 20);
  EXPECT_LE(conv.weight.abs().max().item<double>(), std::sqrt(6.0 / 50.0) + 1e-7);
  EXPECT_EQ(conv.bias.abs().max().item<double>(), 0.0);
  const SageLayer sage(set, "sage", 100, 40);
  EXPECT_LE(sage.self.weight.abs().max().item<double>(), 0.1 + 1e-7);
  EXPECT_GT(sage.self.weight.abs().max().item<double>(), 0.098);
  EXPECT_LE(sage.neighbours.bias.abs().max().item<double>(), 0.1 + 1e-7);
  EXPECT_FALSE(sage.self.bias.defined());
  const GatLayer gat(set, "gat", 20, 12, 3, true);
  EXPECT_LE(gat.weight.abs().max().item<double>(), std::sqrt(6.0 / 56.0) + 1e-7);
  EXPECT_LE(gat.source.abs().max().item<double>(), std::sqrt(6.0 / 15.0) + 1e-7);
  EXPECT_GT(gat.source.abs().max().item<double>(), 0.8 * std::sqrt(6.0 / 15.0));
  EXPECT_EQ(gat.bias.abs().max().item<double>(), 0.0);
  const GcniiLayer gcnii(set, "gcnii", 64, 1);
  EXPECT_LE(gcnii.weight.abs().max().item<double>(), 0.125);
  EXPECT_GT(gcnii.weight.abs().max().item<double>(), 0.124);
  const BatchNorm norm(set, "norm", 3);
  expect_close(norm.gamma, torch::ones({3}), 0);
  expect_close(norm.beta, torch::zeros({3}), 0);
  expect_close(norm.mean, torch::zeros({3}), 0);
  expect_close(norm.variance, torch::ones({3}), 0);
}

TEST(ParameterSet, ADrawDependsOnItsOwnNameOnly) {
  ParameterSet alone(Rng(7)), crowded(Rng(7)), other_seed(Rng(8));
  const torch::Tensor expected = alone.uniform("a.weight", {5, 4}, 1.0);
  crowded.uniform("before", {3}, 2.0);
  const torch::Tensor same = crowded.uniform("a.weight", {5, 4}, 1.0);
  const torch::Tensor renamed = crowded.uniform("b.weight", {5, 4}, 1.0);
  EXPECT_TRUE(torch::equal(expected, same));
  EXPECT_FALSE(torch::equal(expected, renamed));
  EXPECT_FALSE(torch::equal(expected, other_seed.uniform("a.weight", {5, 4}, 1.0)));
}

TEST(ParameterSet, CountsTrainableScalarsAndRefusesASecondTensorOfOneName) {
  ParameterSet set{Rng(1)};
  set.uniform("w", {3, 4}, 1.0);
  set.constant("b", {4}, 0.5);
  set.buffer("seen", {4}, 0.0);
  EXPECT_EQ(set.count(), 16);
  EXPECT_EQ(set.trainable().size(), 2u);
  EXPECT_TRUE(set.trainable()[1].requires_grad());
  EXPECT_FALSE(set.buffers()[0].second.requires_grad());
  EXPECT_THROW(set.constant("seen", {1}, 0.0), InternalError);
}

TEST(ParameterSet, RestoreBringsBackEveryTensorOfASnapshot) {
  ParameterSet set{Rng(3)};
  const torch::Tensor w = set.uniform("w", {3, 4}, 1.0);
  const torch::Tensor seen = set.buffer("seen", {2}, 1.0);
  const auto saved = set.snapshot();
  {
    at::NoGradGuard no_grad;
    w.add_(1.0);
    seen.zero_();
  }
  EXPECT_FALSE(torch::equal(w, saved.at("w")));
  set.restore(saved);
  EXPECT_TRUE(torch::equal(w, saved.at("w")));
  EXPECT_TRUE(torch::equal(seen, saved.at("seen")));
  EXPECT_TRUE(w.requires_grad());
}

TEST(ParameterSet, RestoreRefusesWrongShapesAndNamesAndThenChangesNothing) {
  ParameterSet set{Rng(3)};
  set.uniform("v", {2}, 1.0);
  set.uniform("w", {3, 4}, 1.0);
  const auto before = set.snapshot();
  auto shape = before;
  shape["v"] = torch::zeros({2});
  shape["w"] = torch::zeros({4, 3});
  try {
    set.restore(shape);
    FAIL() << "a wrong shape was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::shape);
    EXPECT_THAT(error.what(), testing::HasSubstr("'w' has shape [4, 3]"));
    EXPECT_THAT(error.what(), testing::HasSubstr("expects [3, 4]"));
  }
  auto missing = before;
  missing.erase("v");
  EXPECT_THROW(set.restore(missing), Error);
  auto extra = before;
  extra["x"] = torch::zeros({1});
  EXPECT_THROW(set.restore(extra), Error);
  const auto after = set.snapshot();
  for (const auto& [name, tensor] : before) EXPECT_TRUE(torch::equal(tensor, after.at(name)));
}

TEST(Dropout, ZeroesTheGivenShareAndScalesTheRest) {
  Pass pass = Pass::train(Stream(5));
  const torch::Tensor y = pass.dropout(torch::ones({1000, 100}), 0.3);
  const double zeros = (y == 0).sum().item<double>();
  // Binomial(100,000, 0.3) has deviation 145.
  EXPECT_NEAR(zeros, 30000, 750);
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.7, 1e-6);
  EXPECT_EQ(((y == 0) | (y == y.max())).all().item<bool>(), true);
}

TEST(Dropout, OneKeyGivesOneMaskAndEachCallItsOwn) {
  const torch::Tensor x = torch::ones({50, 20});
  Pass a = Pass::train(Stream(9)), b = Pass::train(Stream(9)), c = Pass::train(Stream(10));
  const torch::Tensor first = a.dropout(x, 0.5);
  EXPECT_TRUE(torch::equal(first, b.dropout(x, 0.5)));
  EXPECT_FALSE(torch::equal(first, a.dropout(x, 0.5)));
  EXPECT_FALSE(torch::equal(first, c.dropout(x, 0.5)));
  Pass d = Pass::train(Stream(9));
  EXPECT_TRUE(torch::equal(first.to(torch::kFloat64), d.dropout(x.to(torch::kFloat64), 0.5)));
}

TEST(Dropout, DoesNothingInEvaluationOrAtRateZero) {
  const torch::Tensor x = torch::ones({4, 4});
  Pass evaluate = Pass::evaluate(), train = Pass::train(Stream(1));
  EXPECT_TRUE(evaluate.dropout(x, 0.9).is_same(x));
  EXPECT_TRUE(train.dropout(x, 0.0).is_same(x));
  EXPECT_THROW(train.dropout(x, 1.0), Error);
}

TEST(Dropout, GradientPassesThroughTheKeptEntriesOnly) {
  const torch::Tensor x = test::uniform({30, 3}, 4).set_requires_grad(true);
  Pass pass = Pass::train(Stream(2));
  const torch::Tensor y = pass.dropout(x, 0.4);
  y.sum().backward();
  expect_close(x.grad(), (y != 0).to(torch::kFloat64) / 0.6, 1e-15);
}

}  // namespace
}  // namespace grm::nn
