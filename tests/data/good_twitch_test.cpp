// good-twitch: six regions as one graph under GOOD's laws, with the publisher's own features.
#include <torch/types.h>

#include "data/helpers.h"
#include "data/twitch_files.h"

namespace grm::good_twitch_tests {
namespace {

using test::load_dataset;
using test::to_vector;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> counted(const std::vector<Domain>& domains) {
  std::vector<int64_t> sizes;
  for (const Domain& domain : domains) sizes.push_back(domain.labels.evaluate.numel());
  return sizes;
}

// Three nodes in each of six regions; TW is not asked for.
TEST(GoodTwitchFiles, LanguagesFollowEachOther) {
  const test::TempFolder folder;
  for (const char* region : {"DE", "ENGB", "ES", "FR", "PTBR", "RU"}) {
    test::write_twitch_region(folder, region);
  }
  const Task task = load_dataset("good-twitch", folder.path());
  EXPECT_EQ(task.metric, MetricKind::roc_auc);
  EXPECT_EQ(task.loss, LossKind::binary_pair);
  const Graph& graph = task.test[0].graph;
  EXPECT_EQ(graph.nodes(), 18);
  // 18 nodes: cuts at 10 and 14, so DE, ENGB, ES and FR train, PTBR validates, RU tests.
  EXPECT_THAT(to_vector(task.validation[0].labels.evaluate), ElementsAre(12, 13, 14));
  EXPECT_THAT(to_vector(task.test[0].labels.evaluate), ElementsAre(15, 16, 17));
  // Environments begin at every node until ten are there, but a language is one; a node each is
  // id_val and id_test.
  std::vector<std::string> names;
  int64_t trained = 0;
  for (const Domain& domain : task.training) {
    for (const int64_t i : to_vector(domain.labels.loss))
      EXPECT_EQ(i / 3, static_cast<int64_t>(names.size()));
    names.push_back(domain.name);
    trained += domain.labels.loss.numel();
  }
  EXPECT_THAT(names, ElementsAre("DE", "ENGB", "ES", "FR"));
  EXPECT_EQ(trained, 10);
  // Both directions and a loop at every node: 0 - 1 and 2 - 1 of each region.
  EXPECT_EQ(graph.edges->nnz(), 6 * (4 + 3));
  EXPECT_TRUE(test::is_symmetric(*graph.edges));
  EXPECT_THAT(to_vector(graph.edges->in.indices.slice(0, 7, 14)), ElementsAre(3, 4, 3, 4, 5, 4, 5));
  EXPECT_THAT(to_vector(torch::nonzero(graph.x.to_dense()[4])), ElementsAre(8, 9));
  EXPECT_THAT(to_vector(task.test[0].labels.y.slice(0, 3, 6)), ElementsAre(1, 0, 1));
  EXPECT_THAT(task.notes, Contains(HasSubstr("raw features")));
}

// Sizes of the specification's own count on these 34,118 nodes; those of the published covariate
// split follow from the languages, two accounts less.
TEST(GoodTwitchData, HasTheLanguagesAndSizesOfTheSpecification) {
  REAL_DATA_OR_SKIP(root);
  const test::TempFolder cache;
  DataContext context;
  context.root = root;
  context.cache = cache.path();
  const auto load = [&](const char* shift) {
    return load_dataset("good-twitch", context, {{"shift", shift}, {"report", "all"}});
  };
  const Task covariate = load("covariate");
  EXPECT_EQ(covariate.test[0].graph.nodes(), 34118);
  std::vector<int64_t> trained = counted(covariate.training);
  ASSERT_EQ(trained.size(), 3u);
  EXPECT_EQ(trained[0] + trained[1] + trained[2], 9498 + 7126 + 4648 - 2 * 3411);
  EXPECT_THAT(counted(covariate.validation), ElementsAre(6549));
  EXPECT_THAT(counted(covariate.test), ElementsAre(6297, 3411, 3411));
  // In both directions and with a loop, as the counts of the publisher: DE has 315,774.
  EXPECT_EQ(covariate.test[0].graph.edges->in.offsets[9498].item<int64_t>(), 315774);
  const Task by_concept = load("concept");
  trained = counted(by_concept.training);
  ASSERT_EQ(trained.size(), 3u);
  EXPECT_EQ(trained[0] + trained[1] + trained[2], 13497);
  EXPECT_THAT(counted(by_concept.validation), ElementsAre(6932));
  EXPECT_THAT(counted(by_concept.test), ElementsAre(7905, 2892, 2892));
}

}  // namespace
}  // namespace grm::good_twitch_tests
