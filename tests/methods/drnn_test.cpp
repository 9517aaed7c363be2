// What makes group DRO: its weights, by hand, and what they do to the gradient.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "grm/methods/method.h"
#include "methods/group_dro.h"
#include "small_task.h"

namespace grm {
namespace {

Task two_domains() {
  Task task = test::small_task();
  task.training = {test::small_domain(1, 30, "a"), test::small_domain(5, 30, "e")};
  return task;
}

std::unique_ptr<Method> build(const std::string& name, const TrainView& view,
                              const std::vector<std::pair<std::string, std::string>>& values) {
  MethodChoice choice(name);
  choice.options().set("method", "optimiser", "adam");
  choice.options().set("method", "lr", "0.01");
  choice.options().set("method", "weight_decay", "0");
  for (const auto& [key, value] : values) choice.options().set("method", key, value);
  return choice.build(view, Rng(3));
}

void expect_equal_parameters(Method& a, Method& b, double tolerance) {
  const auto other = b.parameters().snapshot();
  for (const auto& [name, tensor] : a.parameters().snapshot()) {
    EXPECT_LE((tensor - other.at(name)).abs().max().item<double>(), tolerance) << name;
  }
}

TEST(Drnn, WeightsFollowTheHandComputationOverThreeSteps) {
  const double eta = 0.5;
  const std::vector<std::vector<double>> losses = {{1, 2, 3}, {0.5, 0.25, 4}, {2, 2, 0}};
  // The published form: multiply by exp(eta l), divide by the sum.
  std::vector<double> q(3, 1.0 / 3);
  const torch::Tensor kept = torch::full({3}, -std::log(3.0), torch::kFloat64);
  const double* log_q = kept.data_ptr<double>();
  for (const std::vector<double>& l : losses) {
    double sum = 0;
    for (int g = 0; g < 3; ++g) sum += q[g] *= std::exp(eta * l[g]);
    for (double& value : q) value /= sum;
    const torch::Tensor weights =
        update_group_weights(kept, torch::tensor(l, torch::kFloat64), eta);
    for (int g = 0; g < 3; ++g) {
      EXPECT_NEAR(std::exp(log_q[g]), q[g], 1e-14);
      EXPECT_NEAR(weights[g].item<double>(), q[g], 1e-14);
    }
  }
  // The factors add up over the steps: exponents 1.75, 2.125 and 3.5.
  const double e0 = std::exp(1.75), e1 = std::exp(2.125), e2 = std::exp(3.5);
  EXPECT_NEAR(std::exp(log_q[0]), e0 / (e0 + e1 + e2), 1e-14);
  EXPECT_NEAR(std::exp(log_q[2]), e2 / (e0 + e1 + e2), 1e-14);
}

TEST(Drnn, HugeLossesDoNotOverflow) {
  const torch::Tensor kept = torch::full({2}, -std::log(2.0), torch::kFloat64);
  const double* log_q = kept.data_ptr<double>();
  update_group_weights(kept, torch::tensor({1e6, 1e6 - 1}, torch::kFloat64), 1.0);
  EXPECT_NEAR(std::exp(log_q[0]), 1 / (1 + std::exp(-1.0)), 1e-9);
  EXPECT_NEAR(std::exp(log_q[1]), 1 / (1 + std::exp(1.0)), 1e-9);
}

TEST(Drnn, GradientIsWeightedByTheWeightsAfterTheirUpdate) {
  const Task task = two_domains();
  const double eta = 3.0;
  std::unique_ptr<Method> drnn =
      build("drnn", task.train_view(), {{"domains", "natural"}, {"eta", "3"}});
  // One domain at a time through ERM, from the same initial model: its loss and gradient.
  std::vector<std::unique_ptr<Method>> single;
  std::vector<double> loss, q;
  for (int g = 0; g < 2; ++g) {
    TrainView view = task.train_view();
    view.training = {task.training[g]};
    single.push_back(build("erm", view, {}));
    loss.push_back(single.back()->train_epoch(1).front().value);
    q.push_back(0.5 * std::exp(eta * loss.back()));
  }
  const double sum = q[0] + q[1];
  for (double& value : q) value /= sum;
  ASSERT_GT(std::abs(q[0] - q[1]), 1e-3);
  const std::vector<LossTerm> terms = drnn->train_epoch(1);
  EXPECT_NEAR(terms[0].value, q[0] * loss[0] + q[1] * loss[1], 1e-6);
  EXPECT_EQ(terms[1].name, "worst");
  EXPECT_NEAR(terms[1].value, std::max(loss[0], loss[1]), 1e-6);
  EXPECT_NEAR(terms[2].value, (loss[0] + loss[1]) / 2, 1e-6);
  const torch::Tensor log_q = drnn->training_state().at("logq");
  for (int g = 0; g < 2; ++g) EXPECT_NEAR(std::exp(log_q[g].item<double>()), q[g], 1e-6);
  for (size_t k = 0; k < drnn->parameters().parameters().size(); ++k) {
    const auto& [name, parameter] = drnn->parameters().parameters()[k];
    const torch::Tensor expected = q[0] * single[0]->parameters().parameters()[k].second.grad() +
                                   q[1] * single[1]->parameters().parameters()[k].second.grad();
    EXPECT_LE((parameter.grad() - expected).abs().max().item<double>(), 1e-6) << name;
  }
}

TEST(Drnn, OneNaturalDomainIsErm) {
  const Task task = test::small_task();
  const std::unique_ptr<Method> drnn =
      build("drnn", task.train_view(), {{"domains", "natural"}, {"dropout", "0.2"}});
  const std::unique_ptr<Method> erm = build("erm", task.train_view(), {{"dropout", "0.2"}});
  for (int64_t e = 1; e <= 6; ++e) {
    EXPECT_NEAR(drnn->train_epoch(e).front().value, erm->train_epoch(e).front().value, 1e-6);
  }
  expect_equal_parameters(*drnn, *erm, 1e-6);
}

TEST(Drnn, StepSizeZeroIsErmOnTheMeanOfSeveralDomains) {
  const Task task = two_domains();
  const std::unique_ptr<Method> drnn =
      build("drnn", task.train_view(), {{"domains", "natural"}, {"eta", "0"}});
  const std::unique_ptr<Method> erm = build("erm", task.train_view(), {});
  for (int64_t e = 1; e <= 4; ++e) {
    drnn->train_epoch(e);
    erm->train_epoch(e);
  }
  expect_equal_parameters(*drnn, *erm, 1e-6);
}

// Sections 0 and 7 of the protocol: 10 copies on Cora, 5 on Photo and Arxiv, 3 with 5 flips on
// Twitch.
TEST(Drnn, EditedCopiesAreSuggestedByDataset) {
  const auto value = [](const std::string& method, const std::string& dataset,
                        const std::string& key) {
    const MethodChoice choice(method, "", dataset);
    for (const Option& option : choice.options().options()) {
      if (option.key == key) return option.get();
    }
    return std::string();
  };
  for (const char* method : {"drnn", "mmd", "arm"}) {
    EXPECT_EQ(value(method, "cora", "views"), "10");
    EXPECT_EQ(value(method, "photo", "views"), "5");
    EXPECT_EQ(value(method, "twitch", "views"), "3");
    EXPECT_EQ(value(method, "twitch", "edits"), "5");
    EXPECT_EQ(value(method, "arxiv", "views"), "5");
  }
}

}  // namespace
}  // namespace grm
