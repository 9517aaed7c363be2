#include "grm/nn/adam.h"

#include <torch/optim.h>

#include <cmath>

#include "checks.h"
#include "grm/core/error.h"

namespace grm::nn {
namespace {

using test::expect_close;
using test::uniform;

TEST(Adam, TwoStepsOfAConstantGradientMoveByTheHandComputedAmount) {
  ParameterSet set(Rng(1), torch::kFloat64);
  torch::Tensor p = set.constant("p", {1}, 1.0);
  Adam adam(set, 0.1, 0.0, true);
  p.mutable_grad() = torch::ones({1}, torch::kFloat64);
  // Both corrected moments of a constant gradient 1 are 1, so each step is lr / (1 + eps).
  adam.step();
  EXPECT_NEAR(p.item<double>(), 1.0 - 0.1 / (1 + 1e-8), 1e-15);
  adam.step();
  EXPECT_NEAR(p.item<double>(), 1.0 - 0.2 / (1 + 1e-8), 1e-15);
}

TEST(Adam, AScaledRateIsThatRate) {
  for (const bool decoupled : {true, false}) {
    ParameterSet set(Rng(1), torch::kFloat64);
    torch::Tensor a = set.constant("a", {1}, 1.0), b = set.constant("b", {1}, 1.0);
    Adam scaled({{"a", a}}, 0.5, 0.3, decoupled), plain({{"b", b}}, 0.05, 0.3, decoupled);
    scaled.scale_lr(0.1);
    for (int k = 0; k < 3; ++k) {
      a.mutable_grad() = torch::full({1}, k + 1.0, torch::kFloat64);
      b.mutable_grad() = torch::full({1}, k + 1.0, torch::kFloat64);
      scaled.step();
      plain.step();
      EXPECT_NEAR(a.item<double>(), b.item<double>(), 1e-15);
    }
    EXPECT_EQ(scaled.next_step({0})[4], plain.next_step({0})[4]);
  }
}

TEST(Adam, TwoStepsWithDecayAgreeWithTheFormulas) {
  for (const bool decoupled : {true, false}) {
    const double lr = 0.1, decay = 0.5, g1 = 2.0, g2 = -1.0;
    double p = 3.0;
    const double d1 = decoupled ? g1 : g1 + decay * p;
    double m = 0.1 * d1, v = 0.001 * d1 * d1;
    if (decoupled) p -= lr * decay * p;
    p -= lr * (m / 0.1) / (std::sqrt(v / 0.001) + 1e-8);
    const double d2 = decoupled ? g2 : g2 + decay * p;
    m = 0.9 * m + 0.1 * d2;
    v = 0.999 * v + 0.001 * d2 * d2;
    if (decoupled) p -= lr * decay * p;
    p -= lr * (m / 0.19) / (std::sqrt(v / (1 - 0.999 * 0.999)) + 1e-8);

    ParameterSet set(Rng(1), torch::kFloat64);
    torch::Tensor q = set.constant("q", {1}, 3.0);
    Adam adam(set, lr, decay, decoupled);
    q.mutable_grad() = torch::full({1}, g1, torch::kFloat64);
    adam.step();
    q.mutable_grad() = torch::full({1}, g2, torch::kFloat64);
    adam.step();
    EXPECT_NEAR(q.item<double>(), p, 1e-12) << "decoupled: " << decoupled;
  }
}

TEST(Adam, FiveStepsAgreeWithTorchInFloatAndDouble) {
  for (const torch::Dtype dtype : {torch::kFloat32, torch::kFloat64}) {
    for (const bool decoupled : {true, false}) {
      ParameterSet set(Rng(4), dtype);
      torch::Tensor a = set.uniform("a", {70, 30}, 1.0), b = set.uniform("b", {30}, 1.0);
      const std::vector<torch::Tensor> theirs = {a.detach().clone().set_requires_grad(true),
                                                 b.detach().clone().set_requires_grad(true)};
      Adam ours(set, 0.01, 0.1, decoupled);
      torch::optim::AdamW adamw(theirs, torch::optim::AdamWOptions(0.01).weight_decay(0.1));
      torch::optim::Adam adam(theirs, torch::optim::AdamOptions(0.01).weight_decay(0.1));
      for (int k = 0; k < 5; ++k) {
        const std::vector<torch::Tensor> gradients = {uniform({70, 30}, 50 + k).to(dtype),
                                                      uniform({30}, 60 + k).to(dtype)};
        a.mutable_grad() = gradients[0].clone();
        b.mutable_grad() = gradients[1].clone();
        theirs[0].mutable_grad() = gradients[0].clone();
        theirs[1].mutable_grad() = gradients[1].clone();
        ours.step();
        if (decoupled) {
          adamw.step();
        } else {
          adam.step();
        }
      }
      expect_close(a, theirs[0], dtype == torch::kFloat64 ? 1e-13 : 1e-6);
      expect_close(b, theirs[1], dtype == torch::kFloat64 ? 1e-13 : 1e-6);
    }
  }
}

TEST(Adam, AParameterWithoutGradientIsLeftAloneAndGradientsAreKept) {
  ParameterSet set{Rng(1)};
  torch::Tensor used = set.constant("used", {2}, 1.0), idle = set.constant("idle", {2}, 1.0);
  Adam adam(set, 0.1, 0.5, true);
  (used * used).sum().backward();
  adam.step();
  expect_close(idle, torch::ones({2}), 0);
  EXPECT_LT(used.max().item<double>(), 1.0);
  expect_close(used.grad(), torch::full({2}, 2.0), 0);
  adam.zero_grad();
  EXPECT_FALSE(used.grad().defined());
}

TEST(Adam, ARestoredStateContinuesWithTheSameBits) {
  const auto train = [](int stop) {
    auto set = std::make_unique<ParameterSet>(Rng(5));
    torch::Tensor p = set->uniform("p", {40}, 1.0);
    auto adam = std::make_unique<Adam>(*set, 0.05, 0.01, true);
    for (int k = 0; k < 6; ++k) {
      if (k == stop) {
        const auto values = set->snapshot();
        const auto moments = adam->state();
        EXPECT_EQ(moments.size(), 3u);
        EXPECT_EQ(moments.at("p.steps").item<int64_t>(), stop);
        set = std::make_unique<ParameterSet>(Rng(99));
        p = set->uniform("p", {40}, 1.0);
        set->restore(values);
        adam = std::make_unique<Adam>(*set, 0.05, 0.01, true);
        adam->restore(moments);
      }
      adam->zero_grad();
      (p.pow(4) * (k + 1)).sum().backward();
      adam->step();
    }
    return p.detach().clone();
  };
  EXPECT_TRUE(torch::equal(train(-1), train(3)));
}

TEST(Adam, RestoreRefusesAStateOfAnotherModelAndThenChangesNothing) {
  ParameterSet set{Rng(1)};
  set.uniform("p", {4}, 1.0);
  Adam adam(set, 0.1, 0.0, true);
  auto state = adam.state();
  state["p.first"] = torch::ones({4});
  state["p.second"] = torch::ones({5});
  EXPECT_THROW(adam.restore(state), Error);
  expect_close(adam.state().at("p.first"), torch::zeros({4}), 0);
  state.erase("p.second");
  EXPECT_THROW(adam.restore(state), Error);
  state = adam.state();
  state["q.first"] = torch::ones({4});
  EXPECT_THROW(adam.restore(state), Error);
}

}  // namespace
}  // namespace grm::nn
