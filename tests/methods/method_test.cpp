// Properties of every method in the registry, and of choosing one.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/methods/method.h"
#include "small_task.h"

namespace grm {
namespace {

std::vector<std::pair<std::string, std::string>> all_presets() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const MethodEntry& entry : methods()) {
    for (const Preset& preset : entry.presets) all.emplace_back(entry.name, preset.name);
  }
  return all;
}

class EveryMethod : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  std::unique_ptr<Method> build(uint64_t seed) {
    const auto& [name, preset] = GetParam();
    choice_ = std::make_unique<MethodChoice>(name, preset);
    return choice_->build(task_.train_view(), Rng(seed));
  }
  std::map<std::string, torch::Tensor> trained(uint64_t seed, int64_t epochs) {
    const std::unique_ptr<Method> method = build(seed);
    for (int64_t e = 1; e <= epochs; ++e) method->train_epoch(e);
    return method->parameters().snapshot();
  }
  Task task_ = test::small_task();
  std::unique_ptr<MethodChoice> choice_;
};

TEST_P(EveryMethod, LossFallsAndStaysFinite) {
  const std::unique_ptr<Method> method = build(1);
  const double first = method->train_epoch(1).front().value;
  double last = 0;
  for (int64_t e = 2; e <= 60; ++e) last = method->train_epoch(e).front().value;
  EXPECT_TRUE(std::isfinite(last));
  EXPECT_LT(last, first);
}

TEST_P(EveryMethod, SameSeedSameBitsAndAnotherSeedOthers) {
  const auto a = trained(5, 4), b = trained(5, 4), c = trained(6, 4);
  bool differs = false;
  for (const auto& [name, tensor] : a) {
    EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;
    differs = differs || !torch::equal(tensor, c.at(name));
  }
  EXPECT_TRUE(differs);
}

TEST_P(EveryMethod, PredictionsAreRepeatableAndLeaveTheModelAlone) {
  const std::unique_ptr<Method> method = build(2);
  method->train_epoch(1);
  const auto before = method->parameters().snapshot();
  const Domain& domain = task_.test[0];
  const torch::Tensor once = method->logits(domain.graph, domain.labels.evaluate);
  const torch::Tensor twice = method->logits(domain.graph, domain.labels.evaluate);
  EXPECT_EQ(once.sizes(), (at::IntArrayRef{20, 2}));
  EXPECT_TRUE(torch::equal(once, twice));
  EXPECT_TRUE(torch::isfinite(once).all().item<bool>());
  for (const auto& [name, tensor] : method->parameters().snapshot()) {
    EXPECT_TRUE(torch::equal(tensor, before.at(name))) << name;
  }
}

