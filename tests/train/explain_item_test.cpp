// Explanations of single items against the paper's equations computed plainly from the parameters,
// and against a method whose generated graph is given by hand.
#include "grm/train/explain_item.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <set>

#include "graph/influence.h"
#include "grm/graph/batch.h"
#include "methods/small_graph_task.h"
#include "methods/small_task.h"
#include "nn/losses.h"
#include "support/expect_error.h"

namespace grm {
namespace {

using testing::HasSubstr;
using torch::Tensor;

Tensor ints(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

std::unique_ptr<Method> node_method(const std::string& name, const Task& task,
                                    const test::Values& values, uint64_t seed = 1) {
  const std::unique_ptr<MethodRecipe> recipe = find_method(name).make();
  OptionList options;
  recipe->declare(options);
  for (const auto& [key, value] : values) options.set("method", key, value);
  return recipe->build(task.train_view(), Rng(seed));
}

// A linear encoder of the features themselves: z can be written down.
const test::Values kLinear = {{"encoder_input", "raw"}, {"encoder", "linear"}, {"latent", "4"},
                              {"edge_width", "3"},      {"samples", "3"},      {"theta", "0.3"}};

// mu and log sigma of all nodes, and the decoder's weights, from the parameters by name.
struct Plain {
  Tensor mu, sigma, edge_weight, edge_bias;
  Plain(Method& method, const Graph& graph) {
    std::map<std::string, Tensor> p = method.parameters().snapshot();
    for (auto& [name, value] : p) value = value.to(torch::kFloat64);
    const Tensor heads =
        graph.x.to_dense().to(torch::kFloat64).matmul(p.at("encoder.first.weight")) +
        p.at("encoder.first.bias");
    mu = heads.narrow(1, 0, 4);
    sigma = heads.narrow(1, 4, 4).clamp(-10, 4).exp();
    edge_weight = p.at("decoder.edges.weight");
    edge_bias = p.at("decoder.edges.bias");
  }
  // sigmoid(f_e(z_i) . f_e(z_j)) of all pairs of rows.
  Tensor edges(const Tensor& z) const {
    const Tensor f = z.matmul(edge_weight) + edge_bias;
    return torch::sigmoid(f.matmul(f.t()));
  }
};

Tensor noise(const Stream& stream, int64_t rows) {
  Tensor eps = torch::empty({rows, 4}, torch::kFloat32);
  stream.fill_normal(eps.data_ptr<float>(), eps.numel());
  return eps.to(torch::kFloat64);
}

TEST(ExplainItem, WeightsOfAnEgoNetAreTheDecodersSigmoidsAveragedOverTheSamples) {
  const Task task = test::small_task();
  const Graph& graph = task.test[0].graph;
  const std::unique_ptr<Method> method = node_method("grm", task, kLinear, 5);
  const Plain plain(*method, graph);
  const int64_t item = 6;
  const ItemExplanation e = explain_item(*method, "grm", task.test[0], item);

  // With at most 20 neighbours the ego-net is the node and all of them, whatever the draws.
  std::set<int64_t> members = {item};
  const auto [source, target] = edge_list(*graph.edges);
  for (int64_t k = 0; k < source.numel(); ++k) {
    if (target[k].item<int64_t>() == item) members.insert(source[k].item<int64_t>());
  }
  ASSERT_EQ(e.nodes.size(), members.size());
  EXPECT_EQ(e.centre, 0);
  EXPECT_EQ(e.nodes[0].id, item);
  std::vector<int64_t> ids;
  for (const ExplainedNode& node : e.nodes) {
    EXPECT_EQ(members.count(node.id), 1u);
    ids.push_back(node.id);
  }
  const Tensor mu = plain.mu.index_select(0, ints(ids)),
               sigma = plain.sigma.index_select(0, ints(ids));
  const InfluenceSets sets = influence_sets(*graph.edges, InfluenceRule());
  Tensor sum = torch::zeros({mu.size(0), mu.size(0)}, torch::kFloat64), square = sum.clone();
  Tensor distance = torch::zeros({mu.size(0)}, torch::kFloat64);
  std::vector<Tensor> h;
  for (const int64_t i : ids) {
    Tensor mean = torch::zeros({4}, torch::kFloat64);
    for (int64_t u = 0; u < graph.nodes(); ++u) {
      if (sets.contains(i, u)) mean += plain.mu[u];
    }
    h.push_back(mean / static_cast<double>(sets.size(i)));
  }
  for (uint64_t s = 0; s < 3; ++s) {
    const Tensor z = mu + sigma * noise(Rng(5).stream("evaluate", s, 0), mu.size(0));
    const Tensor w = plain.edges(z);
    sum += w / 3;
    square += w * w / 3;
    distance += (z - torch::stack(h)).norm(2, 1) / 3;
  }
  const auto n = static_cast<int64_t>(ids.size());
  ASSERT_EQ(static_cast<int64_t>(e.edges.size()), n * (n - 1) / 2);
  for (const ExplainedEdge& edge : e.edges) {
    ASSERT_LT(edge.source, edge.target);
    const double mean = sum[edge.source][edge.target].item<double>();
    EXPECT_NEAR(edge.weight, mean, 1e-6);
    EXPECT_NEAR(edge.spread * edge.spread,
                square[edge.source][edge.target].item<double>() - mean * mean, 1e-6);
  }
  for (int64_t k = 0; k < n; ++k) {
    EXPECT_NEAR(e.nodes[k].self_weight, sum[k][k].item<double>(), 1e-6);
    EXPECT_NEAR(e.nodes[k].distance, distance[k].item<double>(), 1e-5);
  }
  EXPECT_DOUBLE_EQ(e.prior, 0.3);
  EXPECT_TRUE(e.generated);
  EXPECT_EQ(e.samples.size(), 3u);
}

TEST(ExplainItem, PresencesAreTheDecodersSigmoidsAveragedOverTheSamples) {
  const Task task = test::small_task();
  const Graph& graph = task.test[0].graph;
  test::Values values = kLinear;
  values.insert(values.end(), {{"presence", "gate"}, {"presence_prior", "0.4"}});
  const std::unique_ptr<Method> method = node_method("grm", task, values, 5);
  const Plain plain(*method, graph);
  const auto p = method->parameters().snapshot();
  const Tensor w = p.at("decoder.presence.weight").to(torch::kFloat64);
  const Tensor b = p.at("decoder.presence.bias").to(torch::kFloat64);
  const ItemExplanation e = explain_item(*method, "grm", task.test[0], 6);
  ASSERT_TRUE(e.generates_nodes());
  EXPECT_EQ(e.presence_prior, 0.4);
  std::vector<int64_t> ids;
  for (const ExplainedNode& node : e.nodes) ids.push_back(node.id);
  const auto n = static_cast<int64_t>(ids.size());
  const Tensor mu = plain.mu.index_select(0, ints(ids)),
               sigma = plain.sigma.index_select(0, ints(ids));
  std::vector<Tensor> each;
  for (uint64_t s = 0; s < 3; ++s) {
    const Tensor z = mu + sigma * noise(Rng(5).stream("evaluate", s, 0), n);
    each.push_back((1 / (1 + torch::exp(-(z.matmul(w) + b)))).squeeze(1));
  }
  const Tensor all = torch::stack(each), mean = all.mean(0);
  int64_t kept = 0;
  for (int64_t k = 0; k < n; ++k) {
    EXPECT_NEAR(e.nodes[k].presence, mean[k].item<double>(), 1e-5);
    EXPECT_NEAR(e.nodes[k].presence_spread,
                all.select(1, k).std(0, /*unbiased=*/false).item<double>(), 1e-5);
    kept += mean[k].item<double>() >= 0.5;
  }
  EXPECT_EQ(e.kept_nodes(), kept);
  int64_t among = 0;
  for (const ExplainedEdge& edge : e.edges) {
    among += edge.fate != EdgeFate::absent && mean[edge.source].item<double>() >= 0.5 &&
             mean[edge.target].item<double>() >= 0.5;
  }
  EXPECT_EQ(e.kept_edges(), among);
  ASSERT_EQ(e.presence_samples.size(), 3u);
}

TEST(ExplainItem, WholeScopeShowsTheTwoHopsThatReachTheItem) {
  const Task task = test::small_task();
  const Domain& domain = task.training[0];
  test::Values values = kLinear;
  values.insert(values.end(), {{"scope", "whole"}, {"edge_support", "observed"}, {"samples", "0"}});
  const std::unique_ptr<Method> method = node_method("grm", task, values);
  const Plain plain(*method, domain.graph);
  const ItemExplanation e = explain_item(*method, "grm", domain, 9);
  std::set<int64_t> near = {9};
  const auto [source, target] = edge_list(*domain.graph.edges);
  for (int hop = 0; hop < 2; ++hop) {
    std::set<int64_t> next = near;
    for (int64_t k = 0; k < source.numel(); ++k) {
      if (near.count(target[k].item<int64_t>()) > 0) next.insert(source[k].item<int64_t>());
    }
    near = next;
  }
  std::set<int64_t> shown;
  for (const ExplainedNode& node : e.nodes) shown.insert(node.id);
  EXPECT_EQ(shown, near);
  EXPECT_EQ(e.nodes[e.centre].id, 9);
  // Observed pairs between them and nothing else, with z = mu.
  const Tensor w = plain.edges(plain.mu);
  size_t observed = 0;
  for (int64_t k = 0; k < source.numel(); ++k) {
    const int64_t a = source[k].item<int64_t>(), b = target[k].item<int64_t>();
    observed += a < b && near.count(a) > 0 && near.count(b) > 0;
  }
  EXPECT_EQ(e.edges.size(), observed);
  for (const ExplainedEdge& edge : e.edges) {
    EXPECT_TRUE(edge.forward && edge.backward);
    EXPECT_NEAR(edge.weight, w[e.nodes[edge.source].id][e.nodes[edge.target].id].item<double>(),
                1e-6);
    EXPECT_EQ(edge.spread, 0.0);
  }
}

TEST(ExplainItem, AGraphOfASetIsGeneratedOverAllItsPairs) {
  const Task task = test::small_graph_task();
  const Domain& domain = task.test[0];
  const std::unique_ptr<Method> method = test::build_graph_method("grm", task, kLinear, 7);
  const Plain plain(*method, domain.graph);
  const int64_t item = 3, first = domain.graph.parts[item].item<int64_t>(),
                n = domain.graph.parts[item + 1].item<int64_t>() - first;
  const ItemExplanation e = explain_item(*method, "grm", domain, item);
  EXPECT_EQ(e.level, Level::graph);
  EXPECT_EQ(e.centre, -1);
  ASSERT_EQ(static_cast<int64_t>(e.nodes.size()), n);
  ASSERT_EQ(static_cast<int64_t>(e.edges.size()), n * (n - 1) / 2);
  Tensor sum = torch::zeros({n, n}, torch::kFloat64);
  for (uint64_t s = 0; s < 3; ++s) {
    sum += plain.edges(plain.mu.narrow(0, first, n) +
                       plain.sigma.narrow(0, first, n) *
                           noise(Rng(7).stream("evaluate", s, item), n)) /
           3;
  }
  int64_t truth = 0;
  for (const ExplainedEdge& edge : e.edges) {
    EXPECT_NEAR(edge.weight, sum[edge.source][edge.target].item<double>(), 1e-6);
    EXPECT_EQ(edge.truth >= 0, edge.observed());
    truth += edge.truth == 1;
  }
  EXPECT_EQ(truth, 3);  // item 3 has label 1: a triangle
  EXPECT_EQ(e.nodes[0].id, 0);
  EXPECT_EQ(e.label, 1);
}

TEST(ExplainItem, ProbabilitiesAreThoseOfTheItemAndTheSameBitsEveryTime) {
  const Task task = test::small_task();
  const std::unique_ptr<Method> method = node_method("grm", task, {}, 3);
  const ItemExplanation a = explain_item(*method, "grm", task.test[1], 4);
  const Tensor p =
      nn::class_probabilities(method->logits(task.test[1].graph, ints({4}))).to(torch::kFloat64);
  ASSERT_EQ(a.probabilities.size(), 2u);
  EXPECT_EQ(a.probabilities[0], p[0][0].item<double>());
  EXPECT_EQ(a.predicted, p[0].argmax().item<int64_t>());
  EXPECT_EQ(a.label, task.test[1].labels.y[4].item<int64_t>());
  const std::unique_ptr<Method> rebuilt = node_method("grm", task, {}, 3);
  for (Method* again : {method.get(), rebuilt.get()}) {
    const ItemExplanation b = explain_item(*again, "grm", task.test[1], 4);
    ASSERT_EQ(a.edges.size(), b.edges.size());
    for (size_t k = 0; k < a.edges.size(); ++k) {
      EXPECT_EQ(a.edges[k].weight, b.edges[k].weight);
      EXPECT_EQ(a.edges[k].spread, b.edges[k].spread);
    }
    for (size_t k = 0; k < a.nodes.size(); ++k) {
      EXPECT_EQ(a.nodes[k].distance, b.nodes[k].distance);
    }
  }
}

// A generated graph by hand over the nodes 2, 0, 1, 3 of a path 0 - 1 - 2 with the edge 3 -> 2.
class GivenGraph final : public Method {
 public:
  GivenGraph() : set_(Rng(1)) {}
  std::vector<LossTerm> train_epoch(int64_t) override { return {}; }
  Tensor logits(const Graph&, const Tensor& items) override {
    return torch::zeros({items.numel(), 2});
  }
  std::optional<GeneratedGraph> generated(const Graph&, int64_t) override {
    GeneratedGraph g;
    g.nodes = ints({2, 0, 1, 3});
    g.centre = 0;
    //              1->2  2->1  0->1  1->0  3->2  2->3  0->2  2->0  0->3  self
    g.source = ints({2, 0, 1, 2, 3, 0, 1, 0, 1, 2});
    g.target = ints({0, 2, 2, 1, 0, 3, 0, 1, 3, 2});
    g.samples = torch::tensor({0.9, 0.5, 0.1, 0.3, 0.6, 0.6, 0.4, 0.8, 0.2, 0.7,  //
                               0.9, 0.7, 0.1, 0.1, 0.6, 0.6, 0.4, 0.8, 0.0, 0.9},
                              torch::kFloat64)
                    .view({2, 10});
    g.weight = g.samples.mean(0);
    g.spread = g.samples.std(0, false);
    g.distance = torch::tensor({1.0, 2.0, 3.0, 4.0}, torch::kFloat64);
    g.prior = 0.5;
    return g;
  }
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {}; }

 private:
  nn::ParameterSet set_;
};

Domain path() {
  Graph graph;
  graph.name = "path";
  graph.edges = make_adjacency(4, 4, ints({0, 1, 1, 2, 3}), ints({1, 0, 2, 1, 2}));
  graph.x.dense = torch::ones({4, 1});
  Domain domain = make_domain(graph, ints({0, 1, 0, 1}));
  domain.name = "path";
  domain.item_names = {"a", "b", "c", "d"};
  return domain;
}

TEST(ExplainItem, DirectionsAreTiedAndEveryPairHasOneFate) {
  GivenGraph method;
  const ItemExplanation e = explain_item(method, "given", path(), 2);
  // By hand, pairs of rows: {0,1} = c-a: 0.6; {0,2} = c-b: 0.75; {0,3} = c-d: 0.6;
  // {1,2} = a-b: 0.15; {1,3} = a-d: 0.1, one direction only. Their mean is 0.44.
  ASSERT_EQ(e.edges.size(), 5u);
  const double weights[] = {0.6, 0.75, 0.6, 0.15, 0.1};
  const EdgeFate fates[] = {EdgeFate::created, EdgeFate::kept, EdgeFate::kept, EdgeFate::weakened,
                            EdgeFate::absent};
  const double spreads[] = {0, 0.05, 0, 0.05, 0.1};
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(e.edges[k].weight, weights[k], 1e-12) << k;
    EXPECT_NEAR(e.edges[k].spread, spreads[k], 1e-12) << k;
    EXPECT_EQ(to_string(e.edges[k].fate), to_string(fates[k])) << k;
  }
  EXPECT_NEAR(e.threshold, 0.44, 1e-12);
  EXPECT_EQ(e.count(EdgeFate::kept) + e.count(EdgeFate::weakened) + e.count(EdgeFate::created) +
                e.count(EdgeFate::absent),
            5);
  // c-d is observed as d -> c alone.
  EXPECT_FALSE(e.edges[2].forward);
  EXPECT_TRUE(e.edges[2].backward);
  EXPECT_NEAR(e.nodes[2].self_weight, 0.8, 1e-12);
  EXPECT_TRUE(std::isnan(e.nodes[0].self_weight));
  EXPECT_EQ(e.name, "c");
  EXPECT_EQ(e.nodes[3].name, "d");
  EXPECT_EQ(e.nodes[3].distance, 4.0);
}

// Weights by hand on the pairs of the path, two samples each: mean and spread are m and s.
class NearlyEqual final : public Method {
 public:
  explicit NearlyEqual(std::vector<double> means, double spread)
      : set_(Rng(1)), means_(std::move(means)), spread_(spread) {}
  std::vector<LossTerm> train_epoch(int64_t) override { return {}; }
  Tensor logits(const Graph&, const Tensor& items) override {
    return torch::zeros({items.numel(), 2});
  }
  std::optional<GeneratedGraph> generated(const Graph&, int64_t) override {
    GeneratedGraph g;
    g.nodes = ints({0, 1, 2, 3});
    g.centre = 2;
    g.source = ints({0, 1, 2, 0});
    g.target = ints({1, 2, 3, 3});
    const Tensor mean = torch::tensor(means_, torch::kFloat64);
    g.samples = torch::stack({mean - spread_, mean + spread_});
    g.weight = mean;
    g.spread = torch::full_like(mean, spread_);
    g.distance = torch::zeros({4}, torch::kFloat64);
    return g;
  }
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {}; }

