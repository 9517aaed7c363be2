// What makes MMD: its kernel distance against a naive double loop, and its degenerate cases.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "grm/methods/method.h"
#include "methods/mmd.h"
#include "small_task.h"

namespace grm {
namespace {

using torch::Tensor;

// A spread at which all seven bandwidths matter.
Tensor random_rows(int64_t n, uint64_t seed, double scale = 0.1) {
  const Tensor rows = torch::empty({n, 3}, torch::kFloat64);
  Rng(seed).stream("rows").fill_normal(rows.data_ptr<double>(), rows.numel());
  return rows * scale;
}

double mean_kernel(const Tensor& f, const Tensor& g) {
  double sum = 0;
  for (int64_t i = 0; i < f.size(0); ++i) {
    for (int64_t j = 0; j < g.size(0); ++j) {
      double distance = 0;
      for (int64_t k = 0; k < f.size(1); ++k) {
        distance += std::pow(f[i][k].item<double>() - g[j][k].item<double>(), 2);
      }
      for (int power = -3; power <= 3; ++power) sum += std::exp(-std::pow(10, power) * distance);
    }
  }
  return sum / static_cast<double>(f.size(0) * g.size(0));
}

double naive_mmd(const Tensor& f, const Tensor& g) {
  return mean_kernel(f, f) + mean_kernel(g, g) - 2 * mean_kernel(f, g);
}

TEST(Mmd, EqualsADoubleLoopForTwoAndThreeSetsOfUnequalSize) {
  const Tensor a = random_rows(5, 1), b = random_rows(7, 2) + 0.05, c = random_rows(4, 3, 0.3);
  const double ab = naive_mmd(a, b), ac = naive_mmd(a, c), bc = naive_mmd(b, c);
  EXPECT_GT(ab, 0.01);
  EXPECT_NEAR(mean_mmd(torch::cat({a, b}), {5, 7}).item<double>(), ab, 1e-11);
  for (const int64_t block : {1, 6, 512}) {
    EXPECT_NEAR(mean_mmd(torch::cat({a, b, c}), {5, 7, 4}, block).item<double>(),
                (ab + ac + bc) / 3, 1e-11);
  }
}

TEST(Mmd, IsZeroForEqualSetsInAnyOrderAndForOneSet) {
  const Tensor a = random_rows(9, 4, 2.0);
  EXPECT_NEAR(mean_mmd(torch::cat({a, a.flip(0)}), {9, 9}).item<double>(), 0.0, 1e-10);
  const Tensor f = a.to(torch::kFloat32);
  EXPECT_NEAR(mean_mmd(torch::cat({f, f, f}), {9, 9, 9}).item<double>(), 0.0, 1e-6);
  EXPECT_EQ(mean_mmd(a, {9}).item<double>(), 0.0);
}

TEST(Mmd, GradientEqualsFiniteDifferences) {
  const std::vector<int64_t> sizes = {4, 6, 3};
  const Tensor rows = random_rows(13, 5).set_requires_grad(true);
  for (const int64_t block : {5, 512}) {
    rows.mutable_grad() = Tensor();
    mean_mmd(rows, sizes, block).backward();
    const Tensor gradient = rows.grad().contiguous();
    const at::NoGradGuard no_grad;
    double* value = rows.data_ptr<double>();
    for (int64_t k = 0; k < rows.numel(); ++k) {
      const double before = value[k], h = 1e-6;
      value[k] = before + h;
      const double up = mean_mmd(rows, sizes).item<double>();
      value[k] = before - h;
      const double down = mean_mmd(rows, sizes).item<double>();
      value[k] = before;
      EXPECT_NEAR(gradient.data_ptr<double>()[k], (up - down) / (2 * h), 1e-6) << k;
    }
  }
}

TEST(Mmd, CoincidingPointsGetNoGradient) {
  const Tensor rows = torch::full({6, 3}, 0.5, torch::kFloat64).set_requires_grad(true);
  mean_mmd(rows, {3, 3}).backward();
  EXPECT_TRUE(torch::equal(rows.grad(), torch::zeros({6, 3}, torch::kFloat64)));
}

void expect_erm(const Task& task, const std::vector<std::pair<std::string, std::string>>& values) {
  const auto build = [&](const std::string& name) {
    MethodChoice choice(name);
    choice.options().set("method", "optimiser", "adam");
    choice.options().set("method", "lr", "0.01");
    choice.options().set("method", "weight_decay", "0");
    choice.options().set("method", "dropout", "0.1");
    if (name == "mmd") {
      for (const auto& [key, value] : values) choice.options().set("method", key, value);
    }
    return choice.build(task.train_view(), Rng(3));
  };
  const std::unique_ptr<Method> mmd = build("mmd"), erm = build("erm");
  for (int64_t e = 1; e <= 5; ++e) {
    EXPECT_NEAR(mmd->train_epoch(e).front().value, erm->train_epoch(e).front().value, 1e-6);
  }
  const auto expected = erm->parameters().snapshot();
  for (const auto& [name, tensor] : mmd->parameters().snapshot()) {
    EXPECT_LE((tensor - expected.at(name)).abs().max().item<double>(), 1e-6) << name;
  }
}

TEST(Mmd, WithoutPenaltyOrWithOneDomainItIsErm) {
  Task task = test::small_task();
  expect_erm(task, {{"domains", "natural"}, {"gamma", "0"}});
  expect_erm(task, {{"domains", "natural"}, {"gamma", "1"}});
  task.training.push_back(test::small_domain(5, 30, "e"));
  expect_erm(task, {{"domains", "natural"}, {"gamma", "0"}});
}

TEST(Mmd, SupportOfAllNodesMakesBothChoicesOfLossNodesEqual) {
  Task task = test::small_task();
  task.training.push_back(test::small_domain(5, 30, "e"));
  const auto first_total = [&](const std::string& nodes, const std::string& support) {
    MethodChoice choice("mmd");
    choice.options().set("method", "domains", "natural");
    choice.options().set("method", "ce_nodes", nodes);
    choice.options().set("method", "support", support);
    return choice.build(task.train_view(), Rng(3))->train_epoch(1).front().value;
  };
  EXPECT_NEAR(first_total("all", "30"), first_total("support", "30"), 1e-5);
  EXPECT_GT(std::abs(first_total("all", "5") - first_total("support", "5")), 1e-4);
}

TEST(Mmd, ABackboneWithoutHiddenLayerIsRefused) {
  MethodChoice choice("mmd");
  choice.options().set("method", "domains", "natural");
  choice.options().set("method", "layers", "1");
  const std::unique_ptr<Method> method = choice.build(test::small_task().train_view(), Rng(1));
  EXPECT_THROW(method->train_epoch(1), Error);
}

}  // namespace
}  // namespace grm
