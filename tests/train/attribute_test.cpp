// Attributions of every method of the registry on data in which the feature and the edge that make
// the label are planted. Gradients are compared with differences of logits.
#include "train/attribute.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <map>

#include "grm/train/explain_item.h"
#include "methods/small_graph_task.h"
#include "support/expect_error.h"
#include "train/edge_removal.h"
#include "train/feature_groups.h"
#include "train/metrics.h"

namespace grm::attribute_tests {
namespace {

using testing::HasSubstr;

torch::Tensor ints(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

constexpr int64_t kTargets = 60, kColumns = 5, kPlanted = 2;

// Target i has one edge to carrier kTargets + i, whose column kPlanted is the target's label, and
// three edges to nodes that carry nothing. All else is noise.
Domain planted_nodes(uint64_t seed, const std::string& name) {
  Stream draw = Rng(seed).stream("planted");
  const int64_t n = 3 * kTargets;
  std::vector<int64_t> source, target, y;
  torch::Tensor x = torch::empty({n, kColumns}, torch::kFloat32);
  Rng(seed).stream("noise").fill_normal(x.data_ptr<float>(), x.numel());
  x.select(1, kPlanted).mul_(0.05);
  const auto link = [&](int64_t a, int64_t b) {
    source.insert(source.end(), {a, b});
    target.insert(target.end(), {b, a});
  };
  for (int64_t i = 0; i < kTargets; ++i) {
    const auto label = static_cast<int64_t>(draw.below(2));
    y.push_back(label);
    x[kTargets + i][kPlanted] = label == 1 ? 3.0 : -3.0;
    link(i, kTargets + i);
    for (int k = 0; k < 3; ++k) {
      link(i, 2 * kTargets + static_cast<int64_t>(draw.below(kTargets)));
    }
  }
  y[0] = 0;
  x[kTargets][kPlanted] = -3.0;
  y[1] = 1;
  x[kTargets + 1][kPlanted] = 3.0;
  y.resize(static_cast<size_t>(n), -1);
  Graph graph;
  graph.name = name;
  graph.edges = make_adjacency(n, n, ints(source), ints(target));
  graph.x.dense = x;
  Domain domain = make_domain(graph, ints(y));
  domain.labels.loss = domain.labels.evaluate = torch::arange(kTargets, torch::kInt64);
  return domain;
}

Task planted_node_task() {
  Task task;
  task.name = "planted";
  task.classes = 2;
  task.training = {planted_nodes(1, "a"), planted_nodes(2, "b")};
  task.validation = {planted_nodes(3, "c")};
  task.test = {planted_nodes(4, "d")};
  return task;
}

// Graphs of 10 nodes on a path, with two marked nodes that hang on it; in class 1 an edge joins
// them, in class 0 each has a second edge to the path. The planted edge is the last pair.
Domain planted_graphs(uint64_t seed, int64_t graphs, const std::string& name) {
  Stream draw = Rng(seed).stream("planted");
  constexpr int64_t kPath = 8, kNodes = kPath + 2;
  std::vector<int64_t> source, target, parts = {0}, y;
  torch::Tensor x = torch::zeros({graphs * kNodes, 3}, torch::kFloat32);
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t first = parts.back();
    const auto link = [&](int64_t a, int64_t b) {
      source.insert(source.end(), {first + a, first + b});
      target.insert(target.end(), {first + b, first + a});
    };
    for (int64_t i = 1; i < kPath; ++i) link(i - 1, i);
    const auto place = static_cast<int64_t>(draw.below(kPath / 2));
    link(kPath, place);
    link(kPath + 1, place + kPath / 2);
    if (g % 2 == 1) {
      link(kPath, kPath + 1);
    } else {
      link(kPath, (place + 2) % (kPath / 2));
      link(kPath + 1, kPath / 2 + (place + 2) % (kPath / 2));
    }
    for (int64_t i = 0; i < kNodes; ++i) x[first + i][2] = 0.2 * draw.normal();
    x[first + kPath][0] = 1.0;
    x[first + kPath + 1][1] = 1.0;
    parts.push_back(first + kNodes);
    y.push_back(g % 2);
  }
  Graph graph;
  graph.name = name;
  graph.parts = ints(parts);
  graph.edges = make_adjacency(parts.back(), parts.back(), ints(source), ints(target));
  graph.x.dense = x;
  return make_domain(graph, ints(y));
}

Task planted_graph_task() {
  Task task;
  task.name = "planted";
  task.level = Level::graph;
  task.classes = 2;
  task.training = {planted_graphs(1, 120, "a")};
  task.validation = {planted_graphs(2, 20, "b")};
  task.test = {planted_graphs(3, 20, "c")};
  return task;
}

// The method after so many epochs, with the preset that learns fast where there is one.
std::unique_ptr<Method> trained(const std::string& name, const Task& task, int64_t epochs,
                                const test::Values& values = {}) {
  const MethodEntry& entry = find_method(name, task.level);
  const std::unique_ptr<MethodRecipe> recipe = entry.make();
  OptionList options;
  recipe->declare(options);
  const Preset* chosen = &entry.presets.front();
  for (const Preset& preset : entry.presets) {
    if (preset.name == "fast" || (task.level == Level::graph && preset.name == "gin")) {
      chosen = &preset;
    }
  }
  for (const test::Values& list : {chosen->values, values}) {
    for (const auto& [key, value] : list) {
      if (key.rfind("train.", 0) != 0) options.set("method", key, value);
    }
  }
  std::unique_ptr<Method> method = recipe->build(task.train_view(), Rng(1));
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) method->train_epoch(epoch);
  method->prepare_evaluation(epochs);
  return method;
}

ModelAbout about_of(const std::string& name, const Task& task) {
  ModelAbout about;
  about.method = name;
  about.level = task.level;
  about.classes = task.classes;
  return about;
}

double accuracy_of(Method& method, const Domain& domain) {
  return accuracy(method.logits(domain.graph, domain.labels.evaluate).cpu(),
                  domain.labels.y.index_select(0, domain.labels.evaluate));
}

std::vector<std::string> names_of(Level level) {
  std::vector<std::string> names;
  for (const MethodEntry& entry : methods()) {
    if (entry.level == level) names.push_back(entry.name);
  }
  return names;
}

class EveryNodeMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryNodeMethod, RestsOnThePlantedFeatureAndEdge) {
  const std::string& name = GetParam();
  const Task task = planted_node_task();
  const std::unique_ptr<Method> method = trained(name, task, 60);
  const Domain& domain = task.test[0];
  ASSERT_GE(accuracy_of(*method, domain), 85.0) << "nothing was learned that could be found";
  const ModelAbout about = about_of(name, task);
  for (const AttributeBy by : all_values<AttributeBy>()) {
    AttributeOptions options;
    options.by = by;
    options.repeats = 2;
    const DomainAttribution found = attribute({*method, about}, domain, options);
    ASSERT_EQ(found.features.size(), static_cast<size_t>(kColumns));
    EXPECT_EQ(found.features[0].name, "x2") << to_string(by);
    EXPECT_GT(found.features[0].score, 2 * std::abs(found.features[1].score)) << to_string(by);
  }
  int64_t right = 0, asked = 0;
  for (int64_t item = 2; item < 12; ++item) {
    const ItemExplanation e = explain_item(*method, name, domain, item, 1.0, ExplainBy::removal);
    if (e.predicted != e.label) continue;
    ++asked;
    const ExplainedEdge* heaviest = &e.edges.front();
    for (const ExplainedEdge& edge : e.edges) {
      if (edge.weight > heaviest->weight) heaviest = &edge;
    }
    right += e.nodes[heaviest->source].id + e.nodes[heaviest->target].id == kTargets + 2 * item;
  }
  EXPECT_GE(asked, 6);
  EXPECT_GE(right, asked - 1) << "of " << asked;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryNodeMethod, testing::ValuesIn(names_of(Level::node)),
                         [](const auto& each) { return each.param; });

class EveryGraphMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryGraphMethod, RestsOnThePlantedFeature) {
  const std::string& name = GetParam();
  const Task task = test::small_graph_task();  // column 0 is planted
  test::Values values;
  if (name == "trivial") values = {{"reads", "mean_features"}};
  // An adversary makes rows swing for a while.
  const std::map<std::string, int64_t> epochs = {{"dir", 200}, {"dann", 80}, {"leci", 80}};
  const auto own = epochs.find(name);
  const std::unique_ptr<Method> method =
      trained(name, task, own == epochs.end() ? 40 : own->second, values);
  ASSERT_GE(accuracy_of(*method, task.test[0]), 80.0);
  const ModelAbout about = about_of(name, task);
  for (const AttributeBy by : all_values<AttributeBy>()) {
    AttributeOptions options;
    options.by = by;
    const DomainAttribution found = attribute({*method, about}, task.test[0], options);
    EXPECT_EQ(found.features[0].name, "x0") << to_string(by);
  }
}

TEST_P(EveryGraphMethod, RestsOnThePlantedEdge) {
  const std::string& name = GetParam();
  const Task task = planted_graph_task();
  const Domain& domain = task.test[0];
  // What is cut out of a graph must have room for the edge, and be learned.
  const std::map<std::string, int64_t> epochs = {{"dir", 200}, {"gil", 120}, {"ciga", 80}};
  const auto own = epochs.find(name);
  const std::unique_ptr<Method> method = trained(name, task, own == epochs.end() ? 40 : own->second,
                                                 name == "ciga"  ? test::Values{{"r", "0.6"}}
                                                 : name == "gil" ? test::Values{{"t", "0.8"}}
                                                                 : test::Values{});
  if (name == "trivial") {  // it counts edges: none is more than another
    const ItemExplanation e = explain_item(*method, name, domain, 1, 1.0, ExplainBy::removal);
    EXPECT_FALSE(e.differ);
    EXPECT_THAT(no_difference(e), HasSubstr("does not tell these edges apart"));
    return;
  }
  ASSERT_GE(accuracy_of(*method, domain), 90.0);
  int64_t right = 0, asked = 0;
  for (int64_t item = 1; item < 20; item += 2) {
    const ItemExplanation e = explain_item(*method, name, domain, item, 1.0, ExplainBy::removal);
    if (e.predicted != 1) continue;
    ++asked;
    const ExplainedEdge* heaviest = &e.edges.front();
    for (const ExplainedEdge& edge : e.edges) {
      if (edge.weight > heaviest->weight) heaviest = &edge;
    }
    right += heaviest->source == 8 && heaviest->target == 9;
  }
  EXPECT_GE(asked, 6);
  EXPECT_GE(right, asked - 1) << "of " << asked;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryGraphMethod, testing::ValuesIn(names_of(Level::graph)),
                         [](const auto& each) { return each.param; });