 private:
  nn::ParameterSet set_;
  std::vector<double> means_;
  double spread_;
};

TEST(Trust04Explain, WeightsThatDifferByLessThanChanceDoNotDiffer) {
  NearlyEqual flat({0.6105, 0.6077, 0.609, 0.608}, 0.005);
  const ItemExplanation e = explain_item(flat, "given", path(), 2);
  EXPECT_FALSE(e.differ);
  EXPECT_NEAR(e.low, 0.6077, 1e-12);
  EXPECT_NEAR(e.high, 0.6105, 1e-12);
  EXPECT_NEAR(e.noise, 0.005, 1e-12);
  EXPECT_EQ(e.count(EdgeFate::kept), 3);  // none is called weakened
  EXPECT_EQ(e.count(EdgeFate::created), 1);
  EXPECT_EQ(e.unclear(), 4);
  EXPECT_THAT(no_difference(e), HasSubstr("The weights do not differ: they span 0.0028"));
}

TEST(Trust04Explain, WeightsThatDifferAreCalledClearOneByOne) {
  NearlyEqual method({0.9, 0.3, 0.61, 0.59}, 0.01);  // their mean is 0.6
  const ItemExplanation e = explain_item(method, "given", path(), 2);
  EXPECT_TRUE(e.differ);
  EXPECT_EQ(no_difference(e), "");
  EXPECT_EQ(e.unclear(), 2);
  for (const ExplainedEdge& edge : e.edges) {
    EXPECT_EQ(edge.clear, std::abs(edge.weight - 0.6) > 0.1) << edge.weight;
  }
}

