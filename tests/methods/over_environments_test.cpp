// Methods over environments at both levels: where they equal ERM, what their objectives do to a
// model, and where the environments come from.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>

#include "grm/core/error.h"
#include "methods/graph/environments.h"
#include "small_graph_task.h"
#include "small_task.h"
#include "support/expect_error.h"

namespace grm::over_environments_tests {
namespace {

using test::Values;
using torch::Tensor;

struct Rival {
  std::string name, weight;  // and the option that makes it ERM where it is 0
};
const std::vector<Rival> kRivals = {{"irm", "lambda"},
                                    {"vrex", "lambda"},
                                    {"groupdro", "eta"},
                                    {"coral", "lambda"},
                                    {"dann", "lambda"}};

Task domains_of(const std::vector<Domain>& training) {
  Task task = test::small_task();
  task.training = training;
  return task;
}

std::unique_ptr<Method> node_method(const std::string& name, const Task& task, Values values) {
  MethodChoice choice(name);
  values.insert(values.begin(), {{"optimiser", "adam"}, {"lr", "0.01"}, {"weight_decay", "0"}});
  for (const auto& [key, value] : values) choice.options().set("method", key, value);
  return choice.build(task.train_view(), Rng(3));
}

void expect_equal_models(Method& a, Method& b, double tolerance) {
  const nn::ParameterSet::Named other = b.parameters().parameters();
  ASSERT_EQ(a.parameters().parameters().size(), other.size());
  for (size_t k = 0; k < other.size(); ++k) {
    const auto& [name, tensor] = a.parameters().parameters()[k];
    EXPECT_LE((tensor - other[k].second).abs().max().item<double>(), tolerance) << name;
  }
}

double term(const std::vector<LossTerm>& terms, const std::string& name) {
  for (const LossTerm& t : terms) {
    if (t.name == name) return t.value;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(OverDomains, WithoutTheirObjectiveTheyAreErmOnSeveralDomains) {
  const Task task = domains_of({test::small_domain(1, 30, "a"), test::small_domain(5, 30, "e")});
  for (const Rival& rival : kRivals) {
    SCOPED_TRACE(rival.name);
    const auto method = node_method(rival.name, task, {{rival.weight, "0"}, {"dropout", "0.2"}});
    const auto erm = node_method("erm", task, {{"dropout", "0.2"}});
    for (int64_t e = 1; e <= 4; ++e) {
      EXPECT_NEAR(method->train_epoch(e).front().value, erm->train_epoch(e).front().value, 1e-6);
    }
    expect_equal_models(*method, *erm, 1e-5);
  }
}

TEST(OverDomains, OneNaturalDomainIsErmWhereTheObjectiveComparesRisks) {
  const Task task = test::small_task();
  for (const std::string name : {"vrex", "groupdro", "coral"}) {
    SCOPED_TRACE(name);
    const auto method = node_method(name, task, {{"domains", "natural"}});
    const auto erm = node_method("erm", task, {});
    for (int64_t e = 1; e <= 4; ++e) {
      method->train_epoch(e);
      erm->train_epoch(e);
    }
    expect_equal_models(*method, *erm, 1e-5);
  }
}

// Environments of one graph, as GOOD has them: a pass over it serves all.
TEST(OverDomains, NodesOfOneGraphTrainAsNodesOfItsCopies) {
  Domain half = test::small_domain(1, 40, "a"), rest = half;
  half.labels.loss = torch::arange(0, 20, torch::kInt64);
  rest.labels.loss = torch::arange(20, 40, torch::kInt64);
  Domain copy = test::small_domain(1, 40, "b");
  copy.labels.loss = rest.labels.loss;
  for (const Rival& rival : kRivals) {
    SCOPED_TRACE(rival.name);
    // A bias before batch norm has no gradient but rounding, which Adam would make a step of.
    const Values values = {{"batch_norm", "false"}};
    const auto shared = node_method(rival.name, domains_of({half, rest}), values);
    const auto apart = node_method(rival.name, domains_of({half, copy}), values);
    for (int64_t e = 1; e <= 4; ++e) {
      EXPECT_NEAR(shared->train_epoch(e).front().value, apart->train_epoch(e).front().value, 1e-6);
    }
    expect_equal_models(*shared, *apart, 1e-5);
    MethodChoice choice(rival.name);
    choice.options().set("method", "domains", "natural");
    const auto propagation = [&](const Task& task) {
      const WorkCount count = choice.recipe().work(RunShape(task, 1)).value();
      double flops = 0;
      for (const WorkTerm& each : count.terms) {
        if (each.name == "propagation") flops += each.flops;
      }
      return flops;
    };
    const double once = propagation(domains_of({half}));
    EXPECT_DOUBLE_EQ(propagation(domains_of({half, rest})), once);
    EXPECT_DOUBLE_EQ(propagation(domains_of({half, copy})), 2 * once);
  }
}

TEST(OverDomains, AStrongObjectiveMakesItsPartSmall) {
  const Task task = domains_of({test::small_domain(1, 30, "a"), test::small_domain(5, 30, "e")});
  for (const auto& [name, part] : std::vector<std::pair<std::string, std::string>>{
           {"irm", "penalty"}, {"vrex", "variance"}, {"coral", "coral"}}) {
    double last[2];
    for (int strong = 0; strong < 2; ++strong) {
      const auto method = node_method(name, task, {{"lambda", strong ? "1000" : "0"}});
      std::vector<LossTerm> terms;
      for (int64_t e = 1; e <= 40; ++e) terms = method->train_epoch(e);
      last[strong] = term(terms, part);
    }
    EXPECT_LT(last[1], 0.2 * last[0]) << name;
  }
}

TEST(OverDomains, ABackboneWithoutHiddenRowsIsRefusedWhereTheyAreCompared) {
  const Task task = domains_of({test::small_domain(1, 30, "a"), test::small_domain(5, 30, "e")});
  for (const std::string name : {"coral", "dann"}) {
    EXPECT_THAT(test::error_of(ErrorKind::config,
                               [&] {
                                 node_method(name, task, {{"layers", "1"}});
                               }),
                testing::HasSubstr("method.layers"));
  }
  EXPECT_NO_THROW(node_method("irm", task, {{"layers", "1"}})->train_epoch(1));
}

// The adversary knows the environments of training, of which a model that predicts knows nothing.
TEST(Dann, TheAdversaryIsTrainedBesideTheModel) {
  const Task task = test::small_graph_task();
  for (const char* lambda : {"0", "1"}) {
    const auto method = test::build_graph_method("dann", task, {{"lambda", lambda}});
    method->train_epoch(1);
    const auto first = method->training_state();
    method->train_epoch(2);
    const auto second = method->training_state();
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(first.at("helper.adversary.weight").sizes(), (at::IntArrayRef{32, 3}));
    EXPECT_NE(
        torch::equal(first.at("helper.adversary.weight"), second.at("helper.adversary.weight")),
        lambda[0] == '1');
    for (const auto& [name, tensor] : method->parameters().snapshot()) {
      EXPECT_EQ(name.find("adversary"), name.npos);
    }
    EXPECT_EQ(method->optimisers().size(), 2u);
  }
}

TEST(OverEnvironments, WithoutTheirObjectiveTheyAreErm) {
  const Task task = test::small_graph_task();
  for (const Rival& rival : kRivals) {
    SCOPED_TRACE(rival.name);
    // Group DRO without eta counts environments alike, so there is one.
    const auto method =
        test::build_graph_method(rival.name, task,
                                 {{rival.weight, "0"},
                                  {"dropout", "0.2"},
                                  {"environment_parts", rival.name == "groupdro" ? "1" : "3"}});
    const auto erm = test::build_graph_method("erm", task, {{"dropout", "0.2"}});
    for (int64_t e = 1; e <= 3; ++e) {
      EXPECT_NEAR(method->train_epoch(e).front().value, erm->train_epoch(e).front().value, 1e-5);
    }
    expect_equal_models(*method, *erm, 1e-4);
    const Domain& domain = task.test[0];
    EXPECT_TRUE(torch::allclose(method->logits(domain.graph, domain.labels.evaluate),
                                erm->logits(domain.graph, domain.labels.evaluate), 1e-3, 1e-3));
  }
}

// With batches of everything the parts of a step are those of all graphs.
TEST(OverEnvironments, AStrongObjectiveMakesItsPartSmall) {
  const Task task = test::small_graph_task();
  double last[2];
  for (int strong = 0; strong < 2; ++strong) {
    const auto method = test::build_graph_method(
        "vrex", task, {{"batch", "40"}, {"lambda", strong ? "1000" : "0"}});
    for (int64_t e = 1; e <= 15; ++e) last[strong] = term(method->train_epoch(e), "variance");
  }
  EXPECT_LT(last[1], 0.2 * last[0]);
}

std::vector<int64_t> list(const Tensor& t) {
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}

TEST(GraphEnvironments, AreThoseOfTheDataOrEqualPartsBySize) {
  using graph_level::EnvironmentSource;
  Domain set = test::small_graphs(1, 10, "a");
  set.labels.loss = torch::arange(9, torch::kInt64);
  graph_level::EnvironmentOptions options;
  const graph_level::GraphEnvironments by_size = environments_of(options, set);
  EXPECT_EQ(by_size.count, 3);
  const std::vector<int64_t> parts = list(by_size.of_item), sizes = list(set.graph.parts.diff());
  std::vector<int64_t> counts(3, 0);
  EXPECT_EQ(parts[9], -1);  // not trained on
  for (size_t a = 0; a < 9; ++a) {
    ++counts[parts[a]];
    for (size_t b = 0; b < 9; ++b) {
      if (sizes[a] < sizes[b]) {
        EXPECT_LE(parts[a], parts[b]);
      }
    }
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{3, 3, 3}));
  options.environments = EnvironmentSource::named;
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { environments_of(options, set); }),
              testing::HasSubstr("names no environments"));
  set.labels.environment = torch::tensor({4, 0, 1, 1, 4, 0, 0, 1, -1, 7}, torch::kInt64);
  for (const EnvironmentSource source : {EnvironmentSource::named, EnvironmentSource::automatic}) {
    options.environments = source;
    const graph_level::GraphEnvironments named = environments_of(options, set);
    EXPECT_EQ(named.count, 5);  // 7 is that of a graph which is not trained on
    EXPECT_TRUE(torch::equal(named.of_item, set.labels.environment));
  }
  options.environments = EnvironmentSource::size;
  EXPECT_EQ(environments_of(options, set).count, 3);
}

}  // namespace
}  // namespace grm::over_environments_tests
