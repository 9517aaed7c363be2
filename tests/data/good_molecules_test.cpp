// good-hiv and good-pcba: tables of OGB's form under GOOD's laws.
#include <torch/types.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "data/good_files.h"
#include "data/helpers.h"
#include "data/molecule_files.h"
#include "data/scaffolds.h"

namespace grm::good_molecules_tests {
namespace {

using test::load_dataset;
using test::to_vector;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace grm::good;

// Forty chains of 2 to 41 atoms in falling order; every second is active. Scaffolds in pairs.
class GoodHivFiles : public ::testing::Test {
 protected:
  GoodHivFiles() {
    std::string labels;
    for (int64_t k = 0; k < 40; ++k) {
      atoms_.push_back(41 - k);
      labels += k % 2 == 0 ? "1\n" : "0\n";
      scaffolds_.push_back(std::string(1, static_cast<char>('A' + (k * 7 % 40) / 2)));
    }
    test::write_chains(folder_, "molhiv", atoms_, labels);
    test::write_scaffolds(folder_, "good/hiv/domains.csv.gz", atoms_, scaffolds_);
  }
  Task load(const test::Settings& settings) const {
    return load_dataset("good-hiv", folder_.path(), settings);
  }

  test::TempFolder folder_;
  std::vector<int64_t> atoms_;
  std::vector<std::string> scaffolds_;
};

std::vector<int64_t> sizes_in(const Domain& domain) {
  return to_vector(domain.graph.parts.diff());
}

TEST_F(GoodHivFiles, BySizeTrainingHasTheLargestMolecules) {
  const Task task = load({{"domain", "size"}, {"report", "all"}});
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.metric, MetricKind::roc_auc);
  EXPECT_EQ(task.features(), 174);
  // 40 molecules: cuts at 32 and 36, floor(4.0) of them in id_val and in id_test.
  std::vector<int64_t> inside = sizes_in(task.training[0]);
  for (const int64_t k : {1, 2}) {
    const std::vector<int64_t> more = sizes_in(task.test.at(static_cast<size_t>(k)));
    EXPECT_EQ(more.size(), 4u);
    inside.insert(inside.end(), more.begin(), more.end());
  }
  std::sort(inside.begin(), inside.end());
  ASSERT_EQ(inside.size(), 32u);
  EXPECT_EQ(inside.front(), 10);
  EXPECT_EQ(inside.back(), 41);
  EXPECT_THAT(sizes_in(task.validation[0]), ElementsAre(9, 8, 7, 6));
  EXPECT_THAT(sizes_in(task.test[0]), ElementsAre(5, 4, 3, 2));
  // Ten environments of three sizes each, the last one with what is left.
  const torch::Tensor& environment = task.training[0].labels.environment;
  const std::vector<int64_t> sizes = sizes_in(task.training[0]);
  for (size_t k = 0; k < sizes.size(); ++k) {
    EXPECT_EQ(environment[static_cast<int64_t>(k)].item<int64_t>(),
              std::min<int64_t>((41 - sizes[k]) / 3, 9));
  }
}

TEST_F(GoodHivFiles, ByScaffoldMoleculesOfOneStayTogether) {
  const Task task = load({});
  std::vector<std::string> sorted = scaffolds_;
  std::sort(sorted.begin(), sorted.end());
  const auto scaffold_of = [&](int64_t atoms) {
    return scaffolds_.at(static_cast<size_t>(41 - atoms));
  };
  for (const int64_t n : sizes_in(task.training[0])) EXPECT_LT(scaffold_of(n), sorted[32]);
  for (const int64_t n : sizes_in(task.validation[0])) {
    EXPECT_GE(scaffold_of(n), sorted[32]);
    EXPECT_LT(scaffold_of(n), sorted[36]);
  }
  for (const int64_t n : sizes_in(task.test[0])) EXPECT_GE(scaffold_of(n), sorted[36]);
}

TEST_F(GoodHivFiles, ScaffoldsOfOtherMoleculesAreRefused) {
  atoms_[3] = 7;
  test::write_scaffolds(folder_, "good/hiv/domains.csv.gz", atoms_, scaffolds_);
  EXPECT_THAT(test::data_error([&] { load({}); }),
              HasSubstr("domains.csv.gz:5: molecule 3 with 7 atoms, but molecule 3 with 38 atoms"));
  atoms_[3] = 38;
  atoms_.pop_back();
  test::write_scaffolds(folder_, "good/hiv/domains.csv.gz", atoms_, scaffolds_);
  EXPECT_THAT(test::data_error([&] { load({}); }),
              HasSubstr("39 rows, but there are 40 molecules"));
  folder_.write("good/hiv/domains.csv.gz", "molecule,scaffold\n");
  EXPECT_THAT(test::data_error([&] { load({}); }), HasSubstr("the header is not idx,atoms"));
  EXPECT_NO_THROW(load({{"domain", "size"}}));  // which asks for no scaffolds
}

TEST_F(GoodHivFiles, NotesSayWhatTheNumberOfAtomsIsWorth) {
  const Task task = load({{"domain", "size"}});
  // Test: 5, 4, 3 and 2 atoms, the first and the third active: three of four pairs are in order.
  EXPECT_THAT(task.notes, Contains(HasSubstr("test 75.0 (50.0 %)")));
  // Hanley and McNeil by hand: sqrt((0.21 + (0.538462 - 0.49) + (0.576471 - 0.49)) / 4) = 0.293618.
  EXPECT_THAT(task.notes,
              Contains(HasSubstr("test: 2 of 4 items are of class 1, so a ROC-AUC of 70 "
                                 "has a standard error of 29.4 points")));
}

// GOOD-PCBA: 128 answers, of which most are not known; the law of concepts reads their mean.
TEST(GoodPcbaFiles, AnswersThatAreNotKnownStayUnknown) {
  const test::TempFolder folder;
  std::vector<int64_t> atoms;
  std::vector<std::string> scaffolds;
  std::string labels;
  for (int64_t k = 0; k < 30; ++k) {
    atoms.push_back(2 + k % 7);
    scaffolds.push_back(std::string(1, static_cast<char>('a' + k % 11)));
    for (int64_t t = 0; t < 128; ++t) {
      labels += std::string(t == 0 ? "" : ",") + (t == k ? "nan" : (t + k) % 3 == 0 ? "1.0" : "0");
    }
    labels += "\n";
  }
  test::write_chains(folder, "pcba", atoms, labels);
  test::write_scaffolds(folder, "good/pcba/domains.csv.gz", atoms, scaffolds);
  for (const char* shift : {"none", "covariate", "concept"}) {
    const Task task = load_dataset("good-pcba", folder.path(), {{"shift", shift}});
    EXPECT_EQ(task.loss, LossKind::multi_label);
    EXPECT_EQ(task.metric, MetricKind::average_precision);
    EXPECT_EQ(task.classes, 128);
    for (const Role role : {Role::train, Role::validation, Role::test}) {
      const torch::Tensor& y = task.domains(role)[0].labels.y;
      EXPECT_EQ(y.isnan().sum().item<int64_t>(), y.size(0)) << shift;
    }
  }
  folder.write("pcba/raw/graph-label.csv.gz", labels.replace(labels.find("1.0"), 3, "0.5"));
  EXPECT_THAT(test::data_error([&] { load_dataset("good-pcba", folder.path()); }),
              HasSubstr("'0.5' is not 0, 1, nan or empty"));
}

struct HivCase {
  bool by_size;
  Shift shift;
  const char* file;
  std::vector<size_t> sizes;
  const char* first;  // SMILES of the first training molecule: logged by GOOD's runs
};
const std::vector<HivCase> kHivCases = {
    {false, Shift::none, "no_shift", {24676, 0, 0, 8225, 8226}, "CCCC=C(Br)[Si](C)(C)C"},
    {false,
     Shift::covariate,
     "scaffold_covariate",
     {24682, 4112, 4112, 4113, 4108},
     "CC1CCCN2C(=O)CN(Cc3ccccc3)CC(=O)N12"},
    {false,
     Shift::by_concept,
     "scaffold_concept",
     {15209, 3258, 3258, 9365, 10037},
     "CC(=O)c1cc2c3c(c1)c1cc4c(cc1c(=O)n3CC2)OCO4"},
    {true,
     Shift::covariate,
     "size_covariate",
     {26169, 4112, 4112, 2773, 3961},
     "CCOC(=O)C1=CC(C)(C(=O)OCC)Nc2c(O)nc(N)nc2N1"},
    {true,
     Shift::by_concept,
     "size_concept",
     {14454, 3096, 3096, 9956, 10525},
     "Cn1c2cc(O)cc(O)c2c(=O)c2c([N+](=O)[O-])cccc21"}};

TEST(GoodHivData, EveryMoleculeAndEnvironmentIsThatOfTheFiles) {
  REAL_DATA_OR_SKIP(root);
  std::vector<int64_t> atoms;
  std::vector<double> labels;
  std::vector<std::string> smiles;
  const auto domains = test::good_rows(root + "/good/hiv/domains.csv.gz");
  for (const auto& row : domains) atoms.push_back(std::stoll(row.at(1)));
  for (const auto& row : test::good_rows(root + "/molhiv/mapping/mol.csv.gz")) {
    labels.push_back(std::stod(row.at(0)));
    smiles.push_back(row.at(1));
  }
  const std::vector<int64_t> ranks =
      ranks_of(read_scaffolds(root + "/good/hiv/domains.csv.gz", atoms));
  for (size_t k = 0; k < ranks.size(); ++k) {
    ASSERT_EQ(std::to_string(ranks[k]), domains[k].at(2));  // of RDKit's list, sorted by Python
  }
  for (const HivCase& c : kHivCases) {
    SCOPED_TRACE(c.file);
    Streams streams;
    CovariateLaw law;
    law.descending = c.by_size;
    const Split split = split_of_set(c.shift, c.by_size ? atoms : ranks, labels, law,
                                     kConceptOfSets, streams.python);
    EXPECT_EQ(test::sizes_of(split), c.sizes);
    EXPECT_EQ(smiles.at(static_cast<size_t>(split[Subset::train].front())), c.first);
    test::expect_same_lines(
        test::split_lines(split),
        test::file_lines(root + "/good/hiv/split_" + c.file + ".csv.gz", 0, 1, 2));
  }
}

// What the dataset makes of it: labels, atoms and environments of every item in the order of the
// file, and the areas of the specification, which its authors computed with scikit-learn.
TEST(GoodHivData, TheDatasetHasTheseMolecules) {
  REAL_DATA_OR_SKIP(root);
  const test::TempFolder cache;
  DataContext context;
  context.root = root;
  context.cache = cache.path();
  const auto molecules = test::good_rows(root + "/good/hiv/domains.csv.gz");
  const auto labels = test::good_rows(root + "/molhiv/mapping/mol.csv.gz");
  const auto check = [&](const std::string& domain, const std::string& shift,
                         const std::string& areas, const std::vector<int64_t>& actives) {
    SCOPED_TRACE(domain + " " + shift);
    const Task task = load_dataset("good-hiv", context,
                                   {{"domain", domain}, {"shift", shift}, {"report", "all"}});
    std::map<std::string, std::vector<std::vector<int64_t>>> expected;
    for (const auto& row :
         test::good_rows(root + "/good/hiv/split_" + domain + "_" + shift + ".csv.gz")) {
      const size_t k = std::stoul(row.at(0));
      expected[row.at(1)].push_back({std::stoll(molecules.at(k).at(1)),
                                     std::stoll(labels.at(k).at(0)),
                                     row.at(1) == "train" ? std::stoll(row.at(2)) : -1});
    }
    size_t subset = 0;
    for (const char* name : {"train", "id_val", "id_test", "val", "test"}) {
      const Domain& found = test::domain_named(task, name);
      const std::vector<int64_t> sizes = sizes_in(found), y = to_vector(found.labels.y);
      const torch::Tensor& environment = found.labels.environment;
      EXPECT_EQ(std::accumulate(y.begin(), y.end(), int64_t{0}), actives.at(subset++));
      ASSERT_EQ(sizes.size(), expected[name].size());
      for (size_t k = 0; k < sizes.size(); ++k) {
        const int64_t e =
            environment.defined() ? environment[static_cast<int64_t>(k)].item<int64_t>() : -1;
        ASSERT_EQ((std::vector<int64_t>{sizes[k], y[k], e}), expected[name][k]) << name << " " << k;
      }
    }
    for (const std::string& part : {"train " + areas.substr(0, 4), "val " + areas.substr(5, 4),
                                    "test " + areas.substr(10, 4)}) {
      EXPECT_THAT(task.notes, Contains(HasSubstr(part)));
    }
  };
  check("scaffold", "covariate", "63.9 65.6 55.1", {924, 176, 136, 126, 81});
  check("size", "concept", "29.5 92.5 95.3", {486, 104, 102, 345, 406});
}

}  // namespace
}  // namespace grm::good_molecules_tests
