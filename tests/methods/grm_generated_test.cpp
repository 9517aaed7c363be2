// The part of a generated graph that is shown.
#include "methods/grm/generated.h"

#include <gtest/gtest.h>
#include <torch/types.h>

namespace grm::grm_generated_tests {
namespace {

torch::Tensor ints(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

// 0 <- 3 (0.2), 0 <- 1 (0.9), 0 <- 4 (0.5), 1 <- 5 (0.7), 3 <- 6 (0.8), 5 <- 2 (1.0), 0 -> 7 (1.0)
GeneratedGraph star() {
  GeneratedGraph g;
  g.nodes = ints({10, 11, 12, 13, 14, 15, 16, 17});
  g.centre = 0;
  g.source = ints({3, 1, 4, 5, 6, 2, 0});
  g.target = ints({0, 0, 0, 1, 3, 5, 7});
  g.weight = torch::tensor({0.2, 0.9, 0.5, 0.7, 0.8, 1.0, 1.0}, torch::kFloat64);
  g.samples = g.weight.unsqueeze(0);
  g.spread = torch::zeros_like(g.weight);
  g.distance = torch::arange(8, torch::kFloat64);
  g.presence = torch::stack({g.distance / 10, g.distance / 20});
  return g;
}

TEST(GrmGenerated, TwoHopsAreThoseThatLeadToTheCentre) {
  const GeneratedGraph part = two_hops(star(), 100);
  // 2 is three pairs away, and 7 only receives.
  EXPECT_TRUE(torch::equal(part.nodes, ints({10, 11, 13, 14, 15, 16})));
  EXPECT_EQ(part.centre, 0);
  EXPECT_TRUE(torch::equal(part.source, ints({2, 1, 3, 4, 5})));
  EXPECT_TRUE(torch::equal(part.target, ints({0, 0, 0, 1, 2})));
  EXPECT_TRUE(torch::equal(part.weight, star().weight.narrow(0, 0, 5)));
  EXPECT_TRUE(torch::equal(part.samples[0], part.weight));
  EXPECT_TRUE(torch::equal(part.presence, torch::stack({part.distance / 10, part.distance / 20})));
  EXPECT_TRUE(
      torch::equal(part.distance, torch::tensor({0.0, 1.0, 3.0, 4.0, 5.0, 6.0}, torch::kFloat64)));
}

TEST(GrmGenerated, OfTooManyNodesTheNearAndHeavyStay) {
  EXPECT_TRUE(torch::equal(two_hops(star(), 5).nodes, ints({10, 11, 13, 14, 16})));
  EXPECT_TRUE(torch::equal(two_hops(star(), 3).nodes, ints({10, 11, 14})));
  EXPECT_TRUE(torch::equal(two_hops(star(), 1).nodes, ints({10})));
}

}  // namespace
}  // namespace grm::grm_generated_tests
