// What an edge is worth, when only the surroundings of a node are computed, against leaving it out of
// the whole graph.
#include "train/edge_removal.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "core/stop.h"
#include "grm/graph/batch.h"
#include "methods/small_graph_task.h"
#include "train/metrics.h"

namespace grm::edge_removal_tests {
namespace {

constexpr int64_t kNodes = 400, kItem = 17;

// A ring with chords to the next but one: three hops reach 13 of its 400 nodes.
Domain ring(uint64_t seed, const std::string& name) {
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < kNodes; ++i) {
    for (const int64_t step : {1, 2}) {
      source.insert(source.end(), {i, (i + step) % kNodes});
      target.insert(target.end(), {(i + step) % kNodes, i});
    }
  }
  Graph graph;
  graph.name = name;
  graph.edges = make_adjacency(kNodes, kNodes, torch::tensor(source, torch::kInt64),
                               torch::tensor(target, torch::kInt64));
  graph.x.dense = torch::empty({kNodes, 4}, torch::kFloat32);
  Rng(seed).stream("x").fill_normal(graph.x.dense.data_ptr<float>(), 4 * kNodes);
  return make_domain(graph, graph.x.dense.select(1, 0).gt(0).to(torch::kInt64));
}

Task ring_task() {
  Task task;
  task.name = "ring";
  task.classes = 2;
  task.training = {ring(1, "a"), ring(2, "b")};
  task.validation = {ring(3, "c")};
  task.test = {ring(4, "d")};
  return task;
}

std::unique_ptr<Method> trained(const std::string& name, const Task& task) {
  const std::unique_ptr<MethodRecipe> recipe = find_method(name, Level::node).make();
  OptionList options;
  recipe->declare(options);
  std::unique_ptr<Method> method = recipe->build(task.train_view(), Rng(1));
  for (int64_t epoch = 1; epoch <= 15; ++epoch) method->train_epoch(epoch);
  method->prepare_evaluation(15);
  return method;
}

// The log-odds of the class that the whole graph predicts, without one pair of nodes.
double naive_odds(Method& method, const Graph& graph, const torch::Tensor& predicted, int64_t a,
                  int64_t b) {
  const auto [source, target] = edge_list(*graph.edges);
  std::vector<int64_t> from, to;
  for (int64_t e = 0; e < source.numel(); ++e) {
    const int64_t s = source[e].item<int64_t>(), t = target[e].item<int64_t>();
    if ((s == a && t == b) || (s == b && t == a)) continue;
    from.push_back(s);
    to.push_back(t);
  }
  Graph less = graph;
  less.edges = make_adjacency(kNodes, kNodes, torch::tensor(from, torch::kInt64),
                              torch::tensor(to, torch::kInt64));
  const double odds =
      log_odds(method.logits(less, torch::full({1}, kItem, torch::kInt64)).detach(), predicted)
          .item<double>();
  method.forget_graphs();
  return odds;
}

class EdgeRemoval : public testing::TestWithParam<std::string> {};

TEST_P(EdgeRemoval, GivesWhatTheWholeGraphGives) {
  const Task task = ring_task();
  const std::unique_ptr<Method> method = trained(GetParam(), task);
  const Graph& graph = task.test[0].graph;
  const torch::Tensor logits =
      method->logits(graph, torch::full({1}, kItem, torch::kInt64)).detach();
  const torch::Tensor predicted = predicted_class(logits);
  const double base = log_odds(logits, predicted).item<double>();
  const GeneratedGraph g = removal_graph(*method, graph, kItem, 12);
  ASSERT_EQ(g.source.numel(), 12);
  EXPECT_EQ(g.nodes[g.centre].item<int64_t>(), kItem);
  double largest = 0.0;
  for (int64_t e = 0; e < 12; ++e) {
    const int64_t a = g.nodes[g.source[e]].item<int64_t>();
    const int64_t b = g.nodes[g.target[e]].item<int64_t>();
    const double lost = base - naive_odds(*method, graph, predicted, a, b);
    EXPECT_NEAR(g.samples[0][e].item<double>(), lost, 2e-4) << a << " - " << b;
    largest = std::max(largest, std::abs(lost));
  }
  EXPECT_GT(largest, 1e-2) << "no edge matters, so nothing was compared";
}

// ARM looks at a context of the whole graph: no ball gives its answer.
INSTANTIATE_TEST_SUITE_P(Methods, EdgeRemoval, testing::Values("erm", "mmd", "arm"));

TEST(EdgeRemovalStop, EndsBetweenTwoEdges) {
  const Task task = ring_task();
  const std::unique_ptr<Method> method = trained("erm", task);
  int asked = 0;
  const StopScope scope([&asked] { return ++asked > 3; });
  EXPECT_THROW(removal_graph(*method, task.test[0].graph, kItem), Stopped);
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace grm::edge_removal_tests
