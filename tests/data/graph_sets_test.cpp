#include "data/graph_sets.h"

#include <torch/types.h>

#include "data/describe.h"
#include "data/helpers.h"

namespace grm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Pair = std::pair<int64_t, int64_t>;

torch::Tensor ids(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

// Three graphs: 2 -> 0, 0 -> 1, 1 -> 0; one node alone; 4 -> 5, 5 -> 4, 5 -> 5. Edge data is the
// number of the pair, node data the number of the node.
Domain hand_made_set() {
  Graph set;
  set.name = "hand";
  set.parts = parts_of({3, 1, 2});
  const PackedEdges packed =
      pack_edges(set.parts, ids({2, 0, 5, 1, 5, 4}), ids({0, 1, 5, 0, 4, 5}));
  set.edges = packed.edges;
  set.x.dense = torch::arange(6).to(torch::kFloat32).unsqueeze(1);
  set.edge_weights = packed.pair.to(torch::kFloat32);
  set.edge_x.dense = packed.pair.to(torch::kFloat32).unsqueeze(1) * 10;
  Domain domain = make_domain(std::move(set), ids({0, 1, 1}));
  domain.labels.edge_truth = packed.pair.remainder(2).to(torch::kUInt8);
  return domain;
}

TEST(PackEdges, SortsByTargetThenSourceAndTellsWhichPairEachEdgeWas) {
  const Domain domain = hand_made_set();
  EXPECT_THAT(test::pairs_of(*domain.graph.edges),
              ElementsAre(Pair(1, 0), Pair(2, 0), Pair(0, 1), Pair(5, 4), Pair(4, 5), Pair(5, 5)));
  EXPECT_THAT(test::to_vector(domain.graph.edge_weights), ElementsAre(3, 0, 1, 4, 5, 2));
  EXPECT_THAT(test::to_vector(domain.graph.parts), ElementsAre(0, 3, 4, 6));
}

TEST(PackEdges, OfEqualPairsTheFirstStays) {
  const PackedEdges packed = pack_edges(parts_of({3}), ids({0, 1, 0, 0}), ids({1, 2, 1, 2}));
  EXPECT_THAT(test::pairs_of(*packed.edges), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2)));
  EXPECT_THAT(test::to_vector(packed.pair), ElementsAre(0, 3, 1));
}

TEST(PackEdges, EqualsMakeAdjacencyOnRandomPairs) {
  Stream draws(1);
  std::vector<int64_t> source, target;
  for (int k = 0; k < 4000; ++k) {
    const auto first = static_cast<int64_t>(20 * draws.below(30));
    source.push_back(first + static_cast<int64_t>(draws.below(20)));
    target.push_back(first + static_cast<int64_t>(draws.below(20)));
  }
  const PackedEdges packed =
      pack_edges(parts_of(std::vector<int64_t>(30, 20)), ids(source), ids(target));
  const AdjacencyPtr expected = make_adjacency(600, 600, ids(source), ids(target));
  EXPECT_TRUE(torch::equal(packed.edges->in.offsets, expected->in.offsets));
  EXPECT_TRUE(torch::equal(packed.edges->in.indices, expected->in.indices));
  EXPECT_TRUE(torch::equal(packed.edges->out.indices, expected->out.indices));
  EXPECT_TRUE(torch::equal(packed.edges->out_edge, expected->out_edge));
  const auto [s, t] = edge_list(*packed.edges);
  EXPECT_TRUE(torch::equal(ids(source).index_select(0, packed.pair), s));
  EXPECT_TRUE(torch::equal(ids(target).index_select(0, packed.pair), t));
}

TEST(PackEdges, NamesAPairThatLeavesItsGraphOrTheSet) {
  EXPECT_THAT(test::data_error([] {
                pack_edges(parts_of({2, 2}), ids({0, 1}), ids({1, 2}));
              }),
              HasSubstr("edge 1 is 1 -> 2, which leaves graph 0 with its nodes 0..1"));
  EXPECT_THAT(test::data_error([] {
                pack_edges(parts_of({2, 2}), ids({3}), ids({4}));
              }),
              HasSubstr("edge 0 is 3 -> 4"));
  EXPECT_THAT(test::data_error([] {
                pack_edges(parts_of({2, 2}), ids({-1}), ids({0}));
              }),
              HasSubstr("edge 0 is -1 -> 0"));
}

TEST(PackBothWays, TheReverseHasTheDataOfItsPairUnlessItWasGiven) {
  const PackedEdges packed = pack_both_ways(parts_of({3}), ids({0, 1, 2}), ids({1, 0, 1}));
  EXPECT_THAT(test::pairs_of(*packed.edges),
              ElementsAre(Pair(1, 0), Pair(0, 1), Pair(2, 1), Pair(1, 2)));
  EXPECT_THAT(test::to_vector(packed.pair), ElementsAre(1, 0, 2, 2));
}

TEST(PickSet, HoldsTheGraphsWithTheirNodesEdgesAndData) {
  const Domain domain = hand_made_set();
  const Graph picked = pick_set(domain.graph, ids({2, 0}), "part");
  EXPECT_EQ(picked.name, "part");
  EXPECT_THAT(test::to_vector(picked.parts), ElementsAre(0, 2, 5));
  EXPECT_THAT(test::to_vector(picked.x.dense), ElementsAre(4, 5, 0, 1, 2));
  EXPECT_THAT(test::pairs_of(*picked.edges),
              ElementsAre(Pair(1, 0), Pair(0, 1), Pair(1, 1), Pair(3, 2), Pair(4, 2), Pair(2, 3)));
  EXPECT_THAT(test::to_vector(picked.edge_weights), ElementsAre(4, 5, 2, 3, 0, 1));
  EXPECT_THAT(test::to_vector(picked.edge_x.dense), ElementsAre(40, 50, 20, 30, 0, 10));
}

