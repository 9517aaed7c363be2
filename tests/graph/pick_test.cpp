#include <gtest/gtest.h>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/graph/batch.h"

namespace grm::pick_tests {
namespace {

torch::Tensor ids(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

std::vector<int64_t> to_vector(const torch::Tensor& tensor) {
  const torch::Tensor t = tensor.to(torch::kInt64).contiguous();
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}

// Random directed graphs of 1 to 12 nodes with self-loops; some have no edge at all.
Graph random_set(uint64_t key, int64_t graphs) {
  Stream draws(key);
  std::vector<int64_t> parts = {0}, source, target;
  for (int64_t g = 0; g < graphs; ++g) {
    const auto n = static_cast<int64_t>(1 + draws.below(12));
    const int64_t pairs = g % 5 == 0 ? 0 : static_cast<int64_t>(draws.below(3 * n));
    for (int64_t k = 0; k < pairs; ++k) {
      source.push_back(parts.back() + static_cast<int64_t>(draws.below(n)));
      target.push_back(parts.back() + static_cast<int64_t>(draws.below(n)));
    }
    parts.push_back(parts.back() + n);
  }
  Graph set;
  set.parts = ids(parts);
  set.edges = make_adjacency(parts.back(), parts.back(), ids(source), ids(target));
  return set;
}

// The batch as one would write it down: graph by graph, node by node, pair by pair.
GraphBatch naive_pick(const Graph& set, const std::vector<int64_t>& chosen) {
  const std::vector<int64_t> parts = to_vector(set.parts);
  std::vector<int64_t> offsets = {0}, nodes, owner, edge_ids, source, target;
  for (size_t b = 0; b < chosen.size(); ++b) {
    const int64_t begin = parts[chosen[b]], end = parts[chosen[b] + 1];
    for (int64_t i = begin; i < end; ++i) {
      nodes.push_back(i);
      owner.push_back(static_cast<int64_t>(b));
      for (int64_t e = set.edges->in.offset()[i]; e < set.edges->in.offset()[i + 1]; ++e) {
        source.push_back(offsets.back() + set.edges->in.index()[e] - begin);
        target.push_back(offsets.back() + i - begin);
        edge_ids.push_back(e);
      }
    }
    offsets.push_back(static_cast<int64_t>(nodes.size()));
  }
  GraphBatch batch;
  batch.graphs = static_cast<int64_t>(chosen.size());
  batch.node_offsets = ids(offsets);
  batch.nodes = ids(nodes);
  batch.graph_of_node = ids(owner);
  batch.edge_ids = ids(edge_ids);  // pairs were listed in edge order, and there are no two equal
  batch.edges = make_adjacency(batch.rows(), batch.rows(), ids(source), ids(target));
  return batch;
}

void expect_equal(const Csr& a, const Csr& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_TRUE(torch::equal(a.offsets, b.offsets));
  EXPECT_TRUE(torch::equal(a.indices, b.indices));
}

void expect_equal(const GraphBatch& a, const GraphBatch& b) {
  EXPECT_EQ(a.graphs, b.graphs);
  EXPECT_TRUE(torch::equal(a.node_offsets, b.node_offsets));
  EXPECT_TRUE(torch::equal(a.nodes, b.nodes));
  EXPECT_TRUE(torch::equal(a.graph_of_node, b.graph_of_node));
  EXPECT_TRUE(torch::equal(a.edge_ids, b.edge_ids));
  expect_equal(a.edges->in, b.edges->in);
  expect_equal(a.edges->out, b.edges->out);
  EXPECT_TRUE(torch::equal(a.edges->out_edge, b.edges->out_edge));
}

TEST(PickGraphs, EqualsTheNaiveConstructionForRepeatedAndReorderedIds) {
  for (uint64_t key = 0; key < 20; ++key) {
    const Graph set = random_set(key, 60);
    Stream draws(key, 1000);
    std::vector<int64_t> chosen;
    for (int k = 0; k < 100; ++k) chosen.push_back(static_cast<int64_t>(draws.below(60)));
    expect_equal(pick_graphs(set, ids(chosen)), naive_pick(set, chosen));
    expect_equal(pick_graphs(set, ids({59, 0, 0, 31, 59})), naive_pick(set, {59, 0, 0, 31, 59}));
  }
}

TEST(PickGraphs, AllGraphsInOrderAreTheSetItself) {
  const Graph set = random_set(3, 40);
  const GraphBatch batch = pick_graphs(set, torch::arange(40));
  EXPECT_TRUE(torch::equal(batch.node_offsets, set.parts));
  EXPECT_TRUE(torch::equal(batch.nodes, torch::arange(set.nodes())));
  EXPECT_TRUE(torch::equal(batch.edge_ids, torch::arange(set.edges->nnz())));
  expect_equal(batch.edges->in, set.edges->in);
  expect_equal(batch.edges->out, set.edges->out);
  EXPECT_TRUE(torch::equal(batch.edges->out_edge, set.edges->out_edge));
}

TEST(PickGraphs, NoIdsGiveAnEmptyBatchAndAStridedListIsReadByItsValues) {
  const Graph set = random_set(4, 40);
  const GraphBatch empty = pick_graphs(set, torch::empty({0}, torch::kInt64));
  EXPECT_EQ(empty.graphs, 0);
  EXPECT_EQ(empty.rows(), 0);
  EXPECT_EQ(empty.edges->nnz(), 0);
  const torch::Tensor strided = torch::arange(40).slice(0, 1, 40, 3);
  expect_equal(pick_graphs(set, strided), naive_pick(set, to_vector(strided)));
}

TEST(PickGraphs, SameBitsForAnyThreadCount) {
  const Graph set = random_set(5, 300);
  Stream draws(6);
  const torch::Tensor chosen = ids(draws.choose(300, 300));
  const int before = threads();
  set_threads(1);
  const GraphBatch one = pick_graphs(set, chosen);
  for (const int count : {2, 3}) {
    set_threads(count);
    expect_equal(pick_graphs(set, chosen), one);
  }
  set_threads(before);
}

TEST(PickGraphs, RefusesIdsOutsideTheSetAndASingleGraph) {
  Graph set = random_set(7, 10);
  EXPECT_THROW(pick_graphs(set, ids({3, 10})), Error);
  EXPECT_THROW(pick_graphs(set, ids({-1})), Error);
  set.parts = torch::Tensor();
  EXPECT_THROW(pick_graphs(set, ids({0})), InternalError);
}

Features random_features(uint64_t key, bool values) {
  Features x;
  Stream draws(key);
  std::vector<int64_t> row, column;
  for (int k = 0; k < 300; ++k) {
    row.push_back(static_cast<int64_t>(draws.below(70)));
    column.push_back(static_cast<int64_t>(draws.below(9)));
  }
  x.sparse = make_adjacency(70, 9, ids(column), ids(row));
  if (values) {
    x.sparse_values = torch::empty({x.sparse->nnz()});
    draws.fill_normal(x.sparse_values.data_ptr<float>(), x.sparse->nnz());
  }
  x.dense = torch::empty({70, 4});
  draws.fill_normal(x.dense.data_ptr<float>(), x.dense.numel());
  x.shift = torch::arange(13).to(torch::kFloat32);
  return x;
}

TEST(PickRows, AreTheRowsOfTheDenseMatrixForRepeatedAndReorderedIds) {
  for (uint64_t key = 0; key < 10; ++key) {
    Stream draws(key, 500);
    std::vector<int64_t> chosen;
    for (int k = 0; k < 600; ++k) chosen.push_back(static_cast<int64_t>(draws.below(70)));
    for (const bool values : {false, true}) {
      const Features x = random_features(key, values);
      const Features picked = pick_rows(x, ids(chosen));
      EXPECT_EQ(picked.rows(), 600);
      EXPECT_EQ(picked.sparse_values.defined(), values);
      EXPECT_TRUE(torch::equal(picked.to_dense(), x.to_dense().index_select(0, ids(chosen))));
      const AdjacencyPtr again = with_transpose(picked.sparse->in);
      expect_equal(picked.sparse->out, again->out);
      EXPECT_TRUE(torch::equal(picked.sparse->out_edge, again->out_edge));
    }
  }
}

TEST(PickRows, WorksOnASparseOrADensePartAlone) {
  const torch::Tensor chosen = ids({69, 3, 3, 0});
  Features x = random_features(1, true);
  x.shift = torch::Tensor();
  Features sparse = x, dense = x;
  sparse.dense = torch::Tensor();
  dense.sparse.reset();
  dense.sparse_values = torch::Tensor();
  for (const Features& part : {sparse, dense}) {
    const Features picked = pick_rows(part, chosen);
    EXPECT_FALSE(picked.shift.defined());
    EXPECT_TRUE(torch::equal(picked.to_dense(), part.to_dense().index_select(0, chosen)));
  }
}

TEST(PickRows, SameBitsForAnyThreadCount) {
  const Features x = random_features(2, true);
  const torch::Tensor chosen = torch::arange(700).remainder(70);
  const int before = threads();
  set_threads(1);
  const Features one = pick_rows(x, chosen);
  for (const int count : {2, 3}) {
    set_threads(count);
    const Features other = pick_rows(x, chosen);
    EXPECT_TRUE(torch::equal(other.sparse->in.indices, one.sparse->in.indices));
    EXPECT_TRUE(torch::equal(other.sparse_values, one.sparse_values));
    EXPECT_TRUE(torch::equal(other.dense, one.dense));
  }
  set_threads(before);
}

}  // namespace
}  // namespace grm::pick_tests
