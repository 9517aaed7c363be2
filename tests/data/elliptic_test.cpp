#include <torch/types.h>

#include <set>

#include "data/describe.h"
#include "data/helpers.h"

namespace grm {
namespace {

using test::load_dataset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every time step has four transactions 100 t + 0..3 of classes 1, 2, unknown, 2 and the edges
// 0 -> 1 (twice) and 2 -> 0. Rows of different steps alternate in the features file. Feature k of
// transaction id is id + k / 1000.
class EllipticFiles : public ::testing::Test {
 protected:
  EllipticFiles() {
    for (int j = 0; j < 4; ++j) {
      for (int t = 1; t <= 49; ++t) features_ += feature_row(100 * t + j, t);
    }
    const char* names[] = {"1", "2", "unknown", "2"};
    for (int t = 1; t <= 49; ++t) {
      for (int j = 0; j < 4; ++j) classes_ += fmt::format("{},{}\n", 100 * t + j, names[j]);
      edges_ += fmt::format("{0},{1}\n{0},{1}\n{2},{0}\n", 100 * t, 100 * t + 1, 100 * t + 2);
    }
  }

  static std::string feature_row(int64_t id, int64_t step, const std::string& last = "") {
    std::string row = fmt::format("{},{}", id, step);
    for (int k = 0; k < 164; ++k) row += fmt::format(",{}", double(id) + k / 1000.0);
    return row + "," + (last.empty() ? fmt::format("{}", double(id) + 0.164) : last) + "\n";
  }

  Task load() const {
    folder_.write("elliptic/elliptic_txs_features.csv", features_);
    folder_.write("elliptic/elliptic_txs_classes.csv", classes_);
    folder_.write("elliptic/elliptic_txs_edgelist.csv", edges_);
    return load_dataset("elliptic", folder_.path());
  }
  std::string error() const {
    return test::data_error([&] { load(); });
  }

