#include <torch/types.h>

#include "data/describe.h"
#include "data/helpers.h"

namespace grm {
namespace {

using test::load_dataset;

TEST(Scale, HasTheAskedNodesDegreeAndColumns) {
  const Task task =
      load_dataset("scale", "", {{"nodes", "20000"}, {"mean_degree", "10"}, {"features", "7"}});
  const DomainSummary summary = describe(task)[0];
  EXPECT_EQ(summary.nodes, 20000);
  EXPECT_EQ(summary.self_loops, 0);
  // Pairs drawn twice count once; among 20,000 nodes they are few.
  EXPECT_NEAR(summary.mean_degree, 10, 0.05);
  EXPECT_EQ(task.features(), 7);
  EXPECT_TRUE(test::is_symmetric(*task.training[0].graph.edges));
}

TEST(Scale, SideDomainsStaySmallHoweverLargeTheTrainingGraph) {
  const Task task = load_dataset("scale", "", {{"nodes", "30000"}, {"features", "2"}});
  EXPECT_EQ(task.test.size(), 2u);
  for (const auto* domains : {&task.validation, &task.test}) {
    for (const Domain& domain : *domains) {
      EXPECT_EQ(domain.graph.nodes(), 10000);
      EXPECT_EQ(domain.labels.evaluate.numel(), 1000);
    }
  }
}

TEST(Scale, MostEdgesJoinNodesOfOneClass) {
  const Task task = load_dataset("scale", "", {{"nodes", "4000"}});
  const auto [source, target] = edge_list(*task.training[0].graph.edges);
  const torch::Tensor& y = task.training[0].labels.y;
  const double same = y.index_select(0, source)
                          .eq(y.index_select(0, target))
                          .to(torch::kFloat64)
                          .mean()
                          .item<double>();
  // 0.7 are drawn within the class, and a quarter of the rest falls there.
  EXPECT_NEAR(same, 0.7 + 0.3 / 4, 0.02);
}

TEST(Scale, TheSameSeedGivesTheSameData) {
  const test::Settings options = {{"nodes", "5000"}, {"dataset_seed", "3"}};
  const Task a = load_dataset("scale", "", options), b = load_dataset("scale", "", options);
  EXPECT_TRUE(
      torch::equal(a.training[0].graph.edges->in.indices, b.training[0].graph.edges->in.indices));
  EXPECT_TRUE(torch::equal(a.training[0].graph.x.dense, b.training[0].graph.x.dense));
  const Task c = load_dataset("scale", "", {{"nodes", "5000"}, {"dataset_seed", "4"}});
  EXPECT_FALSE(torch::equal(a.training[0].graph.x.dense, c.training[0].graph.x.dense));
}

}  // namespace
}  // namespace grm