TEST(ExplainItem, ScoresOfObservedEdgesAreTiedToo) {
  const Task task = test::small_graph_task();
  const Domain& domain = task.test[0];
  const std::unique_ptr<Method> method = test::build_graph_method("dir", task);
  const Tensor scores = method->edge_scores(domain.graph, ints({5})).to(torch::kFloat64);
  const GraphBatch batch = pick_graphs(domain.graph, ints({5}));
  const auto [source, target] = edge_list(*batch.edges);
  const ItemExplanation e = explain_item(*method, "dir", domain, 5);
  EXPECT_FALSE(e.generated);
  ASSERT_EQ(2 * static_cast<int64_t>(e.edges.size()), scores.numel());
  for (int64_t k = 0; k < scores.numel(); ++k) {
    const int64_t a = source[k].item<int64_t>(), b = target[k].item<int64_t>();
    if (a > b) continue;
    double both = scores[k].item<double>();
    for (int64_t r = 0; r < scores.numel(); ++r) {
      if (source[r].item<int64_t>() == b && target[r].item<int64_t>() == a) {
        both += scores[r].item<double>();
      }
    }
    for (const ExplainedEdge& edge : e.edges) {
      if (edge.source != a || edge.target != b) continue;
      EXPECT_NEAR(edge.weight, both / 2, 1e-12);
    }
  }
  EXPECT_EQ(e.count(EdgeFate::created) + e.count(EdgeFate::absent), 0);
  EXPECT_TRUE(std::isnan(e.prior) && std::isnan(e.nodes[0].distance));
}

