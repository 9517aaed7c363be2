#include "graph/local_influence.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/sample_graph.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"

namespace grm::local_influence_tests {
namespace {

AdjacencyPtr random_graph(int64_t nodes, int64_t pairs, uint64_t seed) {
  Stream draws(seed);
  std::vector<int64_t> from, to;
  for (int64_t k = 0; k < pairs; ++k) {
    from.push_back(static_cast<int64_t>(draws.below(nodes)));
    to.push_back(static_cast<int64_t>(draws.below(nodes)));
  }
  return make_adjacency(nodes, nodes, torch::tensor(from, torch::kInt64),
                        torch::tensor(to, torch::kInt64));
}

std::set<int64_t> two_hops(const Adjacency& edges, int64_t i) {
  const AdjacencyPtr both = symmetrised(edges);
  std::set<int64_t> ball = {i};
  for (int hop = 0; hop < 2; ++hop) {
    std::set<int64_t> next = ball;
    for (const int64_t u : ball) {
      for (int64_t k = both->in.offset()[u]; k < both->in.offset()[u + 1]; ++k) {
        next.insert(both->in.index()[k]);
      }
    }
    ball = next;
  }
  return ball;
}

std::set<int64_t> row(const Csr& sets, int64_t k) {
  return {sets.index() + sets.offset()[k], sets.index() + sets.offset()[k + 1]};
}

// influence_sets is itself tested against networkx and brute force.
TEST(LocalInfluence, WithAllNeighboursItIsTheExactSetWithinTwoHops) {
  int64_t checked = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const int64_t nodes = 12 + static_cast<int64_t>(seed);
    const AdjacencyPtr edges = random_graph(nodes, nodes * (1 + seed % 4), seed);
    InfluenceRule rule;
    const InfluenceSets exact = influence_sets(*edges, rule);
    rule.sampled = true;
    rule.members = nodes;
    rule.neighbours = nodes;
    const LocalInfluence local(*edges, rule);
    const Csr sets = local.sets(torch::arange(nodes, torch::kInt64));
    const AdjacencyPtr both = symmetrised(*edges);
    for (int64_t i = 0; i < nodes; ++i) {
      std::set<int64_t> expected;
      for (const int64_t u : two_hops(*edges, i)) {
        if (exact.contains(i, u)) expected.insert(u);
      }
      // Where no member lies within two hops the set is i and its neighbours; the exact set is then
      // either that as well, or all of its members lie further away.
      bool fallback = expected.empty();
      if (fallback) {
        expected.insert(i);
        for (int64_t k = both->in.offset()[i]; k < both->in.offset()[i + 1]; ++k) {
          expected.insert(both->in.index()[k]);
        }
      }
      EXPECT_EQ(row(sets, i), expected) << "seed " << seed << ", node " << i;
      checked += fallback ? 0 : 1;
    }
  }
  EXPECT_GT(checked, 300);
}

TEST(LocalInfluence, KeepsAtMostSoManyMembersAndThoseOfTheWholeSet) {
  const AdjacencyPtr edges = random_graph(200, 1500, 7);
  InfluenceRule rule;
  rule.sampled = true;
  rule.members = 200;
  rule.neighbours = 4;
  const torch::Tensor all = torch::arange(200, torch::kInt64);
  const Csr whole = LocalInfluence(*edges, rule).sets(all);
  rule.members = 5;
  const Csr few = LocalInfluence(*edges, rule).sets(all);
  for (int64_t i = 0; i < 200; ++i) {
    const std::set<int64_t> large = row(whole, i), small = row(few, i);
    EXPECT_EQ(small.size(), std::min<size_t>(5, large.size()));
    for (const int64_t u : small) EXPECT_TRUE(large.count(u));
  }
}

TEST(LocalInfluence, ASetDependsNeitherOnTheOthersNorOnThreads) {
  const AdjacencyPtr edges = random_graph(300, 2000, 3);
  InfluenceRule rule;
  rule.sampled = true;
  const LocalInfluence local(*edges, rule);
  const Csr all = local.sets(torch::arange(300, torch::kInt64));
  const int before = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    const Csr some = local.sets(torch::tensor({7, 299, 7}, torch::kInt64));
    EXPECT_EQ(row(some, 0), row(all, 7));
    EXPECT_EQ(row(some, 1), row(all, 299));
    EXPECT_EQ(row(some, 2), row(all, 7));
  }
  set_threads(before);
}

TEST(LocalInfluence, ANodeAloneIsItsOwnSet) {
  const AdjacencyPtr edges = make_adjacency(3, 3, torch::tensor({0, 2}, torch::kInt64),
                                            torch::tensor({1, 2}, torch::kInt64));
  InfluenceRule rule;
  rule.sampled = true;
  const Csr sets = LocalInfluence(*edges, rule).sets(torch::tensor({2}, torch::kInt64));
  EXPECT_EQ(row(sets, 0), (std::set<int64_t>{2}));
}

TEST(LocalInfluence, ReadsListsThatAreTheirOwnTransposeWithoutACopy) {
  const AdjacencyPtr edges = symmetrised(*test::graph_to_sample(60, 3).edges);
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < 60; ++i) {
    for (int64_t e = edges->in.offset()[i]; e < edges->in.offset()[i + 1]; ++e) {
      if (edges->in.index()[e] == i) continue;
      source.push_back(edges->in.index()[e]);
      target.push_back(i);
    }
  }
  const AdjacencyPtr plain = make_adjacency(60, 60, torch::tensor(source, torch::kInt64),
                                            torch::tensor(target, torch::kInt64));
  Adjacency one_way;
  one_way.in = one_way.out = plain->in;
  Adjacency with_loops = one_way;
  with_loops.in = with_loops.out = edges->in;
  InfluenceRule rule;
  rule.max_length = 3.0;
  rule.min_paths = 1.5;
  rule.sampled = true;
  rule.members = rule.neighbours = 8;
  const torch::Tensor nodes = torch::arange(60, torch::kInt64);
  const Csr expected = LocalInfluence(*plain, rule).sets(nodes);
  for (const Adjacency* each : {&one_way, &with_loops}) {
    const Csr found = LocalInfluence(*each, rule).sets(nodes);
    EXPECT_TRUE(torch::equal(found.offsets, expected.offsets));
    EXPECT_TRUE(torch::equal(found.indices, expected.indices));
  }
}

}  // namespace
}  // namespace grm::local_influence_tests