// sum_i |dm_i/dx (x - mean)| with the derivative of the sum of log-odds by central differences.
TEST(Gradients, AreThoseOfDifferences) {
  const Task task = planted_node_task();
  const std::unique_ptr<Method> method =
      trained("erm", task, 5, {{"backbone", "gat"}, {"hidden", "8"}});  // no ReLU: smooth
  Domain domain = task.test[0];
  domain.labels.evaluate = torch::arange(4, torch::kInt64);
  const ModelAbout about = about_of("erm", task);
  AttributeOptions options;
  options.by = AttributeBy::gradient;
  const DomainAttribution found = attribute({*method, about}, domain, options);
  const torch::Tensor classes =
      predicted_class(method->logits(domain.graph, domain.labels.evaluate));
  const torch::Tensor x = domain.graph.x.dense, mean = x.mean(0);
  const auto odds = [&](const torch::Tensor& features) {
    Graph graph = domain.graph;
    graph.x = Features{};
    graph.x.dense = features;
    const torch::Tensor p =
        torch::softmax(method->logits(graph, domain.labels.evaluate).to(torch::kFloat64), 1);
    const torch::Tensor own = p.gather(1, classes.unsqueeze(1)).squeeze(1);
    return torch::log(own / (1 - own)).sum().item<double>();
  };
  constexpr double kStep = 1e-2;
  for (const FeatureScore& feature : found.features) {
    const int64_t j = std::stoll(feature.name.substr(1));
    double expected = 0.0;
    for (int64_t i = 0; i < x.size(0); ++i) {
      torch::Tensor up = x.clone(), down = x.clone();
      up[i][j] += kStep;
      down[i][j] -= kStep;
      const double slope = (odds(up) - odds(down)) / (2 * kStep);
      expected += std::abs(slope * (x[i][j] - mean[j]).item<double>()) / 4.0;
    }
    EXPECT_NEAR(feature.score, expected, 0.02 * expected + 1e-3) << feature.name;
  }
}

