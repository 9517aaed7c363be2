// Padded batches against the batches that pick_graphs makes, on the CPU.
#include "graph/padded.h"

#include <gtest/gtest.h>

#include <set>

namespace grm::padded_tests {
namespace {

torch::Tensor ids(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

// Random directed graphs of 1 to 9 nodes; every fifth has no edge.
Graph random_set(uint64_t key, int64_t graphs) {
  Stream draws(key);
  std::vector<int64_t> parts = {0}, source, target;
  for (int64_t g = 0; g < graphs; ++g) {
    const auto n = static_cast<int64_t>(1 + draws.below(9));
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

// A pattern is sound: both directions hold the same pairs, and padding joins padded rows to themselves.
void expect_sound(const Adjacency& a, int64_t counted, int64_t used) {
  const auto [source, target] = edge_list(a);
  ASSERT_EQ(target.numel(), a.nnz());
  ASSERT_EQ(a.in.offset()[a.rows()], a.nnz());
  ASSERT_EQ(a.out.offset()[a.rows()], a.nnz());
  for (int64_t j = 0; j < a.rows(); ++j) {
    EXPECT_LE(a.in.offset()[j], a.in.offset()[j + 1]);
    for (int64_t k = a.out.offset()[j]; k < a.out.offset()[j + 1]; ++k) {
      const int64_t e = a.out_edge.data_ptr<int64_t>()[k];
      EXPECT_EQ(source.data_ptr<int64_t>()[e], j);
      EXPECT_EQ(target.data_ptr<int64_t>()[e], a.out.index()[k]);
    }
  }
  for (int64_t e = used; e < a.nnz(); ++e) {
    EXPECT_EQ(source.data_ptr<int64_t>()[e], target.data_ptr<int64_t>()[e]);
    EXPECT_GE(source.data_ptr<int64_t>()[e], counted);
  }
}

// The first rows and pairs are those of `plain`, with `ids_of` its edge ids.
void expect_begins_with(const Adjacency& padded, const Adjacency& plain) {
  const int64_t n = plain.rows(), e = plain.nnz();
  for (const auto& [a, b] : {std::pair{&padded.in, &plain.in}, {&padded.out, &plain.out}}) {
    EXPECT_TRUE(torch::equal(a->offsets.narrow(0, 0, n + 1), b->offsets));
    EXPECT_TRUE(torch::equal(a->indices.narrow(0, 0, e), b->indices));
  }
  EXPECT_TRUE(torch::equal(padded.out_edge.narrow(0, 0, e), plain.out_edge));
}

TEST(Padded, BatchesAreThoseOfPickGraphsWithRoomBehind) {
  for (uint64_t key = 1; key <= 20; ++key) {
    const Graph set = random_set(key, 30);
    const GraphRooms rooms(set.parts, {set.edges.get()});
    Stream draws(key + 100);
    std::vector<int64_t> chosen;
    for (int k = 0; k < 8; ++k) chosen.push_back(static_cast<int64_t>(draws.below(30)));
    const torch::Tensor wanted = ids(chosen);
    const int64_t room = rooms.room_of(wanted);
    const GraphBatch plain = pick_graphs(set, wanted);
    const PaddedGraphs padded(set.parts, wanted, rooms.rows(8, room));
    const GraphBatch& batch = padded.batch();
    const int64_t n = plain.rows();
    ASSERT_GT(batch.rows(), n);
    EXPECT_EQ(batch.counted.item<int64_t>(), n);
    EXPECT_TRUE(torch::equal(batch.node_offsets, plain.node_offsets));
    EXPECT_TRUE(torch::equal(batch.nodes.narrow(0, 0, n), plain.nodes));
    EXPECT_TRUE(torch::equal(batch.graph_of_node.narrow(0, 0, n), plain.graph_of_node));
    torch::Tensor edge_ids;
    const AdjacencyPtr edges = padded.pattern(*set.edges, rooms.entries(0, 8, room), &edge_ids);
    EXPECT_TRUE(torch::equal(edge_ids.narrow(0, 0, plain.edges->nnz()), plain.edge_ids));
    expect_begins_with(*edges, *plain.edges);
    expect_sound(*edges, n, plain.edges->nnz());
  }
}

TEST(Padded, ARoomFitsAndBatchesOfMeanSizeShareOne) {
  const Graph set = random_set(5, 200);
  const GraphRooms rooms(set.parts, {set.edges.get()});
  Stream draws(1);
  std::set<int64_t> used;
  for (int k = 0; k < 100; ++k) {
    const torch::Tensor wanted = torch::tensor(draws.choose(200, 64), torch::kInt64);
    const int64_t room = rooms.room_of(wanted);
    const GraphBatch plain = pick_graphs(set, wanted);
    EXPECT_GT(rooms.rows(64, room), plain.rows());
    EXPECT_GE(rooms.entries(0, 64, room), plain.edges->nnz());
    used.insert(room);
  }
  EXPECT_LE(used.size(), 3u);
}

// The part that some pairs span, pair by pair.
TEST(Padded, APartHoldsTheKeptPairsAndTheNodesThatTouchThem) {
  for (uint64_t key = 1; key <= 20; ++key) {
    const Graph set = random_set(key, 12);
    const GraphRooms rooms(set.parts, {set.edges.get()});
    const torch::Tensor wanted = torch::arange(12, torch::kInt64);
    const int64_t room = rooms.room_of(wanted);
    const PaddedGraphs padded(set.parts, wanted, rooms.rows(12, room));
    const AdjacencyPtr edges = padded.pattern(*set.edges, rooms.entries(0, 12, room));
    const int64_t used = set.edges->nnz();
    Stream draws(key);
    const torch::Tensor keep = torch::ones({edges->nnz()}, torch::kBool);
    for (int64_t e = 0; e < used; ++e) keep.data_ptr<bool>()[e] = draws.below(3) == 0;
    const PaddedPart part = padded_part(*edges, padded.batch().counted, keep);

    const auto [source, target] = edge_list(*edges);
    std::set<int64_t> nodes;
    std::vector<int64_t> kept;
    for (int64_t e = 0; e < used; ++e) {
      if (!keep.data_ptr<bool>()[e]) continue;
      kept.push_back(e);
      nodes.insert(source.data_ptr<int64_t>()[e]);
      nodes.insert(target.data_ptr<int64_t>()[e]);
    }
    const auto n = static_cast<int64_t>(nodes.size()), m = static_cast<int64_t>(kept.size());
    const std::vector<int64_t> rows(nodes.begin(), nodes.end());
    ASSERT_EQ(part.counted.item<int64_t>(), n);
    EXPECT_TRUE(torch::equal(part.nodes.narrow(0, 0, n), ids(rows)));
    EXPECT_TRUE(torch::equal(part.edge_ids.narrow(0, 0, m), ids(kept)));
    // The way there: -1 for what is left out.
    for (int64_t r = 0; r < edges->rows(); ++r) {
      const int64_t place = part.row_place.data_ptr<int64_t>()[r];
      EXPECT_EQ(place >= 0, nodes.count(r) == 1);
      if (place >= 0) {
        EXPECT_EQ(rows[place], r);
      }
    }
    for (int64_t e = 0; e < edges->nnz(); ++e) {
      const int64_t place = part.edge_place.data_ptr<int64_t>()[e];
      EXPECT_EQ(place >= 0, e < used && keep.data_ptr<bool>()[e]);
      if (place >= 0) {
        EXPECT_EQ(kept[place], e);
      }
    }
    const auto [new_source, new_target] = edge_list(*part.edges);
    for (int64_t e = 0; e < m; ++e) {
      EXPECT_EQ(rows[new_source.data_ptr<int64_t>()[e]], source.data_ptr<int64_t>()[kept[e]]);
      EXPECT_EQ(rows[new_target.data_ptr<int64_t>()[e]], target.data_ptr<int64_t>()[kept[e]]);
    }
    expect_sound(*part.edges, n, m);
  }
}

TEST(Padded, SparseRowsBecomeDense) {
  Features x;
  x.sparse = make_adjacency(4, 5, ids({0, 3, 4, 2}), ids({0, 0, 1, 3}));
  x.sparse_values = torch::tensor({1.5f, -2.0f, 3.0f, 4.0f});
  x.dense = torch::arange(8, torch::kFloat32).view({4, 2});
  const torch::Tensor rows = ids({3, 0, 0, 2});
  EXPECT_TRUE(
      torch::equal(pick_dense_rows(x, rows).to_dense(), x.to_dense().index_select(0, rows)));
  x.sparse_values = torch::Tensor();
  EXPECT_TRUE(
      torch::equal(pick_dense_rows(x, rows).to_dense(), x.to_dense().index_select(0, rows)));
}

}  // namespace
}  // namespace grm::padded_tests
