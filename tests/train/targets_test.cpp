// Runs on targets that are not classes: every method trains or says why not; choice, record, model
// file and predictions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "../methods/small_graph_task.h"
#include "../methods/small_task.h"
#include "data/memory.h"
#include "grm/core/error.h"
#include "grm/train/predict.h"
#include "support/temp_folder.h"
#include "train/trainer.h"

namespace grm::target_tests {
namespace {

// Two targets made from the class: for multi-label the class and its opposite, a quarter unknown;
// for regression 10 + 4 class and -class.
Task with_targets(Task task, LossKind loss) {
  task.loss = loss;
  task.metric = metrics_of(target_of(loss)).front();
  const auto change = [&](std::vector<Domain>& domains) {
    for (Domain& domain : domains) {
      const torch::Tensor c = domain.labels.y.to(torch::kFloat32);
      domain.labels.y = loss == LossKind::squared ? torch::stack({10 + 4 * c, -c}, 1)
                                                  : torch::stack({c, 1 - c}, 1);
      domain.labels.y.select(1, 0).slice(0, 0, c.numel(), 4).fill_(std::nanf(""));
    }
  };
  change(task.training);
  change(task.validation);
  change(task.test);
  if (loss == LossKind::squared) task.target_scale = {{12.0, -0.5}, {2.0, 0.5}};
  return task;
}

std::unique_ptr<Method> build(const MethodEntry& entry, const Task& task) {
  const std::unique_ptr<MethodRecipe> recipe = entry.make();
  OptionList options;
  recipe->declare(options);
  return recipe->build(task.train_view(), Rng(1));
}

TEST(Targets, EveryMethodLearnsThemOrSaysWhyNot) {
  const std::set<std::string> for_classes = {"isgib", "ciga", "gala"};
  for (const MethodEntry& entry : methods()) {
    for (const LossKind loss : {LossKind::multi_label, LossKind::squared}) {
      SCOPED_TRACE(to_string(entry.level) + " " + entry.name + " " + to_string(loss));
      const Task task = with_targets(
          entry.level == Level::graph ? test::small_graph_task() : test::small_task(), loss);
      if (for_classes.count(entry.name) > 0) {
        try {
          build(entry, task);
          FAIL() << "targets that are not classes were accepted";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::config);
          EXPECT_THAT(error.what(), testing::HasSubstr("is for classes"));
        }
        continue;
      }
      const std::unique_ptr<Method> method = build(entry, task);
      const auto scores = [&] { return mean_score(evaluate(*method, task, Role::train)); };
      // What training must lower: a method whose other terms grow reports its mean loss as "risk".
      const auto fitted = [&](int64_t epoch) {
        const std::vector<LossTerm> terms = method->train_epoch(epoch);
        for (const LossTerm& term : terms) {
          EXPECT_TRUE(std::isfinite(term.value)) << term.name;
          if (term.name == "risk") return term.value;
        }
        return terms.front().value;
      };
      const double first = fitted(1);
      double last = first;
      for (int64_t e = 2; e <= 40; ++e) last = fitted(e);
      EXPECT_LT(last, first);
      method->prepare_evaluation(40);
      const torch::Tensor out = method->logits(task.test[0].graph, task.test[0].labels.evaluate);
      EXPECT_EQ(out.size(1), 2);
      if (entry.name != "erm") continue;  // others train on copies of so small a graph
      // Better than a coin, and than the mean of training (whose error is 1.25).
      if (loss == LossKind::multi_label) {
        EXPECT_GT(scores(), 60.0);
      } else {
        EXPECT_LT(scores(), 1.2);
      }
    }
  }
}

TEST(Targets, ARunChoosesTheSmallestErrorAndItsModelPredictsInUnitsOfTheTargets) {
  const Task task = with_targets(test::small_task(), LossKind::squared);
  const MemoryTask memory(task);
  RunConfig config(memory_name(Level::node), "erm");
  config.set("train.epochs", "30");
  config.set("method.hidden", "8");
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.path() + "/run");
  const RunRecord record = train_run(config, task, 7, RunFolder(folder.path() + "/run"));
  const Chosen& chosen = record.chosen.at("val");
  EXPECT_TRUE(chosen.smaller_is_better);
  EXPECT_FALSE(record.calibration.has_value());
  EXPECT_LE(chosen.validation, record.chosen.at("last").validation);
  const double worst = std::max(chosen.test[0].value, chosen.test[1].value);
  EXPECT_DOUBLE_EQ(min_score(chosen.test), worst);
  const RunRecord again = record_from_json(to_json_text(record), "run/summary.json");
  EXPECT_TRUE(again.chosen.at("val").smaller_is_better);
  EXPECT_DOUBLE_EQ(min_score(again.chosen.at("val").test), worst);
  Model model = load(folder.path() + "/run");
  EXPECT_EQ(model.about().format, 4);
  const Domain& domain = task.test[0];
  const Prediction p = model.predict(domain.graph);
  EXPECT_FALSE(p.classes.defined());
  ASSERT_EQ(p.values.sizes(), (at::IntArrayRef{20, 2}));
  EXPECT_GT(p.values.select(1, 0).mean().item<double>(), 8.0);
  // The record's score is that of the predictions: a naive root of mean squares, by target.
  double sum = 0;
  for (int64_t t = 0; t < 2; ++t) {
    double squares = 0, known = 0;
    for (int64_t i = 0; i < 20; ++i) {
      const double y = domain.labels.y[i][t].item<double>();
      if (std::isnan(y)) continue;
      squares += std::pow(p.values[i][t].item<double>() - y, 2);
      ++known;
    }
    sum += std::sqrt(squares / known) / 2;
  }
  EXPECT_NEAR(chosen.test[0].value, sum, 1e-5);
}

}  // namespace
}  // namespace grm::target_tests
