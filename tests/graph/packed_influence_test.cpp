// Influential nodes of many small graphs at once, against the definition on each graph alone.
#include "graph/packed_influence.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/core/rng.h"
#include "grm/graph/batch.h"
#include "naive_influence.h"
#include "support/expect_error.h"

namespace grm {
namespace {

// Random graphs of the given sizes, packed; some nodes stay isolated.
Graph packed(const std::vector<int64_t>& sizes, double mean_degree, uint64_t seed) {
  Stream draw = Rng(seed).stream("graphs");
  std::vector<int64_t> source, target, parts = {0};
  for (const int64_t n : sizes) {
    const auto edges = static_cast<int64_t>(mean_degree * static_cast<double>(n) / 2);
    for (int64_t e = 0; e < edges; ++e) {
      source.push_back(parts.back() + static_cast<int64_t>(draw.below(n)));
      target.push_back(parts.back() + static_cast<int64_t>(draw.below(n)));
    }
    parts.push_back(parts.back() + n);
  }
  Graph set;
  set.name = "packed";
  set.parts = torch::tensor(parts, torch::kInt64);
  set.edges = make_adjacency(parts.back(), parts.back(), torch::tensor(source, torch::kInt64),
                             torch::tensor(target, torch::kInt64));
  return set;
}

std::set<int64_t> row(const Csr& csr, int64_t i) {
  return {csr.index() + csr.offset()[i], csr.index() + csr.offset()[i + 1]};
}

const std::vector<int64_t> kSizes = {5, 1, 64, 3, 130, 20, 65, 2, 200, 7};

TEST(PackedInfluence, SetsOfABatchEqualTheDefinitionOnEachGraphAlone) {
  const Graph set = packed(kSizes, 3.5, 1);
  const PackedInfluence influence = packed_influence(*set.edges, set.parts, InfluenceRule());
  const torch::Tensor ids = torch::tensor({8, 1, 4, 0, 9}, torch::kInt64);
  const AdjacencyPtr pattern = influence.pick(ids);
  const GraphBatch batch = pick_graphs(set, ids);
  ASSERT_EQ(pattern->rows(), batch.rows());
  for (int64_t b = 0; b < ids.numel(); ++b) {
    const GraphBatch alone = pick_graphs(set, ids.narrow(0, b, 1));
    const test::NodeSets expected = test::naive_influence(*alone.edges, InfluenceRule());
    const int64_t first = batch.node_offsets[b].item<int64_t>();
    for (int64_t i = 0; i < alone.rows(); ++i) {
      std::set<int64_t> moved;
      for (const int64_t u : expected[i]) moved.insert(first + u);
      EXPECT_EQ(row(pattern->in, first + i), moved) << "graph " << b << " node " << i;
    }
  }
}

TEST(PackedInfluence, NoSetLeavesItsGraph) {
  const Graph set = packed(kSizes, 4, 2);
  const AdjacencyPtr pattern = packed_influence(*set.edges, set.parts, InfluenceRule())
                                   .pick(torch::arange(set.items(), torch::kInt64));
  const auto [member, node] = edge_list(*pattern);
  const torch::Tensor owner =
      torch::arange(set.items(), torch::kInt64).repeat_interleave(set.parts.diff());
  EXPECT_TRUE(torch::equal(owner.index_select(0, member), owner.index_select(0, node)));
  EXPECT_TRUE(pattern->in.offsets.diff().ge(1).all().item<bool>());
}

TEST(PackedInfluence, TheTransposeHoldsTheSamePairs) {
  const Graph set = packed(kSizes, 4, 3);
  const AdjacencyPtr pattern = packed_influence(*set.edges, set.parts, InfluenceRule())
                                   .pick(torch::tensor({6, 2, 2, 7}, torch::kInt64));
  const AdjacencyPtr expected = with_transpose(pattern->in);
  EXPECT_TRUE(torch::equal(pattern->out.offsets, expected->out.offsets));
  EXPECT_TRUE(torch::equal(pattern->out.indices, expected->out.indices));
  EXPECT_TRUE(torch::equal(pattern->out_edge, expected->out_edge));
}

TEST(PackedInfluence, MeanSizeCountsMembers) {
  // A path of three nodes: no pair of nodes has two shortest paths, so V_i is i and its
  // neighbours: 2 + 3 + 2 members.
  Graph set;
  set.parts = torch::tensor({0, 3}, torch::kInt64);
  set.edges = make_adjacency(3, 3, torch::tensor({0, 1}, torch::kInt64),
                             torch::tensor({1, 2}, torch::kInt64));
  EXPECT_DOUBLE_EQ(packed_influence(*set.edges, set.parts, InfluenceRule()).mean_size(), 7.0 / 3);
}

TEST(PackedInfluence, FilesGiveBackTheSetsAndDamageIsAnError) {
  const Graph set = packed(kSizes, 4, 4);
  const PackedInfluence influence = packed_influence(*set.edges, set.parts, InfluenceRule());
  const PackedInfluence again = PackedInfluence::from_tensors(influence.to_tensors(), set.parts);
  EXPECT_TRUE(torch::equal(again.bits, influence.bits));
  const auto refused = [&](const torch::Tensor& bits) {
    return test::error_of(ErrorKind::data, [&] {
      PackedInfluence::from_tensors({{"graph_bits", bits}}, set.parts);
    });
  };
  EXPECT_THAT(refused(influence.bits.narrow(0, 0, 10)), testing::HasSubstr("graph_bits"));
  EXPECT_THAT(refused(torch::zeros_like(influence.bits)), testing::HasSubstr("no members"));
  EXPECT_THAT(refused(torch::full_like(influence.bits, -1)), testing::HasSubstr("outside"));
}

TEST(PackedInfluence, AGraphOutsideTheSetIsAnError) {
  const Graph set = packed({4, 4}, 3, 5);
  const PackedInfluence influence = packed_influence(*set.edges, set.parts, InfluenceRule());
  test::error_of(ErrorKind::shape, [&] { influence.pick(torch::tensor({2}, torch::kInt64)); });
}

}  // namespace
}  // namespace grm
