// What a check lets pass and still tells: each of these once passed in silence, or came with advice
// that did not help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "own_files.h"

namespace grm {
namespace {

using test::Arrays;
using test::data_error;
using test::description;
using test::Files;
using test::TempFolder;
using test::write_files;
using ::testing::Contains;
using ::testing::HasSubstr;

struct Case {
  std::string name;
  Files files;
  std::string what;  // behind the folder's path
  std::string fix;
};

Files with_array(const std::string& name, const std::string& bytes) {
  Arrays arrays = test::node_arrays();
  arrays.list[name] = bytes;
  return test::array_folder(arrays);
}

std::vector<Case> cases() {
  Files outside = test::table_folder();
  outside["dataset.toml"] = description("node", "", "[csv]\nnodes = \"../a/nodes.csv\"\n");
  Files weighted = test::table_folder();
  for (const char* domain : {"a", "b", "c"}) {
    weighted[std::string(domain) + "/edges.csv"] = "source,target,w\nn1,n2,3\n";
  }
  Files listed = test::table_folder();
  listed["dataset.toml"] = description("node", "", "[columns]\nnumeric = [\"age\"]\n");
  Arrays no_edges = test::node_arrays();
  no_edges.list["edge_index"] = test::int_array("(2, 0)", {});
  return {
      {"train mask", with_array("train_mask", test::int_array("(4,)", {1, 0, 0, 1})),
       "a.npz: array 'train_mask' is not used", "split = \"masks\""},
      {"val mask", with_array("val_mask", test::int_array("(4,)", {1, 0, 0, 1})),
       "a.npz: array 'val_mask' is not used", "split = \"masks\""},
      {"another", with_array("pos", test::float_array("(4, 1)", {1, 2, 3, 4})),
       "a.npz: array 'pos' is not used", "into x"},
      {"edges", test::array_folder(no_edges), "a.npz: domain 'a' has no edge", "write its edges"},
      {"column", listed, "a/nodes.csv:1:4: a column that is not used: height", "ignore"},
      {"weights", weighted, "a/edges.csv:1:3: a column that is not used: w", "[edge_columns]"},
      {"outside", outside, "dataset.toml:11:9: '../a/nodes.csv' lies outside the folder",
       "copy the table"},
  };
}

TEST(Trust08DataCheck, WhatIsIgnoredIsTold) {
  for (const Case& each : cases()) {
    const TempFolder folder;
    const std::string path = write_files(folder, each.files);
    std::vector<Problem> warnings;
    const std::vector<Problem> problems = check_own(path, false, &warnings);
    EXPECT_TRUE(problems.empty()) << each.name << ": " << problems.front().text();
    bool found = false;
    for (const Problem& warning : warnings) {
      if (warning.text().rfind(path + "/" + each.what, 0) != 0) continue;
      found = true;
      EXPECT_THAT(warning.fix, HasSubstr(each.fix)) << each.name;
    }
    EXPECT_TRUE(found) << each.name << ": "
                       << (warnings.empty() ? "no warning" : warnings.front().text());
    // Whoever trains on it is told as well.
    EXPECT_THAT(load_own(path).notes, Contains(HasSubstr(each.what))) << each.name;
  }
}

TEST(Trust08DataCheck, GoodFoldersHaveNoWarnings) {
  for (const Files& files : {test::table_folder(), test::array_folder(), test::shared_folder(),
                             test::graph_tables(), test::graph_array_folder()}) {
    const TempFolder folder;
    std::vector<Problem> warnings;
    EXPECT_TRUE(check_own(write_files(folder, files), false, &warnings).empty());
    EXPECT_TRUE(warnings.empty()) << warnings.front().text();
  }
}

TEST(Trust08DataCheck, ClassesThatDifferInCaseOrBlanksAreTold) {
  for (const auto& [one, two] :
       {std::pair<std::string, std::string>{"no", "NO"}, {"not yet", "notyet"}, {"no", "No"}}) {
    const TempFolder folder;
    Files files = {{"dataset.toml", description()}};
    for (const char* domain : {"a", "b", "c"}) {
      files[std::string(domain) + "/nodes.csv"] =
          fmt::format("id,label,age\nn1,{},1\nn2,yes,3\nn3,{},5\n", one, two);
      files[std::string(domain) + "/edges.csv"] = "source,target\nn1,n2\n";
    }
    std::vector<Problem> warnings;
    EXPECT_TRUE(check_own(write_files(folder, files), false, &warnings).empty());
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].file, folder.path() + "/a/nodes.csv");
    EXPECT_EQ(warnings[0].column, 2);
    EXPECT_EQ(warnings[0].line, 4) << "where the second of them comes first";
    EXPECT_THAT(warnings[0].what, HasSubstr("'" + one + "'"));
    EXPECT_THAT(warnings[0].what, HasSubstr("'" + two + "'"));
  }
}

TEST(Trust08DataCheck, SeveralLabelsOfAnItemGetAFixThatHelps) {
  const TempFolder one, many;
  const std::string message = data_error([&] {
    load_own(
        write_files(many, with_array("y", test::int_array("(4, 2)", {1, 0, 0, 1, 1, 1, 0, 0}))));
  });
  EXPECT_THAT(message, HasSubstr("several labels for one item"));
  EXPECT_THAT(message, HasSubstr("y.argmax(axis=1)"));
  EXPECT_THAT(
      data_error([&] {
        load_own(write_files(one, with_array("y", test::int_array("(4, 1)", {1, 0, 0, 1}))));
      }),
      HasSubstr("reshape(-1)"));
}

// 1, 0.5, -2 and 65504, the largest, as IEEE 754 half precision.
TEST(Trust08DataCheck, HalfPrecisionIsRead) {
  const TempFolder folder;
  const std::string bytes = test::bytes_of(std::vector<uint16_t>{0x3C00, 0x3800, 0xC000, 0x7BFF});
  const Task task = load_own(write_files(folder, [&] {
    Files files = test::array_folder();
    Arrays arrays = test::node_arrays();
    arrays.list["x"] = test::npy("<f2", "(4, 1)", bytes);
    for (const char* name : {"a.npz", "b.npz", "c.npz"}) files[name] = arrays.npz();
    return files;
  }()));
  EXPECT_TRUE(task.training[0].graph.x.to_dense().view(-1).equal(
      torch::tensor({1.0F, 0.5F, -2.0F, 65504.0F})));
}

TEST(Trust08DataCheck, ATableIsNoDataset) {
  const TempFolder folder;
  const std::string path = write_files(folder, test::table_folder()) + "/a/nodes.csv";
  EXPECT_TRUE(is_own_data(path));
  const std::string message = data_error([&] { load_own(path); });
  EXPECT_THAT(message, HasSubstr("this is a table; a folder with dataset.toml is expected"));
  EXPECT_THAT(message, HasSubstr("grm data init"));
}

TEST(Trust08DataCheck, AModelCannotNameTablesOutsideTheFolder) {
  const TempFolder training, fresh;
  const Task task = load_own(write_files(training, test::table_folder()));
  std::string rules = task.preprocessing;
  const std::string name = "\"nodes\":\"nodes.csv\"";
  ASSERT_NE(rules.find(name), std::string::npos);
  rules.replace(rules.find(name), name.size(), "\"nodes\":\"../../secret.csv\"");
  EXPECT_THAT(data_error([&] { load_for_prediction(fresh.path(), rules, Level::node, 2, 0); }),
              HasSubstr("'../../secret.csv', which lies outside this folder"));
}

}  // namespace
}  // namespace grm
