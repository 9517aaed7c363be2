// The ball around a node against the definition, pair by pair.
#include "graph/ball.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>

#include "grm/core/rng.h"
#include "grm/graph/batch.h"

namespace grm::ball_tests {
namespace {

// 60 nodes with few edges, self-loops among them; edges carry a weight and two features.
Graph random_graph(uint64_t key) {
  constexpr int64_t n = 60;
  Stream draws(key);
  std::vector<int64_t> source, target;
  for (int64_t k = 0; k < 80; ++k) {
    source.push_back(static_cast<int64_t>(draws.below(n)));
    target.push_back(static_cast<int64_t>(draws.below(n)));
  }
  Graph graph;
  graph.name = "random";
  graph.edges = make_adjacency(n, n, torch::tensor(source, torch::kInt64),
                               torch::tensor(target, torch::kInt64));
  graph.x.dense = torch::arange(2 * n, torch::kFloat32).reshape({n, 2});
  graph.x.shift = torch::ones({2});
  graph.edge_weights = torch::arange(graph.edges->nnz(), torch::kFloat32);
  graph.edge_x.dense =
      torch::arange(2 * graph.edges->nnz(), torch::kFloat32).reshape({graph.edges->nnz(), 2});
  return graph;
}

TEST(Ball, HoldsWhatIsWithinSoManyHops) {
  for (uint64_t key = 0; key < 20; ++key) {
    const Graph graph = random_graph(key);
    const auto [source, target] = edge_list(*graph.edges);
    const int64_t pairs = source.numel();
    const int64_t *from = source.data_ptr<int64_t>(), *to = target.data_ptr<int64_t>();
    std::set<int64_t> inside = {7};
    for (int64_t hops = 0; hops < 5; ++hops) {
      SCOPED_TRACE(testing::Message() << "graph " << key << ", " << hops << " hops");
      const Ball ball = ball_around(graph, 7, hops);
      ASSERT_TRUE(ball.nodes.equal(
          torch::tensor(std::vector<int64_t>(inside.begin(), inside.end()), torch::kInt64)));
      EXPECT_EQ(ball.nodes[ball.centre].item<int64_t>(), 7);
      EXPECT_TRUE(ball.graph.x.to_dense().equal(graph.x.to_dense().index_select(0, ball.nodes)));
      std::vector<int64_t> kept;
      for (int64_t e = 0; e < pairs; ++e) {
        if (inside.count(from[e]) != 0 && inside.count(to[e]) != 0) kept.push_back(e);
      }
      const torch::Tensor ids = torch::tensor(kept, torch::kInt64);
      const auto [a, b] = edge_list(*ball.graph.edges);
      EXPECT_TRUE(ball.nodes.index_select(0, a).equal(source.index_select(0, ids)));
      EXPECT_TRUE(ball.nodes.index_select(0, b).equal(target.index_select(0, ids)));
      EXPECT_TRUE(ball.graph.edge_weights.equal(graph.edge_weights.index_select(0, ids)));
      EXPECT_TRUE(ball.graph.edge_x.dense.equal(graph.edge_x.dense.index_select(0, ids)));
      std::set<int64_t> next = inside;
      for (int64_t e = 0; e < pairs; ++e) {
        if (inside.count(from[e]) != 0) next.insert(to[e]);
        if (inside.count(to[e]) != 0) next.insert(from[e]);
      }
      inside = next;
    }
  }
}

}  // namespace
}  // namespace grm::ball_tests
