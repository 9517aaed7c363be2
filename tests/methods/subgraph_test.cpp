// Scoring, selecting and cutting edges, and clustering.
#include "methods/graph/subgraph.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace grm::graph_level::subgraph_tests {
namespace {

torch::Tensor ints(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}
torch::Tensor numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}
torch::Tensor marks(const std::vector<int64_t>& values) {
  return ints(values).to(torch::kBool);
}
AdjacencyPtr graph_of(int64_t n, const std::vector<int64_t>& source,
                      const std::vector<int64_t>& target) {
  return make_adjacency(n, n, ints(source), ints(target));
}
torch::Tensor uniform(at::IntArrayRef shape, uint64_t key) {
  torch::Tensor x = torch::empty(shape, torch::kFloat64);
  Stream(key).fill_uniform(x.data_ptr<double>(), x.numel(), -1.0, 1.0);
  return x;
}

// Graph a: nodes 0-3, edges by id 3->0, 0->1, 2->1, 1->2, 0->3. Graph b: node 4, no edges.
// Graph c: nodes 5-7, edges by id 6->5, 5->6, 5->7, 6->7.
AdjacencyPtr three_graphs() {
  return graph_of(8, {3, 0, 2, 1, 0, 6, 5, 5, 6}, {0, 1, 1, 2, 3, 5, 6, 7, 7});
}
const std::vector<int64_t> kParts = {0, 4, 5, 8};

TEST(TopEdges, KeepFloorOrCeilOfTheShareOfEachGraph) {
  const torch::Tensor scores = numbers({5, 1, 4, 2, 3, 10, 40, 30, 20});
  const AdjacencyPtr edges = three_graphs();
  const auto top = [&](double share, bool up) {
    return top_edges(scores, edges, ints(kParts), share, up);
  };
  EXPECT_TRUE(torch::equal(top(0.5, false), marks({1, 0, 1, 0, 0, 0, 1, 1, 0})));  // 2.5, 2
  EXPECT_TRUE(torch::equal(top(0.5, true), marks({1, 0, 1, 0, 1, 0, 1, 1, 0})));
  EXPECT_TRUE(torch::equal(top(0.1, false), marks({0, 0, 0, 0, 0, 0, 0, 0, 0})));
  EXPECT_TRUE(torch::equal(top(0.1, true), marks({1, 0, 0, 0, 0, 0, 1, 0, 0})));
  EXPECT_TRUE(top(1, false).all().item<bool>());
  EXPECT_FALSE(top(0, true).any().item<bool>());
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { top(1.5, true); }),
              testing::HasSubstr("1.5"));
}

TEST(TopEdges, SharesThatAreNotBinaryFractionsRoundAsWritten) {
  // 0.29 * 100 is a little below 29 in binary, 0.07 * 100 a little above 7.
  std::vector<int64_t> source, target;
  for (int64_t k = 0; k < 100; ++k) source.push_back(k), target.push_back(k + 1);
  const AdjacencyPtr line = graph_of(101, source, target);
  const torch::Tensor scores = uniform({100}, 3);
  EXPECT_EQ(top_edges(scores, line, ints({0, 101}), 0.29, false).sum().item<int64_t>(), 29);
  EXPECT_EQ(top_edges(scores, line, ints({0, 101}), 0.07, true).sum().item<int64_t>(), 7);
}

TEST(TopEdges, TiesGoToTheLowerEdgeId) {
  const torch::Tensor scores = numbers({1, 2, 1, 1, 0, 7, 7, 7, 7});
  EXPECT_TRUE(torch::equal(top_edges(scores, three_graphs(), ints(kParts), 0.6, true),
                           marks({1, 1, 1, 0, 0, 1, 1, 1, 0})));
}

nn::GraphInput batch_of_three() {
  nn::GraphInput batch;
  batch.edges = three_graphs();
  batch.node_offsets = ints(kParts);
  batch.x.dense = uniform({8, 2}, 11);
  batch.edge_x.sparse = make_adjacency(9, 9, torch::arange(9), torch::arange(9));
  batch.edge_weights = torch::arange(9).to(torch::kFloat64);
  return batch;
}

