// Samples of a graph against plain loops over lists of neighbours.
#include "graph/sample.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <map>
#include <set>

#include "graph/sample_graph.h"
#include "grm/core/threads.h"

namespace grm::sample_tests {
namespace {

using Lists = std::vector<std::map<int64_t, double>>;  // in-neighbours and their weights

Lists lists_of(const Graph& graph) {
  Lists lists(graph.nodes());
  const auto [source, target] = edge_list(*graph.edges);
  for (int64_t e = 0; e < graph.edges->nnz(); ++e) {
    lists[target[e].item<int64_t>()][source[e].item<int64_t>()] =
        graph.edge_weights[e].item<double>();
  }
  return lists;
}

torch::Tensor ids(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

TEST(GraphSample, OfAllNeighboursHasTheEdgesThatPlainLoopsFind) {
  const Graph graph = test::graph_to_sample(60, 1);
  const Lists lists = lists_of(graph);
  const std::vector<int64_t> targets = {17, 3, 40};
  const SampledGraph drawn = sample_graph(graph, ids(targets), {0, 0, 0}, Stream(1));
  const auto* node = drawn.nodes.data_ptr<int64_t>();
  // Rows come hop by hop.
  std::set<int64_t> within(targets.begin(), targets.end());
  std::vector<size_t> sizes = {within.size()};
  for (int hop = 0; hop < 3; ++hop) {
    const std::set<int64_t> before = within;
    for (const int64_t i : before) {
      for (const auto& [j, w] : lists[i]) within.insert(j);
    }
    sizes.push_back(within.size());
    EXPECT_EQ(std::set<int64_t>(node, node + within.size()), within);
  }
  ASSERT_EQ(drawn.nodes.numel(), static_cast<int64_t>(sizes[3]));
  EXPECT_EQ(std::vector<int64_t>(node, node + 3), targets);
  const GraphSample& sample = *drawn.graph.sample;
  ASSERT_EQ(sample.layers.size(), 3U);
  EXPECT_FALSE(sample.stands_for.defined());
  for (size_t l = 0; l < 3; ++l) {
    const Adjacency& edges = *sample.layers[l];
    EXPECT_EQ(edges.rows(), static_cast<int64_t>(sizes[2 - l]));
    EXPECT_EQ(edges.cols(), static_cast<int64_t>(sizes[3 - l]));
    const auto [source, target] = edge_list(edges);
    size_t count = 0;
    for (int64_t i = 0; i < edges.rows(); ++i) count += lists[node[i]].size();
    ASSERT_EQ(edges.nnz(), static_cast<int64_t>(count));
    for (int64_t e = 0; e < edges.nnz(); ++e) {
      const int64_t j = node[source[e].item<int64_t>()], i = node[target[e].item<int64_t>()];
      ASSERT_EQ(lists[i].count(j), 1U);
      EXPECT_EQ(drawn.graph.edge_weights[e].item<float>(), static_cast<float>(lists[i].at(j)));
    }
  }
  for (int64_t k = 0; k < drawn.nodes.numel(); ++k) {
    double degree = lists[node[k]].count(node[k]) > 0 ? 0.0 : 1.0;
    for (const auto& [j, w] : lists[node[k]]) degree += w;
    EXPECT_NEAR(sample.degrees[k].item<double>(), degree, 1e-5);
    EXPECT_TRUE(torch::equal(drawn.graph.x.dense[k], graph.x.dense[node[k]]));
  }
}

TEST(GraphSample, DrawsEachNeighbourEquallyOftenAndKeepsSelfPairs) {
  std::vector<int64_t> source, target;
  for (int64_t j = 0; j < 10; ++j) source.push_back(j), target.push_back(4);  // 4 -> 4, too
  Graph graph;
  graph.edges = make_adjacency(10, 10, ids(source), ids(target));
  graph.x.dense = torch::zeros({10, 1});
  std::vector<int> seen(10, 0);
  constexpr int kDraws = 3000;
  for (int k = 0; k < kDraws; ++k) {
    const SampledGraph drawn = sample_graph(graph, ids({4}), {3}, Stream(100 + k));
    const GraphSample& sample = *drawn.graph.sample;
    ASSERT_EQ(sample.layers[0]->nnz(), 4);
    EXPECT_EQ(sample.layers[0]->in.index()[0], 0);  // itself
    EXPECT_EQ(sample.stands_for[0].item<float>(), 1.0F);
    EXPECT_EQ(sample.stands_for[1].item<float>(), 3.0F);  // nine neighbours by three
    for (int64_t r = 0; r < drawn.nodes.numel(); ++r) ++seen[drawn.nodes[r].item<int64_t>()];
  }
  // A third each; five standard deviations of a count are 129.
  for (int64_t j = 0; j < 10; ++j) EXPECT_NEAR(seen[j], j == 4 ? kDraws : kDraws / 3, 130) << j;
}

TEST(GraphSample, DependsOnTheNodeAndTheStreamAlone) {
  const Graph graph = test::graph_to_sample(200, 5);
  const SampledGraph alone = sample_graph(graph, ids({9}), {2}, Stream(7));
  const SampledGraph others = sample_graph(graph, ids({50, 9, 11}), {2}, Stream(7));
  const auto sources = [](const SampledGraph& drawn, int64_t row) {
    const Csr& in = drawn.graph.edges->in;
    std::set<int64_t> found;
    for (int64_t e = in.offset()[row]; e < in.offset()[row + 1]; ++e) {
      found.insert(drawn.nodes[in.index()[e]].item<int64_t>());
    }
    return found;
  };
  EXPECT_EQ(sources(alone, 0), sources(others, 1));
  const torch::Tensor all = torch::arange(200, torch::kInt64);
  const int before = threads();
  set_threads(1);
  const SampledGraph one = sample_graph(graph, all, {3, 2}, Stream(8));
  set_threads(3);
  const SampledGraph three = sample_graph(graph, all, {3, 2}, Stream(8));
  set_threads(before);
  EXPECT_TRUE(torch::equal(one.graph.edges->in.indices, three.graph.edges->in.indices));
  EXPECT_TRUE(torch::equal(one.nodes, three.nodes));
}

}  // namespace
}  // namespace grm::sample_tests
