#include <torch/types.h>

#include <filesystem>
#include <set>

#include "data/good_files.h"
#include "data/helpers.h"
#include "data/molecule_files.h"

namespace grm::drugood_tests {
namespace {

using test::load_dataset;
using test::to_vector;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAssay[] = "molecules/drugood-ec50/split_assay.csv.gz";
constexpr char kHeader[] = "molecule,subset,label,domain,pEC50,assay\n";

// Ten chains of 2 to 11 atoms, two for each subset.
struct LigandFiles : ::testing::Test {
  LigandFiles() {
    test::write_chains(folder, "molecules/drugood-ec50", {2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    folder.write(kAssay, rows());
  }
  // Rows of the table, one of them replaced.
  static std::string rows(size_t at = 99, const std::string& row = "") {
    std::vector<std::string> all = {
        "7,train,1,50,5.1,12", "2,train,0,4,4.9,3",   "3,id_val,0,50,4.0,12", "4,id_val,1,4,6,3",
        "5,id_test,1,50,7,12", "6,id_test,0,4,3.5,3", "1,val,0,8,1,9",        "0,val,1,8,5.5,9",
        "9,test,1,2,5,8",      "8,test,0,2,4.7,8"};
    if (at < all.size()) all[at] = row;
    std::string text = kHeader;
    for (const std::string& each : all) text += each + "\n";
    return text;
  }
  Task load(const test::Settings& settings = {}) const {
    return load_dataset("drugood-ec50", folder.path(), settings);
  }
  std::string error(size_t at, const std::string& row) const {
    folder.write(kAssay, rows(at, row));
    return test::data_error([&] { load(); });
  }
  test::TempFolder folder;
};

std::vector<int64_t> sizes_in(const Domain& domain) {
  return to_vector(domain.graph.parts.diff());
}

TEST_F(LigandFiles, SubsetsLabelsAndEnvironmentsAreThoseOfTheTable) {
  const Task task = load({{"report", "all"}});
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.loss, LossKind::binary_pair);
  EXPECT_EQ(task.metric, MetricKind::roc_auc);
  EXPECT_THAT(sizes_in(task.training[0]), ElementsAre(9, 4));
  EXPECT_THAT(to_vector(task.training[0].labels.y), ElementsAre(1, 0));
  EXPECT_THAT(to_vector(task.training[0].labels.environment), ElementsAre(1, 0));  // 50 and 4
  EXPECT_THAT(sizes_in(task.validation[0]), ElementsAre(3, 2));
  EXPECT_THAT(to_vector(task.validation[0].labels.y), ElementsAre(0, 1));
  ASSERT_EQ(task.test.size(), 3u);
  EXPECT_THAT(sizes_in(task.test[0]), ElementsAre(11, 10));
  EXPECT_THAT(sizes_in(task.test[1]), ElementsAre(7, 8));
  EXPECT_EQ(task.test[2].name, "id_val");
  EXPECT_EQ(load({{"choose_by", "id_val"}}).validation[0].name, "id_val");
}

TEST_F(LigandFiles, BadRowsAreNamed) {
  const std::string expected =
      "expected a molecule in 0..9, one of train, id_val, id_test, val, "
      "test, and 0 or 1";
  for (const char* row : {"10,val,1,8,5,9", "0,ood_val,1,8,5,9", "0,val,2,8,5,9"}) {
    const std::string message = error(7, row);
    EXPECT_THAT(message, HasSubstr("split_assay.csv.gz:9: molecule "));
    EXPECT_THAT(message, HasSubstr(expected));
  }
  EXPECT_THAT(error(7, "1,val,1,8,5,9"), HasSubstr(":9: molecule 1 came before"));
  folder.write(kAssay, "smiles,subset\n");
  EXPECT_THAT(test::data_error([&] { load(); }), HasSubstr("the header is 'smiles,subset'"));
}

TEST_F(LigandFiles, EachDomainAsksForItsOwnTable) {
  EXPECT_THAT(test::data_error([&] {
                load({{"domain", "size"}});
              }),
              HasSubstr(folder.file("molecules/drugood-ec50/split_size.csv.gz")));
}

TEST_F(LigandFiles, OtherMoleculesMayHaveLabels) {
  const DatasetChoice choice("drugood-ec50");
  const std::string path = folder.file("molecules/drugood-ec50");
  ASSERT_TRUE(choice.dataset().is_unseen_form(path));
  EXPECT_TRUE(choice.dataset().load_unseen(path, {})[0].labels.y.eq(-1).all().item<bool>());
  folder.write("molecules/drugood-ec50/raw/graph-label.csv.gz", "0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n");
  EXPECT_EQ(choice.dataset().load_unseen(path, {})[0].labels.y.sum().item<int64_t>(), 5);
}

// Counts of the publishers' JSON, areas computed with scikit-learn: see the table of the datasets.
TEST(DrugoodData, HasThePublishedSubsets) {
  REAL_DATA_OR_SKIP(root);
  const test::TempFolder cache;
  DataContext context;
  context.root = root;
  context.cache = cache.path();
  struct Case {
    const char* domain;
    std::vector<int64_t> sizes;  // train, val, test, id_test, id_val
    int64_t environments;
    const char* areas[3];
  };
  for (const Case& c :
       {Case{"assay", {4540, 2572, 2490, 1557, 1502}, 47, {"train 68.6", "val 69.9", "test 60.9"}},
        Case{"scaffold",
             {2570, 2532, 2533, 4446, 580},
             850,
             {"train 71.6", "val 59.1", "test 56.5"}},
        Case{"size",
             {4684, 2313, 2398, 1753, 1513},
             167,
             {"train 67.3", "val 53.1", "test 47.5"}}}) {
    SCOPED_TRACE(c.domain);
    const Task task =
        load_dataset("drugood-ec50", context, {{"domain", c.domain}, {"report", "all"}});
    std::vector<int64_t> sizes = {task.training[0].graph.items(), task.validation[0].graph.items()};
    for (const Domain& domain : task.test) sizes.push_back(domain.graph.items());
    EXPECT_EQ(sizes, c.sizes);
    EXPECT_EQ(task.training[0].labels.environment.max().item<int64_t>(), c.environments - 1);
    for (const char* area : c.areas) EXPECT_THAT(task.notes, Contains(HasSubstr(area)));
  }
}

}  // namespace
}  // namespace grm::drugood_tests
