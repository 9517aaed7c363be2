#include <torch/types.h>

#include <filesystem>

#include "data/describe.h"
#include "data/helpers.h"

namespace grm {
namespace {

using test::load_dataset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Pair = std::pair<int64_t, int64_t>;

// Six molecules of 2, 1, 3, 2, 2 and 2 atoms. Plain text under the published names: the reader
// takes both, and the packed files are read in the test on real data.
class MolhivFiles : public ::testing::Test {
 protected:
  Task load(const std::string& cache = "") const {
    folder_.write("molhiv/raw/num-node-list.csv.gz", "2\n1\n3\n2\n2\n2\n");
    folder_.write("molhiv/raw/num-edge-list.csv.gz", edge_counts_);
    folder_.write("molhiv/raw/graph-label.csv.gz", labels_);
    folder_.write("molhiv/raw/node-feat.csv.gz", atoms_);
    folder_.write("molhiv/raw/edge.csv.gz", edges_);
    folder_.write("molhiv/raw/edge-feat.csv.gz", bonds_);
    folder_.write("molhiv/split/scaffold/train.csv.gz", train_);
    folder_.write("molhiv/split/scaffold/valid.csv.gz", "0\n5\n");
    folder_.write("molhiv/split/scaffold/test.csv.gz", "3\n4\n");
    DataContext context;
    context.root = folder_.path();
    context.cache = cache;
    return load_dataset("molhiv", context);
  }
  std::string error() const {
    return test::data_error([&] { load(); });
  }

