#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "core/clock.h"
#include "graph/influence.h"
#include "graph/naive_influence.h"
#include "io/npz.h"
#include "support/real_data.h"

namespace grm {
namespace {

AdjacencyPtr read_cora(const std::string& root) {
  const io::Npz npz = io::read_npz(root + "/cora/cora.npz");
  const torch::Tensor offsets = npz.at("adj_indptr").to(torch::kInt64);
  const torch::Tensor source = npz.at("adj_indices").to(torch::kInt64);
  const int64_t nodes = offsets.numel() - 1;
  const torch::Tensor target =
      torch::repeat_interleave(torch::arange(nodes), offsets.slice(0, 1) - offsets.slice(0, 0, -1));
  return make_adjacency(nodes, nodes, source, target);
}

AdjacencyPtr read_twitch_de(const std::string& root) {
  std::ifstream file(root + "/twitch/DE/musae_DE_edges.csv");
  std::string line;
  std::getline(file, line);
  std::vector<int64_t> source, target;
  while (std::getline(file, line)) {
    long long from = 0, to = 0;
    if (std::sscanf(line.c_str(), "%lld,%lld", &from, &to) != 2) continue;
    source.push_back(from);
    target.push_back(to);
  }
  constexpr int64_t kNodes = 9498;
  return symmetrised(*make_adjacency(kNodes, kNodes, torch::tensor(source), torch::tensor(target)));
}

void print(const char* what, const InfluenceSets& sets, double seconds) {
  std::cout << what << ": " << sets.mean_size() << " members on average, " << seconds << " s\n";
}

// V_i^D of a few nodes, from searches that start at the members of N_i instead of at u.
void expect_sets_of(const Adjacency& edges, const InfluenceSets& sets,
                    const std::vector<int64_t>& nodes) {
  const test::NodeSets neighbours = test::undirected(edges);
  for (const int64_t i : nodes) {
    std::vector<test::Paths> paths;
    for (const int64_t j : neighbours[i]) paths.push_back(test::paths_from(neighbours, j));
    std::vector<const test::Paths*> members;
    for (const test::Paths& from : paths) members.push_back(&from);
    std::set<int64_t> expected = test::naive_selected(members, InfluenceRule());
    if (expected.empty()) {
      expected = neighbours[i];
      expected.insert(i);
    }
    EXPECT_EQ(test::members_of(sets, i), expected) << "node " << i;
  }
}

TEST(InfluenceOnRealData, CoraSetsHoldThirtyFourNodesOnAverage) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const AdjacencyPtr edges = read_cora(*root);
  const Stopwatch clock;
  const InfluenceSets sets = influence_sets(*edges, InfluenceRule());
  print("exact sets of Cora", sets, clock.seconds());
  EXPECT_NEAR(sets.mean_size(), 34.0, 1.0);
  expect_sets_of(*edges, sets, {0, 1, 2, 3, 1000, 2000, 2707});
}

TEST(InfluenceOnRealData, TwitchSetsHoldMostOfTheGraphAndAreFoundInTime) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const AdjacencyPtr edges = read_twitch_de(*root);
  ASSERT_EQ(edges->nnz(), 2 * 153138);
  const Stopwatch clock;
  const InfluenceSets sets = influence_sets(*edges, InfluenceRule());
  const double seconds = clock.seconds();
  print("exact sets of Twitch DE", sets, seconds);
  EXPECT_LT(seconds, 20.0);
  EXPECT_NEAR(sets.mean_size(), 8481.0, 0.005 * 8481.0);
  expect_sets_of(*edges, sets, {0, 1, 2, 5000, 9497});
  InfluenceRule rule;
  rule.sampled = true;
  const Stopwatch sampled_clock;
  const InfluenceSets sampled = influence_sets(*edges, rule);
  print("sampled sets of Twitch DE", sampled, sampled_clock.seconds());
  EXPECT_LE(sampled.sparse->nnz(), 64 * edges->rows());
}

}  // namespace
}  // namespace grm
