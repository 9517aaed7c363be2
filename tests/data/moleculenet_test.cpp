// bace, bbbp, clintox, sider, tox21: OGB's tables, split by scaffold, answers that may be missing.
#include <torch/types.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "data/good_files.h"
#include "data/helpers.h"
#include "data/molecule_files.h"
#include "data/scaffolds.h"

namespace grm::moleculenet_tests {
namespace {

using test::load_dataset;
using test::to_vector;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScaffoldSplit, FillsThePartsWithTheCommonestScaffoldsFirst) {
  // Ten molecules; scaffolds of 3, 3, 2, 1 and 1. Of equal ones the later comes first, so in order:
  // {1, 5, 7}, {0, 2, 4}, {3, 6}, {9}, {8}: eight of ten train, one validates, one tests.
  const auto parts = split_by_scaffold({4, 2, 4, 0, 4, 2, 0, 2, 9, 7});
  EXPECT_THAT(parts[0], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(parts[1], ElementsAre(9));
  EXPECT_THAT(parts[2], ElementsAre(8));
}

TEST(ScaffoldSplit, AScaffoldThatDoesNotFitIsPassedOn) {
  // Sizes 5, 4, 1: four more would make nine of ten, too many to train, and just validate.
  const auto parts = split_by_scaffold({0, 0, 0, 0, 0, 1, 1, 1, 1, 2});
  EXPECT_THAT(parts[0], ElementsAre(0, 1, 2, 3, 4, 9));
  EXPECT_THAT(parts[1], ElementsAre(5, 6, 7, 8));
  EXPECT_TRUE(parts[2].empty());
}

// Twenty chains with a scaffold each, so the last ones of the file train. Two tasks.
struct ClintoxFiles : ::testing::Test {
  ClintoxFiles() {
    std::vector<std::string> scaffolds;
    std::string labels;
    for (int64_t k = 0; k < 20; ++k) {
      atoms.push_back(2 + k);
      scaffolds.push_back(std::string(1, static_cast<char>('a' + k)));
      labels += k == 19 ? "nan,\n" : k % 2 == 0 ? "1,0\n" : k % 4 == 1 ? "0,nan\n" : ",1\n";
    }
    test::write_chains(folder, "molecules/clintox", atoms, labels);
    test::write_scaffolds(folder, "molecules/clintox/domains.csv.gz", atoms, scaffolds);
  }
  Task load(const test::Settings& settings = {}) const {
    return load_dataset("clintox", folder.path(), settings);
  }
  test::TempFolder folder;
  std::vector<int64_t> atoms;
};

TEST_F(ClintoxFiles, MissingAnswersAreUnknownAndRowsWithoutAnyDoNotCount) {
  const Task task = load();
  EXPECT_EQ(task.classes, 2);
  EXPECT_EQ(task.loss, LossKind::multi_label);
  EXPECT_EQ(task.metric, MetricKind::roc_auc);
  EXPECT_THAT(task.label_names, ElementsAre("FDA_APPROVED", "CT_TOX"));
  const Domain& train = task.training[0];
  // 2, 3, .. 17 of the reversed file: molecules 4 to 19; of the last nothing is known.
  EXPECT_THAT(to_vector(train.graph.parts.diff()),
              ElementsAre(6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21));
  EXPECT_EQ(train.labels.loss.numel(), 15);
  EXPECT_EQ(train.labels.y[1][0].item<float>(), 0);  // molecule 5: "0,nan"
  EXPECT_TRUE(train.labels.y[1][1].isnan().item<bool>());
  EXPECT_TRUE(train.labels.y[3][0].isnan().item<bool>());  // molecule 7: ",1"
  EXPECT_EQ(train.labels.y[3][1].item<float>(), 1);
  EXPECT_THAT(to_vector(task.validation[0].graph.parts.diff()), ElementsAre(4, 5));
  EXPECT_THAT(to_vector(task.test[0].graph.parts.diff()), ElementsAre(2, 3));
  // Environments: ten blocks of scaffolds in the order of their SMILES.
  EXPECT_THAT(to_vector(train.labels.environment),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9));
}

TEST_F(ClintoxFiles, InnerSubsetsAreAShareOfTraining) {
  EXPECT_THAT(test::error_of(ErrorKind::config,
                             [&] {
                               load({{"choose_by", "id_val"}});
                             }),
              HasSubstr("there is no id_val"));
  const Task task = load({{"choose_by", "id_val"}, {"inside", "0.25"}, {"report", "all"}});
  EXPECT_EQ(task.training[0].graph.items(), 8);
  EXPECT_EQ(task.validation[0].graph.items(), 4);
  EXPECT_EQ(task.test.at(1).name, "id_test");
  EXPECT_EQ(task.test.at(1).graph.items(), 4);
  std::set<int64_t> all;
  for (const Domain* domain : {&task.training[0], &task.validation[0], &task.test[1]}) {
    for (const int64_t n : to_vector(domain->graph.parts.diff())) all.insert(n);
  }
  EXPECT_EQ(all.size(), 16u);
  const Task other = load({{"inside", "0.25"}, {"dataset_seed", "1"}});
  EXPECT_FALSE(torch::equal(other.training[0].graph.parts, task.training[0].graph.parts));
}

TEST_F(ClintoxFiles, OtherMoleculesNeedNoScaffoldsAndNoLabels) {
  const DatasetChoice choice("clintox");
  std::filesystem::remove(folder.file("molecules/clintox/domains.csv.gz"));
  std::filesystem::remove(folder.file("molecules/clintox/raw/graph-label.csv.gz"));
  const std::string path = folder.file("molecules/clintox");
  ASSERT_TRUE(choice.dataset().is_unseen_form(path));
  const std::vector<Domain> found = choice.dataset().load_unseen(path, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].graph.items(), 20);
  EXPECT_TRUE(found[0].labels.y.isnan().all().item<bool>());
  EXPECT_THAT(test::data_error([&] { load(); }), HasSubstr("scripts/molecules.py"));
}

