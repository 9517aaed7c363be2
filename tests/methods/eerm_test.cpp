// What makes EERM that method; its editors have tests of their own.
#include "methods/eerm.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "small_task.h"
#include "support/expect_error.h"

namespace grm {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<Method> trained(const std::string& method, const Task& task, const Values& values,
                                int64_t epochs, const std::string& preset = "") {
  MethodChoice choice(method, preset);
  for (const auto& [key, value] : values) choice.options().set("method", key, value);
  std::unique_ptr<Method> result = choice.build(task.train_view(), Rng(11));
  for (int64_t e = 1; e <= epochs; ++e) result->train_epoch(e);
  return result;
}

Task two_graphs() {
  Task task = test::small_task();
  task.training.push_back(test::small_domain(9, 24, "e"));
  return task;
}

void expect_same_model(Method& a, Method& b) {
  const auto expected = b.parameters().snapshot();
  for (const auto& [name, tensor] : a.parameters().snapshot()) {
    EXPECT_TRUE(torch::equal(tensor, expected.at(name))) << name;
  }
}

bool same_weights(Method& a, Method& b) {
  return torch::equal(a.parameters().parameters()[0].second, b.parameters().parameters()[0].second);
}

TEST(Eerm, WeightsOfTheViewsAreTheGradientOfVariancePlusBetaMean) {
  const std::vector<double> values = {0.7, 1.1, 0.2, 0.9};
  const torch::Tensor losses = torch::tensor(values, torch::kFloat64).requires_grad_();
  const torch::Tensor objective = losses.var(/*unbiased=*/true) + 3.0 * losses.mean();
  objective.backward();
  const ViewRisk risk = view_risk(values, 3.0);
  EXPECT_NEAR(risk.variance + 3.0 * risk.mean, objective.item<double>(), 1e-12);
  for (size_t k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(risk.weights[k], losses.grad()[k].item<double>(), 1e-12);
  }
  // On scalars the same, to the bit.
  std::vector<torch::Tensor> scalars;
  for (const double value : values) scalars.push_back(torch::full({}, value, torch::kFloat64));
  const ViewRiskThere there = view_risk(scalars, torch::full({}, 3.0, torch::kFloat64));
  EXPECT_EQ(there.mean.item<double>(), risk.mean);
  EXPECT_EQ(there.variance.item<double>(), risk.variance);
  for (size_t k = 0; k < values.size(); ++k) {
    EXPECT_EQ(there.weights[k].item<double>(), risk.weights[k]);
  }
  const ViewRisk one = view_risk(std::vector<double>{0.4}, 2.0);
  EXPECT_EQ(one.variance, 0.0);
  EXPECT_EQ(one.weights[0], 2.0);
}

TEST(Eerm, OneViewWithoutEditsIsErm) {
  const Task task = two_graphs();
  for (const char* update : {"mean", "per_domain"}) {
    const Values common = {{"update", update}, {"dropout", "0.3"}};
    const auto erm = trained("erm", task, common, 5);
    for (const char* preset : {"as-published", "random"}) {
      Values values = common;
      values.insert(values.end(), {{"views", "1"}, {"edits", "0"}});
      if (std::string(update) == "mean") values.emplace_back("inner_steps", "3");
      const auto eerm = trained("eerm", task, values, 5, preset);
      const auto expected = erm->parameters().snapshot();
      for (const auto& [name, tensor] : eerm->parameters().snapshot()) {
        EXPECT_TRUE(torch::allclose(tensor, expected.at(name), 0.0, 1e-6)) << name;
      }
    }
  }
}

TEST(Eerm, EqualViewsHaveNoVarianceAndAreErm) {
  const Task task = test::small_task();
  const auto erm = trained("erm", task, {}, 6);
  const auto eerm = trained("eerm", task, {{"views", "4"}, {"edits", "0"}}, 6);
  const auto expected = erm->parameters().snapshot();
  for (const auto& [name, tensor] : eerm->parameters().parameters()) {
    EXPECT_TRUE(torch::allclose(tensor, expected.at(name), 0.0, 1e-6)) << name;
  }
  EXPECT_EQ(eerm->train_epoch(7)[2].value, 0.0);
}

// One classifier step by autograd of the objective itself, on the graphs that the method draws.
TEST(Eerm, StepIsThatOfTheObjectiveOnTheDrawnGraphs) {
  const Task task = two_graphs();
  EermOptions options;
  options.mode = EditorLaw::random;
  options.edits = 2;
  options.beta = 0.5;
  options.backbone.hidden = 6;
  Eerm eerm(options, task.train_view(), Rng(3));
  nn::ParameterSet set{Rng(3)};
  const auto backbone = nn::make_backbone(set, "", options.backbone, task.features(), task.classes);
  std::vector<torch::Tensor> by_view;
  for (uint64_t k = 0; k < 3; ++k) {
    std::vector<torch::Tensor> by_domain;
    for (uint64_t d = 0; d < 2; ++d) {
      const Domain& domain = task.training[d];
      const AdjacencyPtr edges =
          flipped(*domain.graph.edges,
                  random_flips(domain.graph.nodes(), 2, Rng(3).stream("eerm-views", 1, d * 3 + k)));
      nn::Pass pass = nn::Pass::train(Rng(1).stream("x"));
      const torch::Tensor logits = backbone->forward({edges, domain.graph.x, {}}, pass).logits;
      by_domain.push_back(domain_loss(task.loss, domain.labels, logits));
    }
    by_view.push_back(torch::stack(by_domain).mean());
  }
  const torch::Tensor losses = torch::stack(by_view);
  const torch::Tensor objective = losses.var(/*unbiased=*/true) + 0.5 * losses.mean();
  objective.backward();
  const std::vector<LossTerm> terms = eerm.train_epoch(1);
  EXPECT_NEAR(terms[0].value, objective.item<double>(), 1e-6);
  EXPECT_NEAR(terms[1].value, losses.mean().item<double>(), 1e-6);
  EXPECT_NEAR(terms[2].value, losses.var(true).item<double>(), 1e-6);
  // Gradients stay until the next step.
  for (const auto& [name, tensor] : eerm.parameters().parameters()) {
    for (const auto& [other, reference] : set.parameters()) {
      if (other != name) continue;
      EXPECT_TRUE(torch::allclose(tensor.grad(), reference.grad(), 1e-4, 1e-6)) << name;
    }
  }
}

TEST(Eerm, RampTakesBetaToItsTenfold) {
  const Task task = test::small_task();
  MethodChoice choice("eerm");
  for (const auto& [key, value] :
       Values{{"beta", "3"}, {"beta_ramp", "true"}, {"ramp_epochs", "4"}, {"edits", "2"}}) {
    choice.options().set("method", key, value);
  }
  const auto method = choice.build(task.train_view(), Rng(1));
  const double expected[6] = {3.0, 9.75, 16.5, 23.25, 30.0, 30.0};  // 3 (1 + 9 e / 4)
  for (int64_t e = 1; e <= 6; ++e) {
    const std::vector<LossTerm> terms = method->train_epoch(e);
    EXPECT_NEAR((terms[0].value - terms[2].value) / terms[1].value, expected[e - 1], 1e-9);
  }
}

TEST(Eerm, OneGraphPerStepOrTheirMeanIsTheSameForOneGraph) {
  const Task task = test::small_task();
  const auto a = trained("eerm", task, {{"update", "mean"}}, 3);
  const auto b = trained("eerm", task, {{"update", "per_domain"}}, 3);
  expect_same_model(*a, *b);
}

TEST(Eerm, EditorsReachTheClassifierAsPublishedAndNotWhenRedrawn) {
  const Task task = test::small_task();
  const Values still = {{"editor_lr", "0"}, {"edits", "3"}};
  const Values eager = {{"editor_lr", "0.1"}, {"edits", "3"}};
  const auto a = trained("eerm", task, still, 12), b = trained("eerm", task, eager, 12);
  EXPECT_FALSE(same_weights(*a, *b));
  // As coded with editors redrawn in every epoch their training is without effect.
  expect_same_model(*trained("eerm", task, still, 12, "as-coded"),
                    *trained("eerm", task, eager, 12, "as-coded"));
  // Persistent ones have an effect there too.
  Values still_zeros = still, eager_zeros = eager;
  still_zeros.emplace_back("editor_init", "zeros");
  eager_zeros.emplace_back("editor_init", "zeros");
  EXPECT_FALSE(same_weights(*trained("eerm", task, still_zeros, 12, "as-coded"),
                            *trained("eerm", task, eager_zeros, 12, "as-coded")));
}

TEST(Eerm, EveryModeRunsWithImplicitEditorsAndResumes) {
  const Task task = two_graphs();
  for (const char* preset : {"as-published", "as-coded"}) {
    for (const char* init : {"uniform_once", "uniform_each_epoch", "zeros"}) {
      for (const char* update : {"mean", "per_domain"}) {
        const Values values = {{"editor_memory_mib", "0"}, {"editor_init", init}, {"edits", "2"},
                               {"inner_steps", "2"},       {"update", update},    {"hidden", "8"}};
        const auto whole = trained("eerm", task, values, 3, preset);
        const auto resumed = trained("eerm", task, values, 0, preset);
        resumed->parameters().restore(whole->parameters().snapshot());
        resumed->optimisers()[0]->restore(whole->optimisers()[0]->state());
        resumed->restore_training_state(whole->training_state());
        whole->train_epoch(4);
        resumed->train_epoch(4);
        expect_same_model(*whole, *resumed);
      }
    }
  }
}

TEST(Eerm, MoreEditsThanNodesAreRefused) {
  const Task task = test::small_task();
  EXPECT_THAT(test::error_of(ErrorKind::config,
                             [&] {
                               trained("eerm", task, {{"edits", "31"}}, 0, "random");
                             }),
              testing::HasSubstr("'a' has 30 nodes"));
}

}  // namespace
}  // namespace grm