TEST(ExplainItem, MethodsWithoutExplanationsSayWhichHaveThem) {
  const std::set<std::string> explained = {"grm", "ciga", "dir", "gala", "gil", "gsat", "leci"};
  const Task graphs = test::small_graph_task(), nodes = test::small_task();
  size_t found = 0;
  for (const MethodEntry& entry : methods()) {
    if (entry.level != Level::graph) continue;
    found += explained.count(entry.name);
    const std::unique_ptr<Method> method = test::build_graph_method(entry.name, graphs);
    const auto explain = [&] { explain_item(*method, entry.name, graphs.test[0], 0); };
    if (explained.count(entry.name) > 0) {
      EXPECT_NO_THROW(explain()) << entry.name;
    } else {
      EXPECT_THAT(test::error_of(ErrorKind::config, explain),
                  HasSubstr("ciga, dir, gala, gil, gsat and leci"))
          << entry.name;
    }
  }
  EXPECT_EQ(found, explained.size());
  const std::unique_ptr<Method> erm = node_method("erm", nodes, {});
  EXPECT_THAT(
      test::error_of(ErrorKind::config, [&] { explain_item(*erm, "erm", nodes.test[0], 0); }),
      HasSubstr("method erm has no explanations of single nodes of its own; those that have: grm"));
}

}  // namespace
}  // namespace grm
