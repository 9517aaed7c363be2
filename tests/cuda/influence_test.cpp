// Influence sets that a GPU searches are those of the CPU, bit for bit.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "devices.h"
#include "graph/influence.h"
#include "ops/harness.h"

namespace grm::test {
namespace {

void expect_same_sets(const Adjacency& edges, const InfluenceRule& rule) {
  const OnDevice here(gpu());
  const auto host = influence_sets(edges, rule).to_tensors();
  const auto there = influence_sets(edges, rule, {}, gpu()).to_tensors();
  for (const auto& [name, tensor] : host) {
    EXPECT_TRUE(torch::equal(tensor, there.at(name))) << name;
  }
}

TEST(DeviceInfluence, ExactAndSampledSetsAreThoseOfTheHost) {
  for (const int64_t nodes : {1, 63, 64, 700, 2500}) {
    const AdjacencyPtr edges = power_law(nodes, nodes, 4 * nodes);
    for (const bool sampled : {false, true}) {
      for (const double paths : {1.0, 1.5, 2.0, 3.0}) {
        SCOPED_TRACE(testing::Message()
                     << nodes << " nodes, " << paths << " paths" << (sampled ? ", sampled" : ""));
        InfluenceRule rule;
        rule.min_paths = paths;
        rule.sampled = sampled;
        rule.members = 16;
        expect_same_sets(*edges, rule);
      }
    }
  }
}

// Five layers of 300 nodes, each joined to all of the next: 300^3 shortest paths between the ends,
// beyond the exact floats.
TEST(DeviceInfluence, CountsBeyondAFloatAreSearchedAgain) {
  constexpr int64_t kWide = 300, kLayers = 5;
  std::vector<int64_t> source, target;
  for (int64_t layer = 0; layer + 1 < kLayers; ++layer) {
    for (int64_t a = 0; a < kWide; ++a) {
      for (int64_t b = 0; b < kWide; ++b) {
        source.push_back(layer * kWide + a);
        target.push_back((layer + 1) * kWide + b);
      }
    }
  }
  const AdjacencyPtr edges =
      make_adjacency(kLayers * kWide, kLayers * kWide, torch::tensor(source, torch::kInt64),
                     torch::tensor(target, torch::kInt64));
  InfluenceRule rule;
  rule.max_length = 4.0;
  rule.min_paths = 1000.0;
  expect_same_sets(*edges, rule);
}

}  // namespace
}  // namespace grm::test