TEST(Cut, KeepsTheChosenEdgesAndTheNodesThatTouchOne) {
  const nn::GraphInput batch = batch_of_three();
  // 3->0 and 0->3 of graph a, 6->7 of graph c: nodes 1, 2, 4 and 5 vanish.
  const Subgraph part = cut(batch, marks({1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_TRUE(torch::equal(part.nodes, ints({0, 3, 6, 7})));
  EXPECT_TRUE(torch::equal(part.edge_ids, ints({0, 4, 8})));
  EXPECT_TRUE(torch::equal(part.input.node_offsets, ints({0, 2, 2, 4})));
  const AdjacencyPtr expected = graph_of(4, {1, 0, 2}, {0, 1, 3});
  for (const auto& [is, wanted] : {std::pair(part.input.edges->in, expected->in),
                                   std::pair(part.input.edges->out, expected->out)}) {
    EXPECT_TRUE(torch::equal(is.offsets, wanted.offsets));
    EXPECT_TRUE(torch::equal(is.indices, wanted.indices));
    EXPECT_EQ(is.rows, 4);
    EXPECT_EQ(is.cols, 4);
  }
  EXPECT_TRUE(torch::equal(part.input.edges->out_edge, expected->out_edge));
  EXPECT_TRUE(torch::equal(part.input.x.dense, batch.x.dense.index_select(0, part.nodes)));
  EXPECT_TRUE(torch::equal(part.input.edge_weights, numbers({0, 4, 8})));
  EXPECT_TRUE(torch::equal(part.input.edge_x.to_dense(),
                           batch.edge_x.to_dense().index_select(0, part.edge_ids)));
  EXPECT_FALSE(part.input.mask.defined());
}

TEST(Cut, RowsKeepTheirGradient) {
  nn::GraphInput batch = batch_of_three();
  batch.rows = uniform({8, 2}, 12).requires_grad_(true);
  const Subgraph part = cut(batch, marks({0, 0, 0, 0, 0, 0, 0, 0, 1}));
  (part.input.rows * numbers({2, 3}).unsqueeze(1)).sum().backward();
  EXPECT_TRUE(torch::equal(batch.rows.grad().select(1, 0), numbers({0, 0, 0, 0, 0, 0, 2, 3})));
}

TEST(Cut, EverythingAndNothing) {
  const nn::GraphInput batch = batch_of_three();
  const Subgraph all = cut(batch, torch::ones({9}, torch::kBool));
  EXPECT_TRUE(torch::equal(all.nodes, ints({0, 1, 2, 3, 5, 6, 7})));  // node 4 has no edge
  EXPECT_TRUE(torch::equal(all.edge_ids, torch::arange(9)));
  const Subgraph none = cut(batch, torch::zeros({9}, torch::kBool));
  EXPECT_EQ(none.nodes.numel(), 0);
  EXPECT_EQ(none.input.edges->nnz(), 0);
  EXPECT_TRUE(torch::equal(none.input.node_offsets, ints({0, 0, 0, 0})));
  EXPECT_EQ(nn::pool(nn::Pooling::mean, none.input.node_offsets, none.input.x.dense)
                .abs()
                .sum()
                .item<double>(),
            0.0);
}

TEST(EdgeScorer, IsAnMlpOfBothEnds) {
  const AdjacencyPtr edges = three_graphs();
  const auto [source, target] = edge_list(*edges);
  for (const std::vector<int64_t>& widths :
       std::vector<std::vector<int64_t>>{{6, 1}, {6, 20, 1}, {6, 5, 4, 1}}) {
    nn::ParameterSet set(Rng(2), torch::kFloat64);
    const EdgeScorer scorer(set, "scorer", widths);
    const torch::Tensor rows = uniform({8, 3}, 13).requires_grad_(true);
    const torch::Tensor cotangent = uniform({9}, 14);
    const auto gradients = [&](const torch::Tensor& scores) {
      std::vector<torch::Tensor> leaves = set.trainable();
      leaves.push_back(rows);
      for (torch::Tensor& leaf : leaves) leaf.mutable_grad().reset();
      (scores * cotangent).sum().backward();
      std::vector<torch::Tensor> result;
      for (const torch::Tensor& leaf : leaves) result.push_back(leaf.grad().clone());
      return result;
    };
    const torch::Tensor is = scorer.forward(rows, edges);
    ASSERT_EQ(is.sizes(), (std::vector<int64_t>{9}));
    const std::vector<torch::Tensor> tensors = set.trainable();  // weight, bias, weight, bias, ...
    ASSERT_EQ(tensors.size(), 2 * (widths.size() - 1));
    torch::Tensor h = torch::cat({rows.index_select(0, source), rows.index_select(0, target)}, 1);
    for (size_t l = 0; l < tensors.size(); l += 2) {
      h = torch::addmm(tensors[l + 1], l > 0 ? torch::relu(h) : h, tensors[l]);
    }
    EXPECT_TRUE(torch::allclose(is, h.squeeze(1), 0, 1e-12));
    const auto got = gradients(is), expected = gradients(h.squeeze(1));
    for (size_t k = 0; k < got.size(); ++k) {
      EXPECT_TRUE(torch::allclose(got[k], expected[k], 0, 1e-12)) << k;
    }
  }
}

// Points around centres, in turn.
torch::Tensor blobs(const torch::Tensor& centres, int64_t each, double radius) {
  return centres.repeat({each, 1}) + radius * uniform({each * centres.size(0), 2}, 15);
}

// Whether two clusterings are the same up to the names of the clusters.
bool same_partition(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::equal(a.unsqueeze(0) == a.unsqueeze(1), b.unsqueeze(0) == b.unsqueeze(1));
}

TEST(KMeans, FindsSeparatedBlobs) {
  const torch::Tensor centres =
      torch::tensor({{0.0, 0.0}, {0.0, 10.0}, {10.0, 0.0}}, torch::kFloat64);
  const torch::Tensor points = blobs(centres, 20, 1.0);
  const torch::Tensor truth = torch::arange(60) % 3;
  int found = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const torch::Tensor is = k_means(points, 3, false, Rng(seed).stream("k_means"));
    EXPECT_EQ(is.sizes(), (std::vector<int64_t>{60}));
    EXPECT_TRUE(torch::equal(is, k_means(points, 3, false, Rng(seed).stream("k_means"))));
    found += same_partition(is, truth) ? 1 : 0;
  }
  EXPECT_GE(found, 8);  // a start with two points in one blob may end elsewhere
}

TEST(KMeans, CosineComparesDirections) {
  // Two directions, lengths from 1 to 50: by distance the long ones would stand apart.
  const torch::Tensor axes = torch::tensor({{1.0, 0.1}, {0.1, 1.0}}, torch::kFloat64);
  const torch::Tensor length = torch::linspace(1, 50, 40, torch::kFloat64).unsqueeze(1);
  const torch::Tensor points = axes.repeat({20, 1}) * length;
  const torch::Tensor truth = torch::arange(40) % 2;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    // Two starts of one direction leave the second cluster to chance, so such draws are passed
    // over.
    Stream look = Rng(seed).stream("k_means");
    const std::vector<int64_t> start = look.choose(40, 2);
    if (start[0] % 2 == start[1] % 2) continue;
    EXPECT_TRUE(same_partition(k_means(points, 2, true, Rng(seed).stream("k_means")), truth));
  }
  EXPECT_FALSE(same_partition(k_means(points, 2, false, Rng(1).stream("k_means")), truth));
}

TEST(KMeans, EqualPointsShareACluster) {
  // All points are one: the first centre takes them all, the other keeps its place.
  const torch::Tensor is = k_means(torch::ones({5, 2}), 2, false, Rng(1).stream("k_means"));
  EXPECT_TRUE(torch::equal(is, torch::zeros({5}, torch::kInt64)));
  EXPECT_THAT(test::error_of(ErrorKind::config,
                             [] {
                               k_means(torch::ones({2, 2}), 3, false, Stream(1));
                             }),
              testing::HasSubstr("3 clusters of 2 points"));
}

}  // namespace
}  // namespace grm::graph_level::subgraph_tests