TEST(AddReverseEdges, CarriesFeaturesWeightsAndTruthToTheReverse) {
  Domain domain = hand_made_set();
  add_reverse_edges(domain);
  // Only 2 -> 0 had no reverse; the others keep what they had.
  EXPECT_THAT(test::pairs_of(*domain.graph.edges),
              ElementsAre(Pair(1, 0), Pair(2, 0), Pair(0, 1), Pair(0, 2), Pair(5, 4), Pair(4, 5),
                          Pair(5, 5)));
  EXPECT_THAT(test::to_vector(domain.graph.edge_weights), ElementsAre(3, 0, 1, 0, 4, 5, 2));
  EXPECT_THAT(test::to_vector(domain.graph.edge_x.dense), ElementsAre(30, 0, 10, 0, 40, 50, 20));
  EXPECT_THAT(test::to_vector(domain.labels.edge_truth), ElementsAre(1, 0, 1, 0, 0, 1, 0));
}

TEST(ReadSplit, NamesTheLineOfANumberOutsideOrTakenBefore) {
  const test::TempFolder folder;
  std::vector<bool> taken(5, false);
  EXPECT_THAT(test::to_vector(read_split(folder.write("a.txt", "3\n0\n"), taken)),
              ElementsAre(3, 0));
  EXPECT_THAT(test::data_error([&] { read_split(folder.write("b.txt", "1\n3\n"), taken); }),
              HasSubstr("b.txt:2: graph 3 came before"));
  EXPECT_THAT(test::data_error([&] { read_split(folder.write("c.txt", "5\n"), taken); }),
              HasSubstr("c.txt:1: graph 5 of a set of 5"));
  EXPECT_THAT(test::data_error([&] { read_split(folder.write("d.txt", "x\n"), taken); }),
              HasSubstr("d.txt:1"));
}

Task task_of(const Domain& domain) {
  Task task;
  task.name = "hand";
  task.level = Level::graph;
  task.classes = 2;
  task.training = task.validation = task.test = {domain};
  return task;
}

TEST(DescribeSet, CountsGraphsSizesAndDegrees) {
  const DomainSummary summary = describe(task_of(hand_made_set()))[0];
  EXPECT_EQ(summary.graphs, 3);
  EXPECT_EQ(summary.nodes, 6);
  EXPECT_DOUBLE_EQ(summary.mean_nodes, 2);
  EXPECT_DOUBLE_EQ(summary.mean_edges, 2);
  EXPECT_EQ(summary.edge_features, 1);
  EXPECT_EQ(summary.truth_edges, 3);
  EXPECT_THAT(summary.labels, ElementsAre(1, 2));
  const auto counts = [](const std::vector<HistogramBin>& bins) {
    std::vector<int64_t> all;
    for (const HistogramBin& bin : bins) all.insert(all.end(), {bin.low, bin.high, bin.count});
    return all;
  };
  EXPECT_THAT(counts(summary.sizes), ElementsAre(1, 1, 1, 2, 2, 1, 3, 3, 1));
  EXPECT_THAT(counts(summary.degrees), ElementsAre(0, 0, 2, 1, 1, 2, 2, 2, 2));
}

TEST(Histogram, BinsAreSingleNumbersBelowFourThenTwoForEachPowerOfTwo) {
  const std::vector<HistogramBin> bins = count_histogram(torch::arange(100));
  std::vector<int64_t> lows;
  int64_t expected_low = 0, total = 0;
  for (const HistogramBin& bin : bins) {
    EXPECT_EQ(bin.low, expected_low);
    EXPECT_EQ(bin.count, std::min<int64_t>(bin.high, 99) - bin.low + 1);
    expected_low = bin.high + 1;
    total += bin.count;
    lows.push_back(bin.low);
  }
  EXPECT_EQ(total, 100);
  EXPECT_THAT(lows, ElementsAre(0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96));
  EXPECT_TRUE(count_histogram(torch::empty({0}, torch::kInt64)).empty());
}

TEST(FingerprintOfASet, ChangesWithPartsAndEdgeData) {
  const std::string before = fingerprint(task_of(hand_made_set()));
  EXPECT_EQ(fingerprint(task_of(hand_made_set())), before);
  Domain other = hand_made_set();
  other.graph.parts = ids({0, 4, 5, 6});
  EXPECT_NE(fingerprint(task_of(other)), before);
  other = hand_made_set();
  other.graph.edge_weights = other.graph.edge_weights * 2;
  EXPECT_NE(fingerprint(task_of(other)), before);
  other = hand_made_set();
  other.graph.edge_x.dense = other.graph.edge_x.dense * 2;
  EXPECT_NE(fingerprint(task_of(other)), before);
  other = hand_made_set();
  other.labels.edge_truth = 1 - other.labels.edge_truth;
  EXPECT_NE(fingerprint(task_of(other)), before);
}

}  // namespace
}  // namespace grm
