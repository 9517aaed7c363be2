#include "grm/graph/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "grm/core/error.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

// A directed graph with some hubs (low ids), self-loops and isolated nodes (the last ids).
AdjacencyPtr random_graph(uint64_t key, int64_t nodes, int64_t pairs) {
  Stream draws(key);
  std::vector<int64_t> source, target;
  const auto skewed = [&] {
    const double u = draws.uniform();
    return static_cast<int64_t>(u * u * u * static_cast<double>(nodes - nodes / 10));
  };
  for (int64_t k = 0; k < pairs; ++k) {
    source.push_back(skewed());
    target.push_back(k % 20 == 0 ? source.back() : skewed());
  }
  return make_adjacency(nodes, nodes, torch::tensor(source, torch::kInt64),
                        torch::tensor(target, torch::kInt64));
}

std::vector<int64_t> to_vector(const torch::Tensor& tensor) {
  const torch::Tensor t = tensor.to(torch::kInt64).contiguous();
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}

torch::Tensor ids(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

std::set<int64_t> in_neighbours(const Adjacency& edges, int64_t i) {
  std::set<int64_t> result(edges.in.index() + edges.in.offset()[i],
                           edges.in.index() + edges.in.offset()[i + 1]);
  result.erase(i);
  return result;
}

std::vector<int64_t> members(const GraphBatch& batch, int64_t g) {
  const std::vector<int64_t> nodes = to_vector(batch.nodes);
  const std::vector<int64_t> offsets = to_vector(batch.node_offsets);
  return {nodes.begin() + offsets[g], nodes.begin() + offsets[g + 1]};
}

// Everything that must hold for a packed batch, whatever was drawn: edges are exactly the stored
// pairs between members of the same graph, and the transpose belongs to them.
void expect_induced(const Adjacency& domain, const GraphBatch& batch) {
  const std::vector<int64_t> nodes = to_vector(batch.nodes), graph = to_vector(batch.graph_of_node);
  const std::vector<int64_t> offsets = to_vector(batch.node_offsets);
  ASSERT_EQ(static_cast<int64_t>(offsets.size()), batch.graphs + 1);
  ASSERT_EQ(offsets.front(), 0);
  ASSERT_EQ(offsets.back(), batch.rows());
  std::vector<int64_t> source, target;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    std::set<int64_t> distinct;
    for (int64_t a = offsets[g]; a < offsets[g + 1]; ++a) {
      EXPECT_EQ(graph[a], g);
      distinct.insert(nodes[a]);
      const int32_t* row = domain.in.index() + domain.in.offset()[nodes[a]];
      const int32_t* end = domain.in.index() + domain.in.offset()[nodes[a] + 1];
      for (int64_t b = offsets[g]; b < offsets[g + 1]; ++b) {
        if (std::find(row, end, nodes[b]) == end) continue;
        source.push_back(b);
        target.push_back(a);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(distinct.size()), offsets[g + 1] - offsets[g]);
  }
  const AdjacencyPtr expected =
      make_adjacency(batch.rows(), batch.rows(), ids(source), ids(target));
  EXPECT_TRUE(torch::equal(batch.edges->in.offsets, expected->in.offsets));
  EXPECT_TRUE(torch::equal(batch.edges->in.indices, expected->in.indices));
  EXPECT_TRUE(torch::equal(batch.edges->out.offsets, expected->out.offsets));
  EXPECT_TRUE(torch::equal(batch.edges->out.indices, expected->out.indices));
  EXPECT_TRUE(torch::equal(batch.edges->out_edge, expected->out_edge));
}

void expect_equal(const GraphBatch& a, const GraphBatch& b) {
  EXPECT_TRUE(torch::equal(a.node_offsets, b.node_offsets));
  EXPECT_TRUE(torch::equal(a.nodes, b.nodes));
  EXPECT_TRUE(torch::equal(a.edges->in.indices, b.edges->in.indices));
  EXPECT_TRUE(torch::equal(a.edges->out_edge, b.edges->out_edge));
}

TEST(EgoBatch, HoldsTargetFirstItsNeighboursUpToTheFanOutAndInducedEdges) {
  for (uint64_t key = 0; key < 10; ++key) {
    const AdjacencyPtr edges = random_graph(key, 150, 1500);
    const std::vector<int64_t> targets = to_vector(torch::arange(150));
    const GraphBatch batch = ego_batch(*edges, ids(targets), {7}, Stream(key));
    ASSERT_EQ(batch.graphs, 150);
    expect_induced(*edges, batch);
    for (int64_t g = 0; g < batch.graphs; ++g) {
      const std::vector<int64_t> nodes = members(batch, g);
      const std::set<int64_t> neighbours = in_neighbours(*edges, targets[g]);
      ASSERT_FALSE(nodes.empty());
      EXPECT_EQ(nodes[0], targets[g]);
      EXPECT_EQ(nodes.size(), 1 + std::min<size_t>(7, neighbours.size()));
      for (size_t a = 1; a < nodes.size(); ++a) EXPECT_EQ(neighbours.count(nodes[a]), 1u);
    }
  }
}

TEST(EgoBatch, SecondHopDrawsFromTheNeighboursOfEachFirstHopMember) {
  const AdjacencyPtr edges = random_graph(21, 150, 1200);
  const torch::Tensor targets = torch::arange(150);
  const GraphBatch one = ego_batch(*edges, targets, {4}, Stream(3));
  const GraphBatch two = ego_batch(*edges, targets, {4, 3}, Stream(3));
  expect_induced(*edges, two);
  for (int64_t g = 0; g < two.graphs; ++g) {
    const std::vector<int64_t> near = members(one, g), all = members(two, g);
    const std::set<int64_t> in_all(all.begin(), all.end());
    EXPECT_EQ(all[0], near[0]);
    std::set<int64_t> allowed(near.begin(), near.end());
    for (size_t a = 1; a < near.size(); ++a) {
      EXPECT_EQ(in_all.count(near[a]), 1u);
      const std::set<int64_t> next = in_neighbours(*edges, near[a]);
      allowed.insert(next.begin(), next.end());
      int64_t present = 0;
      for (const int64_t node : next) present += static_cast<int64_t>(in_all.count(node));
      EXPECT_GE(present, std::min<int64_t>(3, static_cast<int64_t>(next.size())));
    }
    EXPECT_LE(all.size(), near.size() + 3 * (near.size() - 1));
    for (const int64_t node : all) EXPECT_EQ(allowed.count(node), 1u);
  }
}

TEST(EgoBatch, LargeFanOutTakesTheWholeTwoHopNeighbourhood) {
  const AdjacencyPtr edges = random_graph(4, 80, 300);
  const GraphBatch batch = ego_batch(*edges, torch::arange(80), {1000, 1000}, Stream(1));
  expect_induced(*edges, batch);
  for (int64_t g = 0; g < 80; ++g) {
    std::set<int64_t> expected = {g};
    for (const int64_t a : in_neighbours(*edges, g)) {
      expected.insert(a);
      const std::set<int64_t> next = in_neighbours(*edges, a);
      expected.insert(next.begin(), next.end());
    }
    const std::vector<int64_t> nodes = members(batch, g);
    EXPECT_EQ(std::set<int64_t>(nodes.begin(), nodes.end()), expected);
  }
}

TEST(EgoBatch, ZeroFanOutEndsTheExpansion) {
  const AdjacencyPtr edges = random_graph(8, 60, 400);
  const torch::Tensor targets = torch::arange(60);
  const GraphBatch plain = ego_batch(*edges, targets, {5}, Stream(2));
  expect_equal(ego_batch(*edges, targets, {5, 0}, Stream(2)), plain);
  expect_equal(ego_batch(*edges, targets, {5, 0, 9}, Stream(2)), plain);
  EXPECT_EQ(ego_batch(*edges, targets, {0}, Stream(2)).rows(), 60);
  EXPECT_EQ(ego_batch(*edges, targets, {}, Stream(2)).rows(), 60);
}

TEST(EgoBatch, DrawOfATargetDoesNotDependOnTheBatchOrTheThreads) {
  const AdjacencyPtr edges = random_graph(9, 300, 6000);
  const int before = threads();
  set_threads(1);
  const GraphBatch all = ego_batch(*edges, torch::arange(300), {6, 2}, Stream(11));
  for (const int count : {2, 3, 8}) {
    set_threads(count);
    expect_equal(ego_batch(*edges, torch::arange(300), {6, 2}, Stream(11)), all);
  }
  const std::vector<int64_t> some = {299, 5, 17, 5, 0};
  const GraphBatch few = ego_batch(*edges, ids(some), {6, 2}, Stream(11));
  set_threads(before);
  expect_induced(*edges, few);
  for (size_t k = 0; k < some.size(); ++k) EXPECT_EQ(members(few, k), members(all, some[k]));
  bool differs = false;
  const GraphBatch other = ego_batch(*edges, ids(some), {6, 2}, Stream(12));
  for (size_t k = 0; k < some.size(); ++k) differs |= members(few, k) != members(other, k);
  EXPECT_TRUE(differs);
}

TEST(EgoBatch, DrawsNeighboursUniformlyWithoutReplacement) {
  // Target 0 with a self-loop and 12 neighbours, 5 of which are drawn: every neighbour has
  // probability 5/12 and every pair of neighbours 5*4/(12*11).
  std::vector<int64_t> source = {0}, target = {0};
  for (int64_t j = 1; j <= 12; ++j) {
    source.push_back(j);
    target.push_back(0);
  }
  const AdjacencyPtr edges = make_adjacency(13, 13, ids(source), ids(target));
  constexpr int kDraws = 20000;
  std::vector<double> single(13, 0.0);
  std::map<std::pair<int64_t, int64_t>, double> pairs;
  for (int d = 0; d < kDraws; ++d) {
    const GraphBatch batch = ego_batch(*edges, ids({0}), {5}, Stream(1000 + d));
    const std::vector<int64_t> nodes = members(batch, 0);
    ASSERT_EQ(nodes.size(), 6u);
    for (size_t a = 1; a < 6; ++a) {
      single[nodes[a]] += 1.0;
      for (size_t b = a + 1; b < 6; ++b) {
        pairs[{std::min(nodes[a], nodes[b]), std::max(nodes[a], nodes[b])}] += 1.0;
      }
    }
  }
  const double expected = kDraws * 5.0 / 12.0, expected_pair = kDraws * 20.0 / 132.0;
  double chi_single = 0.0, chi_pair = 0.0;
  for (int64_t j = 1; j <= 12; ++j) chi_single += std::pow(single[j] - expected, 2) / expected;
  ASSERT_EQ(pairs.size(), 66u);
  for (const auto& [pair, count] : pairs) {
    chi_pair += std::pow(count - expected_pair, 2) / expected_pair;
  }
  // 0.9999 quantiles of chi-square with 11 and 65 degrees of freedom; drawing without replacement
  // makes both sums smaller than that.
  EXPECT_LT(chi_single, 37.4);
  EXPECT_LT(chi_pair, 115.0);
}

TEST(EgoBatch, IsolatedTargetIsAGraphOfOneNodeAndSelfLoopsStay) {
  const AdjacencyPtr edges = make_adjacency(4, 4, ids({1, 2, 1}), ids({1, 1, 2}));
  const GraphBatch batch = ego_batch(*edges, ids({3, 1, 0}), {20}, Stream(0));
  EXPECT_EQ(members(batch, 0), (std::vector<int64_t>{3}));
  EXPECT_EQ(members(batch, 1), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(members(batch, 2), (std::vector<int64_t>{0}));
  EXPECT_EQ(batch.edges->nnz(), 3);
  expect_induced(*edges, batch);
}

TEST(EgoBatch, NoTargetsGiveAnEmptyBatch) {
  const AdjacencyPtr edges = random_graph(1, 20, 40);
  const GraphBatch batch = ego_batch(*edges, torch::empty({0}, torch::kInt64), {5}, Stream(0));
  EXPECT_EQ(batch.graphs, 0);
  EXPECT_EQ(batch.rows(), 0);
  EXPECT_EQ(batch.edges->nnz(), 0);
  EXPECT_EQ(all_pairs(batch)->nnz(), 0);
}

TEST(EgoBatch, RefusesTargetsOutsideTheGraphAndNegativeFanOut) {
  const AdjacencyPtr edges = random_graph(1, 20, 40);
  EXPECT_THROW(ego_batch(*edges, ids({3, 20}), {5}, Stream(0)), Error);
  EXPECT_THROW(ego_batch(*edges, ids({-1}), {5}, Stream(0)), Error);
  EXPECT_THROW(ego_batch(*edges, ids({1}), {-5}, Stream(0)), Error);
}

TEST(WholeBatch, IsTheGraphItself) {
  const AdjacencyPtr edges = random_graph(2, 30, 100);
  const GraphBatch batch = whole_batch(edges);
  EXPECT_EQ(batch.graphs, 1);
  EXPECT_EQ(batch.edges, edges);
  EXPECT_EQ(to_vector(batch.nodes), to_vector(torch::arange(30)));
  expect_induced(*edges, batch);
}

TEST(InducedBatch, HoldsTheMembersOfEachRowAndAllStoredPairsBetweenThem) {
  const AdjacencyPtr edges = random_graph(12, 90, 900);
  Stream draws(3);
  std::vector<int64_t> row, node;
  for (int64_t g = 0; g < 40; ++g) {
    if (g == 7) continue;  // one graph has no nodes
    for (const int64_t i : draws.choose(90, 1 + g)) {
      row.push_back(g);
      node.push_back(i);
    }
  }
  const AdjacencyPtr sets = make_adjacency(40, 90, ids(node), ids(row));
  const GraphBatch batch = induced_batch(*edges, sets->in);
  ASSERT_EQ(batch.graphs, 40);
  EXPECT_EQ(to_vector(batch.nodes), to_vector(sets->in.indices));
  EXPECT_TRUE(members(batch, 7).empty());
  expect_induced(*edges, batch);
}

TEST(AllPairs, HoldsEveryOrderedPairInsideEachGraphAndItsTranspose) {
  const AdjacencyPtr edges = random_graph(6, 100, 500);
  const GraphBatch batch = ego_batch(*edges, torch::arange(100), {6}, Stream(4));
  const std::vector<int64_t> graph = to_vector(batch.graph_of_node);
  std::vector<int64_t> source, target;
  for (int64_t a = 0; a < batch.rows(); ++a) {
    for (int64_t b = 0; b < batch.rows(); ++b) {
      if (graph[a] != graph[b]) continue;
      source.push_back(b);
      target.push_back(a);
    }
  }
  const AdjacencyPtr expected =
      make_adjacency(batch.rows(), batch.rows(), ids(source), ids(target));
  const AdjacencyPtr pairs = all_pairs(batch);
  EXPECT_TRUE(torch::equal(pairs->in.offsets, expected->in.offsets));
  EXPECT_TRUE(torch::equal(pairs->in.indices, expected->in.indices));
  EXPECT_TRUE(torch::equal(pairs->out.offsets, expected->out.offsets));
  EXPECT_TRUE(torch::equal(pairs->out.indices, expected->out.indices));
  EXPECT_TRUE(torch::equal(pairs->out_edge, expected->out_edge));
}

}  // namespace
}  // namespace grm
