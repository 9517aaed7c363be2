#include "data/describe.h"

#include <torch/types.h>

#include "data/helpers.h"

namespace grm {
namespace {

using ::testing::ElementsAre;

// 0 -> 1 (twice), 1 -> 2, 2 -> 2; node 3 alone. Labels 0 2 2 and one unknown.
Task hand_made_task() {
  Graph graph;
  graph.name = "hand";
  graph.edges = make_adjacency(4, 4, torch::tensor({0, 0, 1, 2}), torch::tensor({1, 1, 2, 2}));
  graph.x.sparse = make_adjacency(4, 7, torch::tensor({6, 1}), torch::tensor({0, 3}));
  graph.x.dense = torch::ones({4, 2});
  Domain domain = make_domain(graph, torch::tensor({0, 2, 2, -1}, torch::kInt64));
  domain.labels.loss = domain.labels.evaluate = torch::tensor({0, 1, 2}, torch::kInt64);
  Task task;
  task.name = "hand";
  task.classes = 3;
  task.training = task.validation = task.test = {domain};
  return task;
}

TEST(Describe, CountsWhatAHandMadeGraphHas) {
  const std::vector<DomainSummary> all = describe(hand_made_task());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].role, Role::train);
  EXPECT_EQ(all[2].role, Role::test);
  const DomainSummary& summary = all[0];
  EXPECT_EQ(summary.name, "hand");
  EXPECT_EQ(summary.nodes, 4);
  EXPECT_EQ(summary.edges, 3);
  EXPECT_EQ(summary.features, 9);
  EXPECT_EQ(summary.feature_nonzeros, 2 + 8);
  EXPECT_THAT(summary.labels, ElementsAre(1, 0, 2));
  EXPECT_EQ(summary.unlabelled, 1);
  EXPECT_EQ(summary.isolated, 1);
  EXPECT_EQ(summary.no_in, 2);
  EXPECT_EQ(summary.no_out, 1);
  EXPECT_EQ(summary.self_loops, 1);
  EXPECT_DOUBLE_EQ(summary.mean_degree, 0.75);
  EXPECT_DOUBLE_EQ(summary.majority_share, 2.0 / 3.0);
}

TEST(Fingerprint, IsEqualForEqualDataInOtherMemory) {
  EXPECT_EQ(fingerprint(hand_made_task()), fingerprint(hand_made_task()));
}

TEST(Fingerprint, ChangesWithEdgesFeaturesLabelsAndSplit) {
  const std::string before = fingerprint(hand_made_task());
  Task task = hand_made_task();
  task.test[0].graph.edges = symmetrised(*task.test[0].graph.edges);
  EXPECT_NE(fingerprint(task), before);
  task = hand_made_task();
  task.test[0].graph.x.dense = torch::ones({4, 2}) * 2;
  EXPECT_NE(fingerprint(task), before);
  task = hand_made_task();
  task.test[0].graph.x.shift = torch::ones({9});
  EXPECT_NE(fingerprint(task), before);
  task = hand_made_task();
  task.test[0].labels.y = torch::tensor({0, 2, 1, -1}, torch::kInt64);
  EXPECT_NE(fingerprint(task), before);
  task = hand_made_task();
  task.test[0].labels.evaluate = torch::tensor({0, 1}, torch::kInt64);
  EXPECT_NE(fingerprint(task), before);
  task = hand_made_task();
  task.test[0].name = "other";
  EXPECT_NE(fingerprint(task), before);
}

}  // namespace
}  // namespace grm
