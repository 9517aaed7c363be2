#include <torch/types.h>

#include "data/describe.h"
#include "data/helpers.h"
#include "data/twitch_files.h"

namespace grm::twitch_tests {
namespace {

using test::kTwitchEdges;
using test::kTwitchTarget;
using test::load_dataset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Region ES gets the given files, the others the usual ones.
class TwitchFiles : public ::testing::Test {
 protected:
  TwitchFiles() { test::write_twitch(folder_); }
  Task load() const { return load_dataset("twitch", folder_.path()); }
  std::string error() const {
    return test::data_error([&] { load(); });
  }
  test::TempFolder folder_;
};

TEST(TwitchUnseen, AnotherRegionIsReadByItsFiles) {
  const test::TempFolder folder;
  test::write_twitch_region(folder, "NL");
  const DatasetChoice choice("twitch");
  const std::string path = folder.file("twitch/NL");
  ASSERT_TRUE(choice.dataset().is_unseen_form(path));
  EXPECT_FALSE(choice.dataset().is_unseen_form(folder.path()));
  const std::vector<Domain> found = choice.dataset().load_unseen(path, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "NL");
  EXPECT_THAT(test::to_vector(found[0].labels.y), ::testing::ElementsAre(1, 0, 1));
  EXPECT_EQ(found[0].graph.x.width(), 3170);
  EXPECT_EQ(found[0].graph.x.sparse->nnz(), 5);
}

TEST_F(TwitchFiles, LabelsAreIndexedByNewIdNotByFileOrder) {
  EXPECT_THAT(test::to_vector(load().training[0].labels.y), ElementsAre(1, 0, 1));
}

TEST_F(TwitchFiles, EdgesAreAsStored) {
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_THAT(test::pairs_of(*load().training[0].graph.edges), ElementsAre(Pair(0, 1), Pair(2, 1)));
}

TEST_F(TwitchFiles, FeaturesHaveTheWidthOfAllRegionsAndRepetitionsCountOnce) {
  const Graph graph = load().training[0].graph;
  EXPECT_EQ(graph.x.width(), 3170);
  EXPECT_EQ(graph.x.nonzeros(), 5);
  const torch::Tensor x = graph.x.to_dense();
  EXPECT_EQ(x[2][3169].item<float>(), 1);
  EXPECT_EQ(x[0][7].item<float>(), 1);
}

TEST_F(TwitchFiles, FirstRowOfARepeatedIdCounts) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget + "903,1,True,5,False,1\n");
  EXPECT_THAT(test::to_vector(test::domain_named(load(), "ES").labels.y), ElementsAre(1, 0, 1));
}

TEST_F(TwitchFiles, DuplicateEdgesAreMergedAndSelfLoopsKept) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget, kTwitchEdges + "0,1\n1,1\n");
  const DomainSummary summary = describe(test::domain_named(load(), "ES"), Role::test, 2);
  EXPECT_EQ(summary.edges, 3);
  EXPECT_EQ(summary.self_loops, 1);
}

TEST_F(TwitchFiles, IsolatedNodesAndNodesWithoutFeaturesAreKept) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget, "from,to\n0,1\n", R"({"0": [1]})");
  const DomainSummary summary = describe(test::domain_named(load(), "ES"), Role::test, 2);
  EXPECT_EQ(summary.nodes, 3);
  EXPECT_EQ(summary.isolated, 1);
}

TEST_F(TwitchFiles, FeaturesOfNodesBeyondTheLastAreSkipped) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget, kTwitchEdges, R"({"0":[1],"3":[2]})");
  const test::WarningTrap trap;
  EXPECT_EQ(test::domain_named(load(), "ES").graph.x.nonzeros(), 1);
  EXPECT_EQ(trap.warnings.size(), 1u);
}

TEST_F(TwitchFiles, EdgeBeyondTheLastNodeIsNamedWithFileAndLine) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget, kTwitchEdges + "1,3\n");
  EXPECT_THAT(error(), HasSubstr("musae_ES_edges.csv:4: the edge 1 -> 3"));
}

TEST_F(TwitchFiles, LabelThatIsNeitherTrueNorFalseIsNamedWithFileAndLine) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget + "903,1,maybe,5,False,3\n");
  EXPECT_THAT(error(), HasSubstr("musae_ES_target.csv:5: the label 'mature' is 'maybe'"));
}

