// Properties of every method in the registry, and of choosing one.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <set>

#include "grm/core/error.h"
#include "grm/graph/batch.h"
#include "grm/methods/method.h"
#include "methods/good_settings.h"
#include "small_graph_task.h"
#include "small_task.h"

namespace grm::method_tests {
namespace {

struct Case {
  Level level;
  std::string name, preset;
};

void PrintTo(const Case& each, std::ostream* out) {
  *out << to_string(each.level) << " " << each.name << " " << each.preset;
}

std::vector<Case> all_presets(const std::vector<Level>& levels) {
  std::vector<Case> all;
  for (const MethodEntry& entry : methods()) {
    if (std::find(levels.begin(), levels.end(), entry.level) == levels.end()) continue;
    for (const Preset& preset : entry.presets) {
      if (preset.name == kGoodPreset) continue;  // without a dataset of GOOD that is the default
      all.push_back({entry.level, entry.name, preset.name});
    }
  }
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& each) {
  std::string name = to_string(each.param.level) + "_" + each.param.name + "_" + each.param.preset;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The part of the loss that training must lower: a method whose other terms weigh more with every
// epoch reports its mean loss as "risk".
double fitted(const std::vector<LossTerm>& terms) {
  for (const LossTerm& term : terms) {
    if (term.name == "risk") return term.value;
  }
  return terms.front().value;
}

class EveryMethod : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Method> build(uint64_t seed) {
    const auto& [level, name, preset] = GetParam();
    if (level == Level::graph) return test::build_graph_method(name, task_, {}, seed, preset);
    return MethodChoice(name, preset).build(task_.train_view(), Rng(seed));
  }
  std::map<std::string, torch::Tensor> trained(uint64_t seed, int64_t epochs) {
    const std::unique_ptr<Method> method = build(seed);
    for (int64_t e = 1; e <= epochs; ++e) method->train_epoch(e);
    return method->parameters().snapshot();
  }
  Task task_ = GetParam().level == Level::graph ? test::small_graph_task() : test::small_task();
};

TEST_P(EveryMethod, LossFallsAndStaysFinite) {
  const std::unique_ptr<Method> method = build(1);
  const double first = fitted(method->train_epoch(1));
  double last = 0;
  for (int64_t e = 2; e <= 60; ++e) {
    const std::vector<LossTerm> terms = method->train_epoch(e);
    for (const LossTerm& term : terms) EXPECT_TRUE(std::isfinite(term.value)) << term.name;
    last = fitted(terms);
  }
  EXPECT_LT(last, first);
}

TEST_P(EveryMethod, SameSeedSameBitsAndAnotherSeedOthers) {
  const auto a = trained(5, 4), b = trained(5, 4), c = trained(6, 4);
  bool differs = false;
  for (const auto& [name, tensor] : a) {
    EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;
    differs = differs || !torch::equal(tensor, c.at(name));
  }
  EXPECT_EQ(differs, GetParam().name != "trivial");  // which draws nothing
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

INSTANTIATE_TEST_SUITE_P(Registry, EveryMethod,
                         testing::ValuesIn(all_presets({Level::node, Level::graph})), case_name);

class EveryGraphMethod : public EveryMethod {};

TEST_P(EveryGraphMethod, PredictsEachGraphByItselfAndInTheOrderAsked) {
  const std::unique_ptr<Method> method = build(4);
  method->train_epoch(1);
  const Domain& domain = task_.test[0];
  const torch::Tensor all = method->logits(domain.graph, domain.labels.evaluate);
  const torch::Tensor some = torch::tensor({7, 2, 2, 19}, torch::kInt64);
  EXPECT_TRUE(
      torch::allclose(method->logits(domain.graph, some), all.index_select(0, some), 1e-4, 1e-5));
}

TEST_P(EveryGraphMethod, EdgeScoresComeInTheOrderOfThePickedGraphs) {
  const std::unique_ptr<Method> method = build(4);
  const Domain& domain = task_.test[0];
  const torch::Tensor all = method->edge_scores(domain.graph, domain.labels.evaluate);
  const std::set<std::string> without = {"erm",      "trivial", "irm",  "vrex",
                                         "groupdro", "coral",   "dann", "mixup"};
  if (without.count(GetParam().name) > 0) {
    EXPECT_FALSE(all.defined());
    return;
  }
  ASSERT_TRUE(all.defined());
  ASSERT_EQ(all.sizes(), (at::IntArrayRef{domain.graph.edges->nnz()}));
  EXPECT_TRUE(torch::isfinite(all).all().item<bool>());
  const torch::Tensor some = torch::tensor({7, 2, 19}, torch::kInt64);
  const GraphBatch batch = pick_graphs(domain.graph, some);
  EXPECT_TRUE(torch::allclose(method->edge_scores(domain.graph, some),
                              all.index_select(0, batch.edge_ids), 1e-4, 1e-5));
}

TEST_P(EveryGraphMethod, RunsWithTheTwoOutputLossOnEdgeFeaturesAndBatchesOfOne) {
  task_ = test::small_graph_task(LossKind::binary_pair, 2);
  const auto& [level, name, preset] = GetParam();
  const bool batches = name != "trivial";  // 40 = 3 * 13 + 1
  const test::Values values = batches ? test::Values{{"batch", "13"}} : test::Values{};
  const std::unique_ptr<Method> method = test::build_graph_method(name, task_, values, 1, preset);
  for (int64_t e = 1; e <= 3; ++e) {
    for (const LossTerm& term : method->train_epoch(e)) {
      EXPECT_TRUE(std::isfinite(term.value)) << term.name;
    }
  }
  const torch::Tensor one = torch::tensor({3}, torch::kInt64);
  EXPECT_TRUE(torch::isfinite(method->logits(task_.test[0].graph, one)).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryGraphMethod, testing::ValuesIn(all_presets({Level::graph})),
                         case_name);

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
}  // namespace grm::method_tests