  test::TempFolder folder_;
  std::string features_;
  std::string classes_ = "txId,class\n";
  std::string edges_ = "txId1,txId2\n";
};

TEST_F(EllipticFiles, StepsOfAnyNumberAreReadFromAnotherFolder) {
  const Task task = load();
  features_ = feature_row(5000, 60) + feature_row(5001, 60) + feature_row(1700, 17);
  classes_ = "txId,class\n5000,1\n5001,unknown\n1700,2\n";
  edges_ = "txId1,txId2\n5000,5001\n";
  folder_.write("new/elliptic_txs_features.csv", features_);
  folder_.write("new/elliptic_txs_classes.csv", classes_);
  folder_.write("new/elliptic_txs_edgelist.csv", edges_);
  const DatasetChoice choice("elliptic");
  EXPECT_TRUE(choice.dataset().is_unseen_form(folder_.file("new")));
  EXPECT_FALSE(choice.dataset().is_unseen_form(folder_.path()));
  const std::vector<Domain> found = choice.dataset().load_unseen(folder_.file("new"), {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "step17");
  EXPECT_EQ(found[1].name, "step60");
  EXPECT_THAT(test::to_vector(found[1].labels.y), ElementsAre(1, -1));
  EXPECT_TRUE(torch::equal(found[0].graph.x.dense[0], task.test[0].graph.x.dense[0]));
}

TEST_F(EllipticFiles, SnapshotsAreSplitAsInTheProtocol) {
  const Task task = load();
  ASSERT_EQ(task.training.size(), 5u);
  ASSERT_EQ(task.validation.size(), 5u);
  ASSERT_EQ(task.test.size(), 33u);
  EXPECT_EQ(task.training.front().name, "step7");
  EXPECT_EQ(task.training.back().name, "step11");
  EXPECT_EQ(task.validation.front().name, "step12");
  EXPECT_EQ(task.validation.back().name, "step16");
  EXPECT_EQ(task.test.front().name, "step17");
  EXPECT_EQ(task.test.back().name, "step49");
  EXPECT_EQ(task.metric, MetricKind::macro_f1);
  EXPECT_EQ(task.loss, LossKind::binary_pair);
}

TEST_F(EllipticFiles, NineTestGroupsTheFirstOfOneSnapshotTheOthersOfFour) {
  const Task task = load();
  // The walk as the protocol words it: close the group when i mod 4 == 0 or at the end.
  size_t group = 1;
  for (size_t i = 0; i < 33; ++i) {
    EXPECT_EQ(task.test[i].group, fmt::format("T{}", group)) << i;
    if (i % 4 == 0) ++group;
  }
  EXPECT_EQ(task.test.back().group, "T9");
  for (const Domain& domain : task.training) EXPECT_EQ(domain.group, "train");
  for (const Domain& domain : task.validation) EXPECT_EQ(domain.group, "validation");
}

TEST_F(EllipticFiles, NodesKeepTheOrderOfAppearanceWithTheirFeaturesLabelsAndEdges) {
  const Domain domain = test::domain_named(load(), "step20");
  EXPECT_EQ(domain.graph.x.width(), 165);
  const torch::Tensor x = domain.graph.x.to_dense();
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(x[i][0].item<float>(), 2000.0f + i);
    EXPECT_FLOAT_EQ(x[i][164].item<float>(), 2000.0f + i + 0.164f);
  }
  EXPECT_THAT(test::to_vector(domain.labels.y), ElementsAre(1, 0, -1, 0));
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_THAT(test::pairs_of(*domain.graph.edges), ElementsAre(Pair(2, 0), Pair(0, 1)));
}

TEST_F(EllipticFiles, OnlyLabelledNodesCount) {
  const Domain domain = test::domain_named(load(), "step7");
  EXPECT_THAT(test::to_vector(domain.labels.loss), ElementsAre(0, 1, 3));
  EXPECT_THAT(test::to_vector(domain.labels.evaluate), ElementsAre(0, 1, 3));
  EXPECT_EQ(describe(domain, Role::train, 2).unlabelled, 1);
}

TEST_F(EllipticFiles, CountsOtherThanThePublishedOnesAreNoted) {
  EXPECT_THAT(load().notes, ::testing::Contains(HasSubstr("49 illicit, 98 licit and 49 unknown")));
}

TEST_F(EllipticFiles, BadRowsAreNamedWithFileAndLine) {
  const std::string sound = features_;
  features_ = sound + feature_row(7, 3, "nan");
  EXPECT_THAT(error(), HasSubstr("elliptic_txs_features.csv:197 column 167: the feature is nan"));
  features_ = sound + feature_row(7, 50);
  EXPECT_THAT(error(), HasSubstr("elliptic_txs_features.csv:197 column 2: time step 50"));
  features_ = sound + feature_row(100, 1);
  EXPECT_THAT(error(), HasSubstr("features.csv:197: transaction 100 came before"));
  features_ = sound + "7,3,1.0\n";
  EXPECT_THAT(error(), HasSubstr("elliptic_txs_features.csv:197"));
  features_ = sound + feature_row(7, 3);
  EXPECT_THAT(error(), HasSubstr("transaction 7 has no class"));
}

TEST_F(EllipticFiles, BadClassesAreNamedWithFileAndLine) {
  const std::string sound = classes_;
  classes_ = sound + "100,3\n";
  EXPECT_THAT(error(), HasSubstr("elliptic_txs_classes.csv:198: the class is '3'"));
  classes_ = sound + "5,1\n";
  EXPECT_THAT(error(), HasSubstr("classes.csv:198 column 1: transaction 5 has no features"));
}

TEST_F(EllipticFiles, BadEdgesAreNamedWithFileAndLine) {
  const std::string sound = edges_;
  edges_ = sound + "100,5\n";
  EXPECT_THAT(error(), HasSubstr("edgelist.csv:149 column 2: transaction 5 has no features"));
  edges_ = sound + "100,200\n";
  EXPECT_THAT(error(), HasSubstr("edgelist.csv:149: the edge joins time steps 1 and 2"));
}

TEST_F(EllipticFiles, SnapshotWithoutTransactionsIsAnEmptyGraph) {
  features_.clear();
  classes_ = "txId,class\n";
  edges_ = "txId1,txId2\n";
  for (int t = 1; t <= 48; ++t) {
    features_ += feature_row(t, t);
    classes_ += fmt::format("{},1\n", t);
  }
  EXPECT_THAT(error(), HasSubstr("test domain step49: empty graph"));
}

TEST_F(EllipticFiles, CacheGivesTheSameData) {
  const std::string plain = fingerprint(load());
  const test::TempFolder cache;
  DataContext context;
  context.root = folder_.path();
  context.cache = cache.path();
  EXPECT_EQ(fingerprint(load_dataset("elliptic", context)), plain);
  EXPECT_EQ(fingerprint(load_dataset("elliptic", context)), plain);
}

}  // namespace
}  // namespace grm
