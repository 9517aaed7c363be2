#include "graph/influence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/naive_influence.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"
#include "support/golden.h"

namespace grm::influence_tests {
namespace {

using test::members_of;
using test::naive_influence;
using test::NodeSets;

torch::Tensor ids(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

AdjacencyPtr graph_of(int64_t nodes, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  std::vector<int64_t> source, target;
  for (const auto& [s, t] : pairs) {
    source.push_back(s);
    target.push_back(t);
  }
  return make_adjacency(nodes, nodes, ids(source), ids(target));
}

// Pairs stored in one direction, in both, or as self-loops; sparse ones are disconnected.
AdjacencyPtr random_graph(uint64_t key, int64_t largest) {
  Stream draws(key);
  const auto nodes = static_cast<int64_t>(1 + draws.below(largest));
  const auto pairs = static_cast<int64_t>(static_cast<double>(nodes) * draws.uniform(0.2, 4.0));
  std::vector<std::pair<int64_t, int64_t>> list;
  for (int64_t k = 0; k < pairs; ++k) {
    list.emplace_back(draws.below(nodes), draws.below(nodes));
    if (draws.below(3) == 0) list.emplace_back(list.back().second, list.back().first);
  }
  return graph_of(nodes, list);
}

AdjacencyPtr one_random_graph() {
  return random_graph(77, 140);
}

void expect_sets(const InfluenceSets& sets, const NodeSets& expected) {
  ASSERT_EQ(sets.nodes, static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < sets.nodes; ++i) {
    EXPECT_EQ(members_of(sets, i), expected[i]) << "node " << i;
    EXPECT_EQ(sets.size(i), static_cast<int64_t>(expected[i].size()));
  }
}

InfluenceRule rule_of(double max_length, double min_paths) {
  InfluenceRule rule;
  rule.max_length = max_length;
  rule.min_paths = min_paths;
  return rule;
}

TEST(Influence, EqualsTheSetsFoundByNetworkxOnSixteenGraphs) {
  const test::Golden golden("influence.npz");
  int graphs = 0;
  for (const auto& [name, edges] : golden.arrays()) {
    const size_t suffix = name.find("__edges");
    if (suffix == std::string::npos) continue;
    const std::string graph = name.substr(0, suffix);
    const torch::Tensor selected = golden.at(graph + "__selected").to(torch::kInt64);
    const auto nodes = golden.at(graph + "__nodes").item<int64_t>();
    ASSERT_EQ(selected.size(0), nodes);
    NodeSets expected(nodes);
    for (int64_t i = 0; i < nodes; ++i) {
      for (int64_t u = 0; u < nodes; ++u) {
        if (selected[i][u].item<int64_t>() != 0) expected[i].insert(u);
      }
    }
    SCOPED_TRACE(graph);
    const AdjacencyPtr pattern = make_adjacency(nodes, nodes, edges[0], edges[1]);
    expect_sets(influence_sets(*pattern, InfluenceRule()), expected);
    ++graphs;
  }
  EXPECT_EQ(graphs, 16);
}

TEST(Influence, EqualsBruteForceOnRandomGraphs) {
  const std::vector<InfluenceRule> rules = {rule_of(3, 1.5),   rule_of(2, 2),   rule_of(1.5, 1),
                                            rule_of(2.3, 1.2), rule_of(4, 3),   rule_of(0, 1),
                                            rule_of(2.5, 0),   rule_of(30, 1.1)};
  for (uint64_t key = 0; key < 200; ++key) {
    SCOPED_TRACE(key);
    const AdjacencyPtr edges = random_graph(key, key < 150 ? 60 : 150);
    expect_sets(influence_sets(*edges, InfluenceRule()), naive_influence(*edges, InfluenceRule()));
    const InfluenceRule& rule = rules[key % rules.size()];
    expect_sets(influence_sets(*edges, rule), naive_influence(*edges, rule));
  }
}

TEST(Influence, EqualsBruteForceAroundAHub) {
  Stream draws(5);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t j = 1; j < 620; ++j) pairs.emplace_back(0, j);
  for (int64_t k = 0; k < 900; ++k) pairs.emplace_back(draws.below(700), draws.below(700));
  const AdjacencyPtr edges = graph_of(700, pairs);
  for (const double limit : {1.05, 1.5}) {
    const InfluenceRule rule = rule_of(3, limit);
    expect_sets(influence_sets(*edges, rule), naive_influence(*edges, rule));
  }
}

TEST(Influence, CountsBeyondTheRangeOfAFloatStayExact) {
  // Eight layers of 20 nodes, each joined to all of the next, and one node joined to the last
  // layer: from node 0 there are 20^6 = 64,000,000 paths to each of its neighbours.
  constexpr int64_t kLast = 160;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t a = 0; a < kLast; ++a) {
    const int64_t next = a / 20 + 1;
    for (int64_t b = 20 * next; b < std::min(20 * next + 20, kLast + 1); ++b)
      pairs.emplace_back(a, b);
  }
  const AdjacencyPtr edges = graph_of(kLast + 1, pairs);
  const double most = std::pow(20.0, 6);
  for (const double limit : {1.5, 20.0, most - 1.0, most, most + 1.0}) {
    const InfluenceRule rule = rule_of(7, limit);
    const InfluenceSets sets = influence_sets(*edges, rule);
    expect_sets(sets, naive_influence(*edges, rule));
    EXPECT_EQ(sets.contains(kLast, 0), limit <= most);
  }
}

TEST(Influence, AGeometricMeanEqualToTheLimitIsReached) {
  // 0 is joined to m middle nodes, these to k far nodes, these to the last node: from 0 there are
  // exactly m paths to each of the k neighbours of the last node.
  for (const int64_t m : {2, 3, 5, 6, 7, 10}) {
    for (const int64_t k : {1, 3, 7, 40}) {
      std::vector<std::pair<int64_t, int64_t>> pairs;
      const int64_t last = 1 + m + k;
      for (int64_t a = 1; a <= m; ++a) {
        pairs.emplace_back(0, a);
        for (int64_t b = 1 + m; b < last; ++b) pairs.emplace_back(a, b);
      }
      for (int64_t b = 1 + m; b < last; ++b) pairs.emplace_back(b, last);
      const AdjacencyPtr edges = graph_of(last + 1, pairs);
      const auto limit = static_cast<double>(m);
      const auto selected = [&](double paths) {
        return influence_sets(*edges, rule_of(2, paths)).contains(last, 0);
      };
      EXPECT_TRUE(selected(limit));
      EXPECT_TRUE(selected(std::nextafter(limit, 0.0)));
      EXPECT_FALSE(selected(std::nextafter(limit, 100.0)));
    }
  }
}

TEST(Influence, DoesNotDependOnTheNumberOfThreads) {
  const AdjacencyPtr edges = random_graph(1234, 5000);
  ASSERT_GT(edges->rows(), 500);
  InfluenceRule sampled;
  sampled.sampled = true;
  sampled.members = 10;
  sampled.neighbours = 3;
  const int before = threads();
  set_threads(1);
  const InfluenceSets exact_one = influence_sets(*edges, InfluenceRule());
  const InfluenceSets sampled_one = influence_sets(*edges, sampled);
  for (const int count : {2, 5}) {
    set_threads(count);
    EXPECT_TRUE(torch::equal(influence_sets(*edges, InfluenceRule()).bits, exact_one.bits));
    const InfluenceSets again = influence_sets(*edges, sampled);
    EXPECT_TRUE(torch::equal(again.sparse->in.offsets, sampled_one.sparse->in.offsets));
    EXPECT_TRUE(torch::equal(again.sparse->in.indices, sampled_one.sparse->in.indices));
  }
  set_threads(before);
}

TEST(Influence, ReportsProgressUpToOne) {
  const AdjacencyPtr edges = random_graph(1234, 5000);
  for (const bool sampled : {false, true}) {
    InfluenceRule rule;
    rule.sampled = sampled;
    double last = 0.0;
    influence_sets(*edges, rule, [&](double share) {
      EXPECT_GT(share, last);
      last = share;
    });
    EXPECT_EQ(last, 1.0);
  }
}

TEST(Influence, AnEmptyGraphHasNoSets) {
  const AdjacencyPtr edges = graph_of(0, {});
  InfluenceRule rule;
  EXPECT_EQ(influence_sets(*edges, rule).nodes, 0);
  rule.sampled = true;
  EXPECT_EQ(influence_sets(*edges, rule).nodes, 0);
}

TEST(Influence, RefusesRulesThatMakeNoSense) {
  const AdjacencyPtr edges = graph_of(2, {{0, 1}});
  const double nan = std::nan("");
  for (const auto& rule : {rule_of(-1, 1.5), rule_of(251, 1.5), rule_of(nan, 1.5), rule_of(3, -1),
                           rule_of(3, nan), rule_of(3, INFINITY)}) {
    EXPECT_THROW(influence_sets(*edges, rule), Error);
  }
  InfluenceRule rule;
  rule.sampled = true;
  rule.members = 0;
  EXPECT_THROW(influence_sets(*edges, rule), Error);
}

TEST(SampledInfluence, TakesTheAskedNumberFromTheExactSetWhenAllNeighboursEstimate) {
  for (uint64_t key = 0; key < 60; ++key) {
    const AdjacencyPtr edges = random_graph(key, 150);
    InfluenceRule rule;
    rule.sampled = true;
    rule.neighbours = 1000;
    rule.members = 1 + static_cast<int64_t>(key % 12);
    rule.seed = key;
    const NodeSets exact = naive_influence(*edges, rule);
    const InfluenceSets sets = influence_sets(*edges, rule);
    ASSERT_FALSE(sets.exact());
    for (int64_t i = 0; i < edges->rows(); ++i) {
      EXPECT_EQ(sets.size(i), std::min<int64_t>(rule.members, exact[i].size()));
      for (const int64_t u : members_of(sets, i)) EXPECT_EQ(exact[i].count(u), 1u);
    }
  }
}

TEST(SampledInfluence, FewNeighboursEstimateTheMeansLikeSomeSubsetOfTheirNumber) {
  const AdjacencyPtr edges = one_random_graph();
  const NodeSets neighbours = test::undirected(*edges);
  InfluenceRule rule;
  rule.sampled = true;
  rule.neighbours = 2;
  rule.members = 1000;
  const InfluenceSets sets = influence_sets(*edges, rule);
  int checked = 0;
  for (int64_t i = 0; i < edges->rows(); ++i) {
    const std::vector<int64_t> near(neighbours[i].begin(), neighbours[i].end());
    bool found = false;
    for (size_t a = 0; a < near.size(); ++a) {
      for (size_t b = a + 1; b < near.size(); ++b) {
        const test::Paths first = test::paths_from(neighbours, near[a]);
        const test::Paths second = test::paths_from(neighbours, near[b]);
        std::set<int64_t> expected = test::naive_selected({&first, &second}, rule);
        if (expected.empty()) {
          expected = neighbours[i];
          expected.insert(i);
        }
        found = found || expected == members_of(sets, i);
      }
    }
    if (near.size() < 2) continue;
    EXPECT_TRUE(found) << "node " << i;
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(SampledInfluence, EveryMemberOfTheSetIsEquallyLikely) {
  const AdjacencyPtr edges = one_random_graph();
  InfluenceRule rule;
  rule.sampled = true;
  rule.neighbours = 1000;
  rule.members = 7;
  const NodeSets exact = naive_influence(*edges, rule);
  constexpr int kSeeds = 3000;
  std::vector<std::vector<double>> hits(edges->rows(), std::vector<double>(edges->rows(), 0.0));
  for (int seed = 0; seed < kSeeds; ++seed) {
    rule.seed = 100 + static_cast<uint64_t>(seed);
    const InfluenceSets sets = influence_sets(*edges, rule);
    const int32_t* index = sets.sparse->in.index();
    for (int64_t i = 0; i < sets.nodes; ++i) {
      for (int64_t e = sets.sparse->in.offset()[i]; e < sets.sparse->in.offset()[i + 1]; ++e) {
        hits[i][index[e]] += 1.0;
      }
    }
  }
  int checked = 0;
  for (int64_t i = 0; i < edges->rows(); ++i) {
    const auto size = static_cast<double>(exact[i].size());
    if (size < 12) continue;
    const double expected = kSeeds * 7.0 / size;
    double chi = 0.0;
    for (const int64_t u : exact[i]) chi += std::pow(hits[i][u] - expected, 2) / expected;
    // Mean size - 1 at most, deviation sqrt(2 (size - 1)); five deviations for the many nodes.
    EXPECT_LT(chi, size - 1.0 + 5.0 * std::sqrt(2.0 * (size - 1.0))) << "node " << i;
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

}  // namespace
}  // namespace grm::influence_tests