TEST_P(EveryMethod, AnEpochDependsOnTheStateBeforeItAlone) {
  const std::unique_ptr<Method> whole = build(3);
  for (int64_t e = 1; e <= 3; ++e) whole->train_epoch(e);
  const auto middle = whole->parameters().snapshot();
  std::vector<std::map<std::string, torch::Tensor>> moments;
  for (nn::Adam* optimiser : whole->optimisers()) moments.push_back(optimiser->state());
  std::map<std::string, torch::Tensor> state;
  for (const auto& [name, tensor] : whole->training_state()) state[name] = tensor.clone();
  whole->train_epoch(4);
  const std::unique_ptr<Method> resumed = build(3);
  resumed->parameters().restore(middle);
  for (size_t k = 0; k < moments.size(); ++k) resumed->optimisers()[k]->restore(moments[k]);
  resumed->restore_training_state(state);
  resumed->train_epoch(4);
  const auto expected = whole->parameters().snapshot();
  for (const auto& [name, tensor] : resumed->parameters().snapshot()) {
    EXPECT_TRUE(torch::equal(tensor, expected.at(name))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryMethod, testing::ValuesIn(all_presets()),
                         [](const auto& each) {
                           std::string name = each.param.first + "_" + each.param.second;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Erm, RunsOnEveryBackboneAndConvolution) {
  const Task task = test::small_task(LossKind::binary_pair);
  for (const char* backbone : {"gcn", "sage", "gat", "gpr", "gcnii", "mlp"}) {
    for (const char* conv : {"kipf", "sum"}) {
      MethodChoice choice("erm");
      choice.options().set("method", "backbone", backbone);
      choice.options().set("method", "conv", conv);
      choice.options().set("method", "hidden", "8");
      const std::unique_ptr<Method> method = choice.build(task.train_view(), Rng(1));
      const double first = method->train_epoch(1).front().value;
      double last = first;
      for (int64_t e = 2; e <= 40; ++e) last = method->train_epoch(e).front().value;
      EXPECT_LT(last, first) << backbone << " " << conv;
    }
  }
}

TEST(Erm, PerDomainUpdateWithOneDomainEqualsTheMean) {
  const Task task = test::small_task();
  std::map<std::string, torch::Tensor> results[3];
  const char* updates[3] = {"mean", "per_domain", "per_domain_accumulate"};
  for (int k = 0; k < 3; ++k) {
    MethodChoice choice("erm");
    choice.options().set("method", "update", updates[k]);
    const std::unique_ptr<Method> method = choice.build(task.train_view(), Rng(1));
    for (int64_t e = 1; e <= 3; ++e) method->train_epoch(e);
    results[k] = method->parameters().snapshot();
  }
  for (const auto& [name, tensor] : results[0]) {
    EXPECT_TRUE(torch::equal(tensor, results[1].at(name))) << name;
    EXPECT_TRUE(torch::equal(tensor, results[2].at(name))) << name;
  }
}

TEST(Grm, VisitingAllNodesTakesSeveralSteps) {
  const Task task = test::small_task();
  MethodChoice choice("grm", "paper-raw");
  choice.options().set("method", "steps", "0");
  choice.options().set("method", "batch", "8");
  const std::unique_ptr<Method> method = choice.build(task.train_view(), Rng(1));
  method->train_epoch(1);
  // 30 labelled nodes in steps of 8 are 4 optimiser steps; the step count is part of Adam's state.
  const auto state = method->optimisers()[0]->state();
  EXPECT_EQ(state.at("classifier.first.weight.steps").item<int64_t>(), 4);
}

TEST(Grm, WithoutSamplingTheLatentIsItsMean) {
  const Task task = test::small_task();
  MethodChoice choice("grm", "centred");
  choice.options().set("method", "ablation", "V");
  const std::unique_ptr<Method> a = choice.build(task.train_view(), Rng(1));
  choice.options().set("method", "ablation", "none");
  choice.options().set("method", "samples", "0");
  const std::unique_ptr<Method> b = choice.build(task.train_view(), Rng(1));
  const Domain& domain = task.test[0];
  EXPECT_TRUE(torch::equal(a->logits(domain.graph, domain.labels.evaluate),
                           b->logits(domain.graph, domain.labels.evaluate)));
}

TEST(MethodChoice, UnknownNamesAreErrorsWithASuggestion) {
  const auto message = [](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message([] { MethodChoice("gmr"); }).find("did you mean 'grm'"), std::string::npos);
  EXPECT_NE(message([] { MethodChoice("grm", "papre"); }).find("did you mean 'paper'"),
            std::string::npos);
  EXPECT_NE(message([] {
              MethodChoice choice("grm");
              choice.options().set("method", "apha", "1");
            }).find("did you mean 'alpha'"),
            std::string::npos);
}

TEST(MethodChoice, ContradictingOptionsAreRefused) {
  MethodChoice choice("grm", "centred");
  choice.options().set("method", "edge_support", "all");
  EXPECT_THROW(choice.build(test::small_task().train_view(), Rng(1)), Error);
}

TEST(MethodChoice, DatasetSuggestionsComeAfterThePreset) {
  const auto lr = [](const MethodChoice& choice) {
    for (const Option& o : choice.options().options()) {
      if (o.key == "lr") return o.get();
    }
    return std::string();
  };
  EXPECT_EQ(lr(MethodChoice("grm", "centred", "cora")), "0.003");
  EXPECT_EQ(lr(MethodChoice("grm", "centred", "twitch")), "0.01");
  EXPECT_EQ(lr(MethodChoice("erm", "", "cora")), "0.001");
}

}  // namespace
}  // namespace grm
