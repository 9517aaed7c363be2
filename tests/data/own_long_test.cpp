// Features given number by number (id,feature,value) and libsvm files: the same numbers as a wide
// table has, which is what they are compared with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "own_files.h"

namespace grm::own_long_tests {
namespace {

using test::data_error;
using test::description;
using test::Files;
using test::TempFolder;
using test::write_files;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kDomains[] = {"a", "b", "c"};

// Features w, 2 and 10 (in this order in the wide table: numbers first, by size) and age.
Files wide_folder() {
  Files files = {{"dataset.toml", description()}};
  for (const std::string domain : kDomains) {
    files[domain + "/nodes.csv"] =
        "id,label,age,2,10,w\nn1,0,1,0,0.5,0\nn2,1,3,0,0,-2\nn3,0,5,4,0,0\nn4,1,7,0,0,1\n";
    files[domain + "/edges.csv"] = "source,target\nn1,n2\nn2,n3\nn3,n4\nn4,n1\n";
  }
  return files;
}

Files long_folder() {
  Files files = wide_folder();
  files["dataset.toml"] = description("node", "", "[csv]\nfeatures = \"features.csv\"\n");
  for (const std::string domain : kDomains) {
    files[domain + "/nodes.csv"] = "id,label,age\nn1,0,1\nn2,1,3\nn3,0,5\nn4,1,7\n";
    files[domain + "/features.csv"] = "value,id,feature\n4,n3,2\n0.5,n1,10\n-2,n2,w\n1,n4,w\n";
  }
  return files;
}

// The same without age, and nodes called 0, 1, 2, 3.
Files libsvm_folder() {
  Files files = {{"dataset.toml", description("node", "", "[csv]\nnodes = \"nodes.libsvm\"\n")}};
  for (const std::string domain : kDomains) {
    files[domain + "/nodes.libsvm"] = "0 10:0.5\n1  11:-2 # a comment 3:4\n0\t2:4\n1 11:1 \n";
    files[domain + "/edges.csv"] = "source,target\n0,1\n1,2\n2,3\n3,0\n";
  }
  return files;
}

TEST(OwnLong, GivesTheFeaturesOfTheWideTable) {
  const TempFolder a, b;
  const Task wide = load_own(write_files(a, wide_folder()));
  const Task given = load_own(write_files(b, long_folder()));
  EXPECT_THAT(given.feature_names, ElementsAre("age", "2", "10", "w"));
  EXPECT_EQ(given.feature_names, wide.feature_names);
  EXPECT_TRUE(given.training[0].graph.x.to_dense().equal(wide.training[0].graph.x.to_dense()));
  EXPECT_TRUE(given.hashes.count("a/features.csv"));
}

TEST(OwnLong, LibsvmGivesTheSameColumns) {
  const TempFolder a, b;
  const Task wide = load_own(write_files(a, wide_folder()));
  const Task given = load_own(write_files(b, libsvm_folder()));
  EXPECT_THAT(given.feature_names, ElementsAre("2", "10", "11"));
  EXPECT_TRUE(given.training[0].graph.x.to_dense().equal(
      wide.training[0].graph.x.to_dense().slice(1, 1, 4).contiguous()));
  EXPECT_TRUE(given.test[0].labels.y.equal(wide.test[0].labels.y));
  EXPECT_TRUE(
      given.training[0].graph.edges->in.indices.equal(wide.training[0].graph.edges->in.indices));
  EXPECT_THAT(given.test[0].item_names, ElementsAre("0", "1", "2", "3"));
}

std::vector<Domain> predict(const std::string& path, const Task& task) {
  return load_for_prediction(path, task.preprocessing, task.level, task.features(), 0);
}

TEST(OwnLong, TheModelReadsNewFilesAndCountsWhatItDoesNotKnow) {
  for (const bool libsvm : {false, true}) {
    const TempFolder folder, fresh;
    const Task task = load_own(write_files(folder, libsvm ? libsvm_folder() : long_folder()));
    const Domain again = predict(folder.file("b"), task).at(0);
    EXPECT_TRUE(again.graph.x.to_dense().equal(task.validation[0].graph.x.to_dense()));
    if (libsvm) {
      fresh.write("nodes.libsvm", "? 2:4 99:1 98:1\n1 11:1\n");
      fresh.write("edges.csv", "source,target\n0,1\n");
    } else {
      fresh.write("nodes.csv", "id,age\nm,5\nk,7\n");
      fresh.write("features.csv", "id,feature,value\nm,99,1\nm,2,4\nk,w,1\nm,98,1\n");
      fresh.write("edges.csv", "source,target\nm,k\n");
    }
    test::WarningTrap trap;
    const Domain read = predict(fresh.path(), task).at(0);
    ASSERT_EQ(trap.warnings.size(), 1u);
    EXPECT_THAT(trap.warnings[0], HasSubstr("2 numbers of features that training did not have are "
                                            "skipped; the first is '99'"));
    // Rows n3 and n4 of training.
    EXPECT_TRUE(read.graph.x.to_dense().equal(
        task.training[0].graph.x.to_dense().slice(0, 2, 4).contiguous()));
  }
}

TEST(OwnLong, FeaturesOfOtherTrainingDomainsBelongToTheColumns) {
  Files files = long_folder();
  files["dataset.toml"] =
      "name = \"t\"\n[csv]\nfeatures = \"features.csv\"\n[train]\ndomains = [\"a\", \"b\"]\n"
      "[validation]\ndomains = [\"c\"]\n";
  files["b/features.csv"] += "3,n1,zebra\n";
  files["c/features.csv"] += "3,n1,only-here\n";
  const TempFolder folder;
  const Task task = load_own(write_files(folder, files));
  EXPECT_THAT(task.feature_names, ElementsAre("age", "2", "10", "w", "zebra"));
  ASSERT_FALSE(task.notes.empty());
  EXPECT_THAT(task.notes[0], HasSubstr("1 number of features that training did not have is"));
}

TEST(OwnLong, ParquetIsNamedWithTheWayToReadIt) {
  Files files = test::table_folder();
  files.erase("a/nodes.csv");
  files["a/nodes.parquet"] = "PAR1";
  const TempFolder folder;
  const std::string error = data_error([&] { load_own(write_files(folder, files)); });
  EXPECT_THAT(error, HasSubstr("a/nodes.parquet, and this program reads no Parquet"));
  EXPECT_THAT(error, HasSubstr("python3 -m grm.parquet"));
}

struct BrokenLong {
  std::string name;
  bool libsvm;
  std::string file, text, message, fix;
};

class BrokenLongFolder : public testing::TestWithParam<BrokenLong> {};

TEST_P(BrokenLongFolder, IsToldWithFileLineAndFix) {
  Files files = GetParam().libsvm ? libsvm_folder() : long_folder();
  files[GetParam().file] = GetParam().text;
  const TempFolder folder;
  const std::string path = write_files(folder, files);
  const std::string thrown = data_error([&] { load_own(path); });
  EXPECT_THAT(thrown, HasSubstr(GetParam().message));
  EXPECT_THAT(thrown, HasSubstr(GetParam().fix));
  const std::vector<Problem> problems = check_own(path);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems.front().text(), thrown);
}

INSTANTIATE_TEST_SUITE_P(
    Own, BrokenLongFolder,
    testing::Values(
        BrokenLong{"UnknownNode", false, "a/features.csv", "id,feature,value\nn9,2,1\n",
                   "a/features.csv:2:1: node 'n9' is not in nodes.csv", "correct the id"},
        BrokenLong{"NoNumber", false, "a/features.csv", "id,feature,value\nn1,2,many\n",
                   "a/features.csv:2:3: 'many' is not a number", "leave out what is zero"},
        BrokenLong{"Twice", false, "a/features.csv", "id,feature,value\nn1,2,1\nn1,2,1\n",
                   "a/features.csv:3: the feature '2' of this node came before, in line 2",
                   "each number once"},
        BrokenLong{"NoName", false, "a/features.csv", "id,feature,value\nn1,,1\n",
                   "a/features.csv:2:2: the feature has no name", "remove the line"},
        BrokenLong{"NoColumn", false, "a/features.csv", "id,word,value\nn1,2,1\n",
                   "a/features.csv:1: there is no column 'feature'", "add it"},
        BrokenLong{"ColumnAndFeature", false, "a/features.csv", "id,feature,value\nn1,age,1\n",
                   "the feature 'age' is a column of nodes.csv, too", "one of the two"},
        BrokenLong{"NoColon", true, "a/nodes.libsvm", "0 1:2\n1 17\n",
                   "a/nodes.libsvm:2:2: '17' is not index:value", "as in 7:0.5"},
        BrokenLong{"NegativeIndex", true, "a/nodes.libsvm", "0 1:2\n1 -3:1\n",
                   "a/nodes.libsvm:2:2: '-3:1' is not index:value", "whole number"},
        BrokenLong{"NoValue", true, "a/nodes.libsvm", "0 1:x\n",
                   "a/nodes.libsvm:1:2: 'x' is not a number", "leave out"},
        BrokenLong{"NoLabel", true, "a/nodes.libsvm", "1:1 2:1\n",
                   "a/nodes.libsvm:1:1: the line begins with '1:1', not with a label", "or ?"},
        BrokenLong{"TwiceInALine", true, "a/nodes.libsvm", "0 1:1 1:2\n",
                   "a/nodes.libsvm:1: the feature '1' of this node came before", "each number"},
        BrokenLong{"Empty", true, "a/nodes.libsvm", "", "a/nodes.libsvm",
                   "add a column of numbers"},
        BrokenLong{"NamesDomains", true, "dataset.toml",
                   description("node", "domain = \"month\"\n",
                               "[csv]\nnodes = \"a/nodes.libsvm\"\nedges = \"a/edges.csv\"\n"),
                   "a/nodes.libsvm: a libsvm file has no column that names domains",
                   "a folder for each domain"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace grm::own_long_tests