TEST(Gradients, AreRefusedWhereNothingIsRead) {
  const Task task = test::small_graph_task();
  const std::unique_ptr<Method> method = trained("trivial", task, 2, {{"reads", "size"}});
  const ModelAbout about = about_of("trivial", task);
  AttributeOptions options;
  options.by = AttributeBy::gradient;
  EXPECT_THAT(test::error_of(ErrorKind::config,
                             [&] {
                               attribute({*method, about}, task.test[0], options);
                             }),
              HasSubstr("reads no feature that a gradient could be followed to"));
  options.by = AttributeBy::permutation;
  for (const FeatureScore& f : attribute({*method, about}, task.test[0], options).features) {
    EXPECT_EQ(f.score, 0.0);
  }
}

TEST(Groups, TakeTheColumnsOfACategoryTogether) {
  const std::vector<std::string> names = {"a=1", "a=2", "b", "c=x"};
  const std::vector<FeatureGroup> groups = feature_groups(names, 5, false);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].name, "a");
  EXPECT_EQ(groups[0].columns, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(groups[3].name, "x4");
  EXPECT_EQ(feature_groups(names, 5, true).size(), 5u);
}

TEST(Groups, ArePermutedAsADenseMatrixWouldBe) {
  Features x;
  x.sparse = make_adjacency(4, 3, ints({0, 2, 1, 0, 2}), ints({0, 0, 1, 2, 3}));
  x.sparse_values = torch::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F});
  x.dense = torch::arange(8, torch::kFloat32).view({4, 2});
  x.shift = torch::arange(5, torch::kFloat32);
  const torch::Tensor from = ints({2, 0, 3, 1});
  const FeatureGroup group{"g", {0, 2, 4}};
  torch::Tensor expected = x.to_dense().clone();
  for (const int64_t j : group.columns) {
    expected.select(1, j).copy_(x.to_dense().select(1, j).index_select(0, from));
  }
  EXPECT_TRUE(torch::equal(permuted(x, group, from).to_dense(), expected));
}

TEST(LogOdds, AreThoseOfTheProbability) {
  const torch::Tensor logits = torch::tensor({{1.0, 2.0, -1.0}, {0.0, 0.0, 3.0}});
  const torch::Tensor p = torch::softmax(logits.to(torch::kFloat64), 1);
  const torch::Tensor odds = log_odds(logits, ints({1, 0}));
  EXPECT_NEAR(odds[0].item<double>(),
              std::log(p[0][1].item<double>() / (1 - p[0][1].item<double>())), 1e-12);
  EXPECT_NEAR(odds[1].item<double>(),
              std::log(p[1][0].item<double>() / (1 - p[1][0].item<double>())), 1e-12);
}

}  // namespace
}  // namespace grm::attribute_tests