  test::TempFolder folder_;
  std::string labels_ = "0\n1\n0\n0\n1\n1\n";
  std::string train_ = "2\n1\n";
  std::string edge_counts_ = "1\n0\n2\n1\n1\n1\n";
  std::string edges_ = "0,1\n2,0\n1,2\n0,1\n1,0\n0,1\n";
  std::string bonds_ = "0,0,0\n1,5,1\n4,2,0\n0,0,0\n0,0,0\n3,0,1\n";
  std::string atoms_ =
      "5,0,4,5,3,0,2,0,0\n6,0,0,0,0,0,0,0,0\n"
      "118,4,11,11,9,5,5,1,1\n"
      "7,0,1,5,0,0,1,0,1\n0,0,0,0,0,0,0,0,0\n1,1,1,1,1,1,1,1,1\n"
      "5,0,0,5,0,0,0,0,0\n5,0,0,5,0,0,0,0,0\n5,0,0,5,0,0,0,0,0\n5,0,0,5,0,0,0,0,0\n"
      "5,0,0,5,0,0,0,0,0\n5,0,0,5,0,0,0,0,0\n";
};

TEST_F(MolhivFiles, OtherMoleculesNeedNoSplitAndNoLabels) {
  const Task task = load();
  const DatasetChoice choice("molhiv");
  std::filesystem::remove_all(folder_.file("molhiv/split"));
  std::filesystem::remove(folder_.file("molhiv/raw/graph-label.csv.gz"));
  ASSERT_TRUE(choice.dataset().is_unseen_form(folder_.file("molhiv")));
  EXPECT_FALSE(DatasetChoice("arxiv").dataset().is_unseen_form(folder_.file("molhiv")));
  const std::vector<Domain> found = choice.dataset().load_unseen(folder_.file("molhiv"), {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(test::to_vector(found[0].graph.parts), ElementsAre(0, 2, 3, 6, 8, 10, 12));
  EXPECT_TRUE(found[0].labels.y.eq(-1).all().item<bool>());
  const torch::Tensor atoms = found[0].graph.x.to_dense(), bonds = found[0].graph.edge_x.to_dense();
  EXPECT_TRUE(
      torch::equal(atoms.slice(0, 3, 6), task.training[0].graph.x.to_dense().slice(0, 0, 3)));
  EXPECT_TRUE(
      torch::equal(bonds.slice(0, 2, 6), task.training[0].graph.edge_x.to_dense().slice(0, 0, 4)));
}

TEST_F(MolhivFiles, SplitsAreSetsInTheOrderOfTheirFile) {
  const Task task = load();
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.metric, MetricKind::roc_auc);
  EXPECT_EQ(task.loss, LossKind::binary_pair);
  EXPECT_EQ(task.classes, 2);
  EXPECT_THAT(test::to_vector(task.training[0].graph.parts), ElementsAre(0, 3, 4));
  EXPECT_THAT(test::to_vector(task.training[0].labels.y), ElementsAre(0, 1));
  EXPECT_THAT(test::to_vector(task.validation[0].labels.y), ElementsAre(0, 1));
  EXPECT_THAT(test::to_vector(task.test[0].graph.parts), ElementsAre(0, 2, 4));
}

TEST_F(MolhivFiles, AtomsAreOneHotInEveryColumn) {
  const Task task = load();
  EXPECT_EQ(task.features(), 174);
  const Features& x = task.training[0].graph.x;
  EXPECT_EQ(x.nonzeros(), 4 * 9);
  EXPECT_FALSE(x.dense.defined());
  // Table starts by hand: 0 119 124 136 148 158 164 170 172.
  const torch::Tensor dense = x.to_dense();
  EXPECT_THAT(test::to_vector(torch::nonzero(dense[0])),
              ElementsAre(7, 119, 125, 141, 148, 158, 165, 170, 173));
  EXPECT_THAT(test::to_vector(torch::nonzero(dense[3])),
              ElementsAre(118, 123, 135, 147, 157, 163, 169, 171, 173));
}

TEST_F(MolhivFiles, BondsRunBothWaysWithTheSameOneHotRows) {
  const Graph graph = load().training[0].graph;
  EXPECT_THAT(test::pairs_of(*graph.edges),
              ElementsAre(Pair(2, 0), Pair(2, 1), Pair(0, 2), Pair(1, 2)));
  EXPECT_EQ(graph.edge_x.width(), 13);
  EXPECT_EQ(graph.edge_x.rows(), 4);
  EXPECT_EQ(load().train_view().edge_features, 13);
  const torch::Tensor dense = graph.edge_x.to_dense();
  // 2 - 0 is "1,5,1", 1 - 2 is "4,2,0"; tables start at 0, 5, 11.
  for (const int64_t edge : {0, 2}) {
    EXPECT_THAT(test::to_vector(torch::nonzero(dense[edge])), ElementsAre(1, 10, 12));
  }
  for (const int64_t edge : {1, 3}) {
    EXPECT_THAT(test::to_vector(torch::nonzero(dense[edge])), ElementsAre(4, 7, 11));
  }
}

TEST_F(MolhivFiles, SymmetriseChangesNothing) {
  const std::string plain = fingerprint(load());
  EXPECT_EQ(fingerprint(load_dataset("molhiv", folder_.path(), {{"symmetrise", "true"}})), plain);
}

TEST_F(MolhivFiles, CategoriesOutsideTheirTableAreNamedWithFileAndLine) {
  const std::string atoms = atoms_;
  atoms_.replace(0, 1, "119");
  EXPECT_THAT(error(), HasSubstr("node-feat.csv.gz:1 column 1: category 119 is outside 0..118"));
  atoms_ = atoms;
  bonds_.replace(0, 1, "-1");
  EXPECT_THAT(error(), HasSubstr("edge-feat.csv.gz:1 column 1: category -1 is outside 0..4"));
}

TEST_F(MolhivFiles, BadRowsAndCountsAreNamed) {
  const std::string edges = edges_, atoms = atoms_, labels = labels_, train = train_;
  edges_ = "0,2\n2,0\n1,2\n0,1\n1,0\n0,1\n";
  EXPECT_THAT(error(),
              HasSubstr("edge.csv.gz:1 column 2: atom 2, but molecule 0 has the atoms 0..1"));
  edges_ = edges + "0,1\n";
  EXPECT_THAT(error(), HasSubstr("edge.csv.gz:7: more rows"));
  edges_ = "0,1\n2,0\n";
  EXPECT_THAT(error(), HasSubstr("edge.csv.gz: 2 rows, but there are 6 bonds"));
  edges_ = edges;
  atoms_ = atoms + "5,0,0,5,0,0,0,0,0\n";
  EXPECT_THAT(error(), HasSubstr("node-feat.csv.gz: 13 rows, but there are 12 atoms"));
  atoms_ = atoms + "5,0,0\n";
  EXPECT_THAT(error(), HasSubstr("node-feat.csv.gz:13"));
  atoms_ = atoms;
  labels_ = "0\n1\n0\n0\n1\n";
  EXPECT_THAT(error(), HasSubstr("graph-label.csv.gz: 5 rows, but there are 6 molecules"));
  labels_ = "0\n1\n2\n0\n1\n1\n";
  EXPECT_THAT(error(), HasSubstr("graph-label.csv.gz:3: 2 is outside 0..1"));
  labels_ = labels;
  train_ = "2\n6\n";
  EXPECT_THAT(error(), HasSubstr("train.csv.gz:2: graph 6 of a set of 6"));
  train_ = "2\n1\n5\n";
  EXPECT_THAT(error(), HasSubstr("valid.csv.gz:2: graph 5 came before"));
}

TEST_F(MolhivFiles, CacheGivesTheSameDataAndASplitCanChangeWithoutIt) {
  const test::TempFolder cache;
  const std::string plain = fingerprint(load());
  EXPECT_EQ(fingerprint(load(cache.path())), plain);
  EXPECT_EQ(fingerprint(load(cache.path())), plain);
  train_ = "1\n2\n";
  EXPECT_NE(fingerprint(load(cache.path())), plain);
}

// Counts of the publisher (see the table of the datasets folder).
TEST(MolhivData, HasThePublishedCountsAndSplit) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_dataset("molhiv", root);
  int64_t graphs = 0, atoms = 0, edges = 0, positive = 0;
  std::vector<int64_t> split;
  for (const DomainSummary& summary : describe(task)) {
    split.push_back(summary.graphs);
    graphs += summary.graphs;
    atoms += summary.nodes;
    edges += summary.edges;
    positive += summary.labels[1];
    EXPECT_EQ(summary.features, 174);
    EXPECT_EQ(summary.feature_nonzeros, 9 * summary.nodes);
    EXPECT_EQ(summary.edge_features, 13);
    EXPECT_EQ(summary.self_loops, 0);
    EXPECT_GE(summary.sizes.front().low, 2);
    EXPECT_LE(summary.sizes.back().low, 222);
  }
  EXPECT_THAT(split, ElementsAre(32901, 4113, 4113));
  EXPECT_EQ(graphs, 41127);
  EXPECT_EQ(atoms, 1049163);
  EXPECT_EQ(edges, 2 * 1129688);
  EXPECT_EQ(positive, 1443);
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    EXPECT_TRUE(test::is_symmetric(*task.domains(role)[0].graph.edges));
  }
  // The training list begins with molecule 3, whose rows were looked up in the tables: 24 atoms, 25
  // bonds; first atom 6,0,3,5,2,0,1,0,0; first bond 0 - 1 with 0,0,1.
  const Graph& train = task.training[0].graph;
  EXPECT_EQ(train.parts[1].item<int64_t>(), 24);
  EXPECT_EQ(train.edges->in.offsets[24].item<int64_t>(), 50);
  const std::vector<int64_t> atom = test::to_vector(train.x.sparse->in.indices.slice(0, 0, 9));
  EXPECT_THAT(atom, ElementsAre(6, 119, 127, 141, 150, 158, 165, 170, 172));
  EXPECT_EQ(train.edges->in.index()[0], 1);
  EXPECT_THAT(test::to_vector(train.edge_x.sparse->in.indices.slice(0, 0, 3)),
              ElementsAre(0, 5, 12));
}

}  // namespace
}  // namespace grm
