#include "grm/graph/adjacency.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "grm/core/error.h"
#include "grm/core/rng.h"

namespace grm {
namespace {

using Pair = std::pair<int64_t, int64_t>;  // source, target

AdjacencyPtr make(int64_t rows, int64_t cols, const std::vector<Pair>& pairs) {
  std::vector<int64_t> source, target;
  for (const auto& [s, t] : pairs) {
    source.push_back(s);
    target.push_back(t);
  }
  return make_adjacency(rows, cols, torch::tensor(source, torch::kInt64),
                        torch::tensor(target, torch::kInt64));
}

std::set<Pair> pairs_of(const Adjacency& edges) {
  std::set<Pair> pairs;
  for (int64_t i = 0; i < edges.rows(); ++i) {
    for (int64_t e = edges.in.offset()[i]; e < edges.in.offset()[i + 1]; ++e) {
      pairs.emplace(edges.in.index()[e], i);
    }
  }
  return pairs;
}

// Rows ascend strictly, and `out` lists the same pairs with the edge ids they have in `in`.
void expect_consistent(const Adjacency& edges) {
  ASSERT_EQ(edges.in.offsets.numel(), edges.rows() + 1);
  ASSERT_EQ(edges.out.offsets.numel(), edges.cols() + 1);
  ASSERT_EQ(edges.out.nnz(), edges.nnz());
  ASSERT_EQ(edges.out_edge.numel(), edges.nnz());
  EXPECT_EQ(edges.in.offset()[0], 0);
  EXPECT_EQ(edges.in.offset()[edges.rows()], edges.nnz());
  EXPECT_EQ(edges.out.rows, edges.cols());
  EXPECT_EQ(edges.out.cols, edges.rows());
  const auto [source, target] = edge_list(edges);
  for (int64_t i = 0; i < edges.rows(); ++i) {
    for (int64_t e = edges.in.offset()[i] + 1; e < edges.in.offset()[i + 1]; ++e) {
      EXPECT_LT(edges.in.index()[e - 1], edges.in.index()[e]);
    }
  }
  std::set<int64_t> seen;
  for (int64_t j = 0; j < edges.cols(); ++j) {
    for (int64_t k = edges.out.offset()[j]; k < edges.out.offset()[j + 1]; ++k) {
      const int64_t e = edges.out_edge.data_ptr<int64_t>()[k];
      EXPECT_EQ(source[e].item<int64_t>(), j);
      EXPECT_EQ(target[e].item<int64_t>(), edges.out.index()[k]);
      if (k > edges.out.offset()[j]) {
        EXPECT_LT(edges.out.index()[k - 1], edges.out.index()[k]);
      }
      seen.insert(e);
    }
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), edges.nnz());
}

std::vector<Pair> random_pairs(uint64_t key, int64_t rows, int64_t cols, int64_t count) {
  Stream draws(key);
  std::vector<Pair> pairs;
  for (int64_t k = 0; k < count; ++k) pairs.emplace_back(draws.below(cols), draws.below(rows));
  return pairs;
}

TEST(Adjacency, MergesDuplicatesAndKeepsSelfLoops) {
  const AdjacencyPtr edges = make(3, 3, {{0, 1}, {2, 2}, {0, 1}, {1, 0}, {2, 2}, {2, 1}});
  EXPECT_EQ(pairs_of(*edges), (std::set<Pair>{{0, 1}, {2, 2}, {1, 0}, {2, 1}}));
  EXPECT_EQ(edges->nnz(), 4);
  expect_consistent(*edges);
}

TEST(Adjacency, HoldsExactlyTheGivenPairsAndTheirTranspose) {
  for (uint64_t key = 0; key < 20; ++key) {
    const int64_t rows = 1 + key % 7, cols = 1 + (key * 5) % 11;
    const std::vector<Pair> pairs = random_pairs(key, rows, cols, 30);
    const AdjacencyPtr edges = make(rows, cols, pairs);
    EXPECT_EQ(pairs_of(*edges), std::set<Pair>(pairs.begin(), pairs.end()));
    expect_consistent(*edges);
  }
}

TEST(Adjacency, EdgeListGivesTheGraphBack) {
  const AdjacencyPtr edges = make(8, 8, random_pairs(3, 8, 8, 25));
  const auto [source, target] = edge_list(*edges);
  const AdjacencyPtr again = make_adjacency(8, 8, source, target);
  EXPECT_TRUE(torch::equal(again->in.offsets, edges->in.offsets));
  EXPECT_TRUE(torch::equal(again->in.indices, edges->in.indices));
}

TEST(Adjacency, SymmetrisedHoldsEachPairInBothDirectionsOnce) {
  const std::vector<Pair> pairs = random_pairs(5, 9, 9, 30);
  std::set<Pair> both;
  for (const auto& [s, t] : pairs) {
    both.emplace(s, t);
    both.emplace(t, s);
  }
  const AdjacencyPtr edges = symmetrised(*make(9, 9, pairs));
  EXPECT_EQ(pairs_of(*edges), both);
  expect_consistent(*edges);
}

TEST(Adjacency, WithSelfLoopsAddsMissingOnesAndTellsWhereEdgesWent) {
  for (uint64_t key = 0; key < 20; ++key) {
    const AdjacencyPtr edges = make(6, 6, random_pairs(key, 6, 6, static_cast<int64_t>(key)));
    torch::Tensor moved;
    const AdjacencyPtr looped = with_self_loops(*edges, &moved);
    std::set<Pair> expected = pairs_of(*edges);
    for (int64_t i = 0; i < 6; ++i) expected.emplace(i, i);
    EXPECT_EQ(pairs_of(*looped), expected);
    expect_consistent(*looped);
    const auto [source, target] = edge_list(*edges);
    const auto [new_source, new_target] = edge_list(*looped);
    ASSERT_EQ(moved.numel(), edges->nnz());
    EXPECT_TRUE(torch::equal(new_source.index_select(0, moved), source));
    EXPECT_TRUE(torch::equal(new_target.index_select(0, moved), target));
  }
}

TEST(Adjacency, RefusesPairsOutsideTheGraphAndNamesThem) {
  for (const Pair& wrong : {Pair{7, 1}, Pair{1, 5}, Pair{-1, 0}, Pair{0, -2}}) {
    try {
      make(5, 5, {{0, 1}, wrong, {9, 9}});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      const std::string text = error.what();
      const std::string pair = std::to_string(wrong.first) + " -> " + std::to_string(wrong.second);
      EXPECT_NE(text.find("edge 1 is " + pair), std::string::npos) << text;
    }
  }
}

TEST(Adjacency, RefusesUnequalNumbersOfSourcesAndTargets) {
  EXPECT_THROW(
      make_adjacency(3, 3, torch::zeros({2}, torch::kInt64), torch::zeros({3}, torch::kInt64)),
      Error);
}

TEST(Adjacency, EmptyGraphsAreGraphs) {
  for (const int64_t nodes : {0, 4}) {
    const AdjacencyPtr edges = make(nodes, nodes, {});
    EXPECT_EQ(edges->nnz(), 0);
    expect_consistent(*edges);
    expect_consistent(*symmetrised(*edges));
    EXPECT_EQ(with_self_loops(*edges)->nnz(), nodes);
  }
}

}  // namespace
}  // namespace grm