TEST_F(TwitchFiles, FeatureIdBeyondTheWidthIsNamed) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget, kTwitchEdges, R"({"0": [3170]})");
  EXPECT_THAT(error(), HasSubstr("node 0 has feature 3170"));
}

TEST_F(TwitchFiles, GapInTheIdsIsNamed) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget + "903,1,True,5,False,4\n");
  EXPECT_THAT(error(), HasSubstr("no row has new_id 3"));
}

TEST_F(TwitchFiles, WrongHeaderIsNamed) {
  test::write_twitch_region(folder_, "ES", kTwitchTarget, "to,from\n0,1\n");
  EXPECT_THAT(error(), HasSubstr("musae_ES_edges.csv:1"));
}

TEST_F(TwitchFiles, RegionOfOneClassHasNoRocAuc) {
  test::write_twitch_region(
      folder_, "ES", "id,days,mature,views,partner,new_id\n1,1,True,5,False,0\n", "from,to\n");
  EXPECT_THAT(error(), HasSubstr("test domain ES: all labels are 1, so ROC-AUC is undefined"));
}

TEST_F(TwitchFiles, RegionWithoutNodesIsAnEmptyGraph) {
  test::write_twitch_region(folder_, "ES", "id,days,mature,views,partner,new_id\n", "from,to\n",
                            "{}");
  EXPECT_THAT(error(), HasSubstr("test domain ES: empty graph"));
}

// Counts of section 2 of the node-level protocol, measured on the raw files apart from this
// program.
struct Row {
  const char* region;
  int64_t nodes, pairs, columns;
  double features_per_node, positive;
  int64_t no_in, no_out;
};
constexpr Row kTable[] = {{"DE", 9498, 153138, 2514, 20.33, 0.6045, 1153, 848},
                          {"ENGB", 7126, 35324, 2545, 20.72, 0.5456, 1449, 1679},
                          {"ES", 4648, 59382, 2148, 19.32, 0.2926, 599, 620},
                          {"FR", 6549, 112666, 2275, 19.70, 0.3686, 653, 667},
                          {"PTBR", 1912, 31299, 1449, 19.88, 0.3457, 175, 248},
                          {"RU", 4385, 37304, 2224, 20.59, 0.2452, 703, 769},
                          {"TW", 2772, 63462, 1288, 18.21, 0.3925, 207, 235}};

TEST(TwitchReal, CountsAndLabelRatesAreThoseOfTheProtocol) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_dataset("twitch", root);
  EXPECT_EQ(task.training[0].name, "DE");
  EXPECT_EQ(task.validation[0].name, "ENGB");
  ASSERT_EQ(task.test.size(), 5u);
  EXPECT_EQ(task.loss, LossKind::binary_pair);
  EXPECT_EQ(task.metric, MetricKind::roc_auc);
  for (const Row& row : kTable) {
    const Domain& domain = test::domain_named(task, row.region);
    const DomainSummary summary = describe(domain, Role::test, 2);
    EXPECT_EQ(summary.nodes, row.nodes) << row.region;
    EXPECT_EQ(summary.edges, row.pairs) << row.region;
    EXPECT_EQ(summary.self_loops, 0) << row.region;
    EXPECT_EQ(summary.features, 3170) << row.region;
    EXPECT_EQ(summary.no_in, row.no_in) << row.region;
    EXPECT_EQ(summary.no_out, row.no_out) << row.region;
    EXPECT_NEAR(double(summary.feature_nonzeros) / row.nodes, row.features_per_node, 0.005)
        << row.region;
    EXPECT_NEAR(double(summary.labels[1]) / row.nodes, row.positive, 5e-5) << row.region;
    const torch::Tensor used = domain.graph.x.sparse->out.offsets.diff().gt(0).sum();
    EXPECT_EQ(used.item<int64_t>(), row.columns) << row.region;
    EXPECT_EQ(symmetrised(*domain.graph.edges)->nnz(), 2 * row.pairs)
        << row.region << " has reciprocal pairs";
  }
}

}  // namespace
}  // namespace grm::twitch_tests
