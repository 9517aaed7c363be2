#include "train/class_weights.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "../methods/small_graph_task.h"
#include "../methods/small_task.h"
#include "grm/core/error.h"

namespace grm::class_weight_tests {
namespace {

// Two training domains whose counted labels are 6 x 0, 3 x 1, 1 x 2; one more does not count.
Task counted_task() {
  Task task;
  task.name = "counted";
  task.classes = 3;
  task.label_names = {"fine", "odd", "fraud"};
  const auto domain = [](const std::vector<int64_t>& y) {
    Domain d = test::small_domain(1, static_cast<int64_t>(y.size()));
    d.labels.y = torch::tensor(y, torch::kInt64);
    return d;
  };
  task.training = {domain({0, 0, 1, 1, 0, 2}), domain({0, 0, 0, 1, 2})};
  task.training[1].labels.loss = torch::tensor({0, 1, 2, 3}, torch::kInt64);
  task.validation = {domain({0, 1, 2})};
  return task;
}

std::vector<double> weights(const std::string& text, const Task& task) {
  TrainOptions options;
  options.class_weights = text;
  const torch::Tensor w = train_loss(options, task).weights.to(torch::kFloat64);
  return {w.data_ptr<double>(), w.data_ptr<double>() + w.numel()};
}

// sklearn.utils.class_weight.compute_class_weight("balanced", classes=[0, 1, 2],
// y=[0]*6 + [1]*3 + [2]) is [0.55555556, 1.11111111, 3.33333333].
TEST(ClassWeights, BalancedOnesAreThoseOfScikitLearn) {
  const std::vector<double> w = weights("balanced", counted_task());
  EXPECT_NEAR(w[0], 0.55555556, 1e-7);
  EXPECT_NEAR(w[1], 1.11111111, 1e-7);
  EXPECT_NEAR(w[2], 3.33333333, 1e-7);
}

TEST(ClassWeights, ByHandTheyKeepTheirRatiosAndAreOneOnAverage) {
  for (const char* text : {"1,2,5", "odd=2, fraud=5", "fraud = 5,odd = 2"}) {
    const std::vector<double> w = weights(text, counted_task());
    EXPECT_NEAR(w[1] / w[0], 2, 1e-6) << text;
    EXPECT_NEAR(w[2] / w[0], 5, 1e-6) << text;
    EXPECT_NEAR((6 * w[0] + 3 * w[1] + w[2]) / 10, 1, 1e-6) << text;
  }
}

TEST(ClassWeights, OfMultiLabelTargetsWeighTheYes) {
  Task task = counted_task();
  task.loss = LossKind::multi_label;
  const float unknown = std::nanf("");
  const torch::Tensor y = torch::tensor({1.f, 0.f, 0.f, 1.f, 0.f, unknown, 0.f, unknown, 0.f, 0.f,
                                         0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 1.f, 0.f})
                              .view({6, 3});
  task.training = {task.training[0]};
  task.training[0].labels.y = y;
  const std::vector<double> w = weights("balanced", task);
  EXPECT_NEAR(w[0], 4.0 / 2.0, 1e-6);
  EXPECT_NEAR(w[1], 4.0 / 1.0, 1e-6);
  EXPECT_NEAR(w[2], 1.0, 1e-6);  // never yes: nothing to weigh
  EXPECT_NEAR(weights("odd=3", task)[1], 3.0, 1e-6);
}

TEST(ClassWeights, WhatCannotBeMeantIsRefused) {
  const Task task = counted_task();
  for (const char* text :
       {"1,2", "frau=5", "fraud=0", "fraud=-1", "fraud=x", "1,,2", "fraud", "balance", "1,2,inf"}) {
    EXPECT_THROW(weights(text, task), Error) << text;
  }
  Task numbers = task;
  numbers.loss = LossKind::squared;
  EXPECT_THROW(weights("balanced", numbers), Error);
  TrainOptions focal;
  focal.focal = 1.0;
  EXPECT_THROW(train_loss(focal, numbers), Error);
}

// Every method of the registry trains on the loss that its view asks for.
TEST(ClassWeights, ReachEveryMethodAtBothLevels) {
  for (const MethodEntry& entry : methods()) {
    SCOPED_TRACE(to_string(entry.level) + " " + entry.name);
    const Task task = entry.level == Level::graph ? test::small_graph_task() : test::small_task();
    const auto trained = [&](const torch::Tensor& weights, double gamma) {
      const std::unique_ptr<MethodRecipe> recipe = entry.make();
      OptionList options;
      recipe->declare(options);
      TrainView view = task.train_view();
      view.loss.weights = weights;
      view.loss.focal = gamma;
      const std::unique_ptr<Method> method = recipe->build(view, Rng(1));
      for (int64_t e = 1; e <= 2; ++e) method->train_epoch(e);
      method->prepare_evaluation(2);
      return method->logits(task.test[0].graph, task.test[0].labels.evaluate);
    };
    const torch::Tensor plain = trained({}, 0.0);
    // EERM's editors draw by rewards, where a last bit may decide. Steps of LiSA's generators make
    // 4e-3 of it, with the matrix products of some processors.
    if (entry.name != "eerm") {
      const double close = entry.name == "lisa" ? 1e-2 : 1e-3;
      EXPECT_TRUE(torch::allclose(plain, trained(torch::ones({2}), 0.0), close, close));
    }
    EXPECT_FALSE(torch::allclose(plain, trained(torch::tensor({0.2f, 8.0f}), 0.0), 1e-3, 1e-3));
    EXPECT_FALSE(torch::allclose(plain, trained({}, 3.0), 1e-4, 1e-4));
    const torch::Tensor weighted = trained(torch::tensor({0.01f, 20.0f}), 0.0);
    const auto lean = [](const torch::Tensor& o) {
      return (o.select(1, 1) - o.select(1, 0)).mean().item<double>();
    };
    EXPECT_GT(lean(weighted), lean(plain));
  }
}

}  // namespace
}  // namespace grm::class_weight_tests