// OGB's published split of ogbg-molhiv is the same law on RDKit's scaffolds.
TEST(ScaffoldSplit, OfMolhivIsThePublishedOne) {
  REAL_DATA_OR_SKIP(root);
  std::vector<std::string> scaffolds;
  for (const auto& row : test::good_rows(root + "/good/hiv/domains.csv.gz")) {
    scaffolds.push_back(row.at(3));
  }
  const auto parts = split_by_scaffold(ranks_of(scaffolds));
  size_t part = 0;
  for (const char* name : {"train", "valid", "test"}) {
    std::vector<int64_t> published;
    io::read_csv(root + "/molhiv/split/scaffold/" + name + ".csv.gz",
                 [&](const io::CsvRow& row) { published.push_back(row.parse_int(0)); });
    EXPECT_EQ(parts[part++], published) << name;
  }
}

// Counts of the publishers, see the table of the datasets folder.
TEST(MoleculeNetData, HasThePublishedCountsAndMissingAnswers) {
  REAL_DATA_OR_SKIP(root);
  struct Counts {
    const char* name;
    int64_t molecules, tasks, atoms, bonds, missing;
  };
  for (const Counts& c : {Counts{"bace", 1513, 1, 51577, 55768, 0},
                          {"bbbp", 2039, 1, 49068, 52921, 0},
                          {"clintox", 1478, 2, 38661, 41209, 0},
                          {"sider", 1427, 27, 48006, 50456, 0},
                          {"tox21", 7831, 12, 145459, 151095, 16026}}) {
    SCOPED_TRACE(c.name);
    const Task task = load_dataset(c.name, root);
    int64_t molecules = 0, atoms = 0, edges = 0, missing = 0;
    for (const Role role : {Role::train, Role::validation, Role::test}) {
      const Domain& domain = task.domains(role)[0];
      molecules += domain.graph.items();
      atoms += domain.graph.nodes();
      edges += domain.graph.edges->nnz();
      if (c.tasks > 1) missing += domain.labels.y.isnan().sum().item<int64_t>();
    }
    EXPECT_EQ(molecules, c.molecules);
    EXPECT_EQ(task.classes, std::max<int64_t>(c.tasks, 2));
    EXPECT_EQ(atoms, c.atoms);
    EXPECT_EQ(edges, 2 * c.bonds);
    EXPECT_EQ(missing, c.missing);
    EXPECT_LE(task.training[0].graph.items(), 0.8 * static_cast<double>(c.molecules));
    EXPECT_EQ(task.training[0].labels.environment.max().item<int64_t>(), 9);
  }
}

}  // namespace
}  // namespace grm::moleculenet_tests
