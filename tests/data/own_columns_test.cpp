// Columns become features by what the training domains say. All expected numbers are computed by
// hand beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "own_files.h"

namespace grm {
namespace {

using test::description;
using test::Files;
using test::TempFolder;
using test::write_files;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Task load(const Files& files) {
  const TempFolder folder;
  return load_own(write_files(folder, files));
}

std::vector<float> column(const Domain& domain, int64_t k) {
  const torch::Tensor x = domain.graph.x.to_dense().select(1, k).contiguous();
  return {x.data_ptr<float>(), x.data_ptr<float>() + x.numel()};
}

std::string nodes(const std::string& column_name, const std::vector<std::string>& cells) {
  std::string text = "id,label," + column_name + "\n";
  for (size_t k = 0; k < cells.size(); ++k) text += fmt::format("n{},{},{}\n", k, k % 2, cells[k]);
  return text;
}

Files one_column(const std::string& top, const std::string& end,
                 const std::vector<std::string>& train, const std::vector<std::string>& test) {
  Files files = {{"dataset.toml", description("node", top, end)}};
  for (const std::string domain : {"a", "b", "c"}) {
    files[domain + "/nodes.csv"] = nodes("v", domain == "a" ? train : test);
    files[domain + "/edges.csv"] = "source,target\nn0,n1\n";
  }
  return files;
}

TEST(OwnColumns, ScalingIsFittedOnAllTrainingDomainsAndOnNothingElse) {
  Files files = one_column("", "", {"1", "3"}, {"100", "-100"});
  files["dataset.toml"] =
      "name = \"toy\"\n[train]\ndomains = [\"a\", \"a2\"]\n[validation]\ndomains = [\"b\"]\n"
      "[test]\ndomains = [\"c\"]\n";
  files["a2/nodes.csv"] = nodes("v", {"5", "7"});
  files["a2/edges.csv"] = "source,target\n";
  const Task task = load(files);
  // 1, 3, 5, 7: mean 4, population variance (9 + 1 + 1 + 9) / 4 = 5.
  const auto scaled = [](double v) { return static_cast<float>((v - 4.0) / std::sqrt(5.0)); };
  EXPECT_THAT(column(task.training[0], 0), ElementsAre(scaled(1), scaled(3)));
  EXPECT_THAT(column(task.training[1], 0), ElementsAre(scaled(5), scaled(7)));
  EXPECT_THAT(column(task.test[0], 0), ElementsAre(scaled(100), scaled(-100)));
}

TEST(OwnColumns, AConstantColumnIsCentredAndNotScaled) {
  const Task task = load(one_column("", "", {"0.1", "0.1", "0.1"}, {"0.1", "2.1", "0.1"}));
  EXPECT_THAT(column(task.training[0], 0), ElementsAre(0.F, 0.F, 0.F));
  EXPECT_FLOAT_EQ(column(task.test[0], 0)[1], 2.F);
}

TEST(OwnColumns, LargeNumbersAreScaledInDoublePrecision) {
  // Seconds since 1970: single precision has steps of 128 here.
  const Task task = load(one_column("", "", {"1700000001", "1700000003"}, {"1700000002", "0"}));
  EXPECT_THAT(column(task.training[0], 0), ElementsAre(-1.F, 1.F));
  EXPECT_EQ(column(task.test[0], 0)[0], 0.F);
}

TEST(OwnColumns, MissingNumbersAreTheMeanZeroOrFlagged) {
  const std::vector<std::string> train = {"2", "", "4", "NA"}, test = {"null", "9", "NaN", "3"};
  // Present training values 2 and 4: mean 3, deviation 1.
  const Task mean = load(one_column("missing = \"mean\"\n", "", train, test));
  EXPECT_THAT(column(mean.training[0], 0), ElementsAre(-1.F, 0.F, 1.F, 0.F));
  EXPECT_THAT(column(mean.test[0], 0), ElementsAre(0.F, 6.F, 0.F, 0.F));
  EXPECT_EQ(mean.features(), 1);

  const Task zero = load(one_column("missing = \"zero\"\n", "", train, test));
  EXPECT_THAT(column(zero.training[0], 0), ElementsAre(-1.F, -3.F, 1.F, -3.F));
  const Task plain = load(one_column("missing = \"zero\"\nscale = \"none\"\n", "", train, test));
  EXPECT_THAT(column(plain.test[0], 0), ElementsAre(0.F, 9.F, 0.F, 3.F));

  const Task flag = load(one_column("missing = \"flag\"\n", "", train, test));
  EXPECT_EQ(flag.features(), 2);
  EXPECT_THAT(flag.feature_names, ElementsAre("v", "v is missing"));
  EXPECT_THAT(column(flag.test[0], 0), ElementsAre(0.F, 6.F, 0.F, 0.F));
  EXPECT_THAT(column(flag.training[0], 1), ElementsAre(0.F, 1.F, 0.F, 1.F));
  EXPECT_THAT(column(flag.test[0], 1), ElementsAre(1.F, 0.F, 1.F, 0.F));

  EXPECT_THAT(test::data_error([&] { load(one_column("", "", train, test)); }),
              HasSubstr("nodes.csv:3:3: column 'v': the value is missing"));
}

TEST(OwnColumns, AFlagIsMadeOnlyWhereTrainingMissesValues) {
  const Task task = load(one_column("missing = \"flag\"\n", "", {"2", "4"}, {"", "9"}));
  EXPECT_THAT(task.feature_names, ElementsAre("v"));
  EXPECT_THAT(column(task.test[0], 0), ElementsAre(0.F, 6.F));
}

TEST(OwnColumns, CategoriesAreThoseOfTrainingAndOthersAreZeroWithANote) {
  const Task task = load(one_column("", "[columns]\ncategorical = [\"v\"]\n",
                                    {"red", "blue", "", "red"}, {"green", "blue", "green", "NA"}));
  EXPECT_THAT(task.feature_names, ElementsAre("v=(missing)", "v=blue", "v=red"));
  EXPECT_THAT(column(task.training[0], 0), ElementsAre(0.F, 0.F, 1.F, 0.F));
  EXPECT_THAT(column(task.training[0], 1), ElementsAre(0.F, 1.F, 0.F, 0.F));
  EXPECT_THAT(column(task.training[0], 2), ElementsAre(1.F, 0.F, 0.F, 1.F));
  EXPECT_THAT(column(task.test[0], 0), ElementsAre(0.F, 0.F, 0.F, 1.F));
  EXPECT_THAT(column(task.test[0], 1), ElementsAre(0.F, 1.F, 0.F, 0.F));
  EXPECT_THAT(column(task.test[0], 2), ElementsAre(0.F, 0.F, 0.F, 0.F));
  EXPECT_THAT(task.notes,
              ::testing::Contains(HasSubstr("domain c: 2 cells of column 'v' hold a category that "
                                            "training does not have, such as 'green'")));
}

TEST(OwnColumns, CategoriesComeFirstThenNumbersInTheOrderOfTheFirstTable) {
  Files files = test::table_folder();
  files["dataset.toml"] =
      description("node", "", "[columns]\ncategorical = [\"kind\"]\nignore = [\"note\"]\n");
  for (const std::string domain : {"a", "b", "c"}) {
    files[domain + "/nodes.csv"] =
        "id,label,age,kind,note,height\nn1,0,1,x,hm,10\nn2,1,3,y,,20\nn3,0,5,x,oh,30\n"
        "n4,1,7,y,,40\n";
  }
  // The same columns in another order are the same columns.
  files["c/nodes.csv"] =
      "height,kind,id,age,label\n10,x,n1,1,0\n20,y,n2,3,1\n30,x,n3,5,0\n40,y,n4,7,1\n";
  const Task task = load(files);
  EXPECT_THAT(task.feature_names, ElementsAre("kind=x", "kind=y", "age", "height"));
  EXPECT_TRUE(task.test[0].graph.x.to_dense().equal(task.training[0].graph.x.to_dense()));
  EXPECT_EQ(task.training[0].graph.x.sparse_width(), 2);
}

TEST(OwnColumns, NumericAloneLeavesTheOtherColumnsOutWithANote) {
  Files files = test::table_folder();
  files["dataset.toml"] = description("node", "", "[columns]\nnumeric = [\"height\"]\n");
  const Task task = load(files);
  EXPECT_THAT(task.feature_names, ElementsAre("height"));
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("not used: age")));
}

TEST(OwnColumns, EdgeColumnsOfSetsFollowTheSameRules) {
  Files files = test::graph_tables();
  files["dataset.toml"] = description("graph", "undirected = true\n",
                                      "[edge_columns]\nnumeric = [\"length\"]\n"
                                      "categorical = [\"strength\"]\n");
  const Task task = load(files);
  const Graph& set = task.training[0].graph;
  EXPECT_EQ(set.edge_x.rows(), 8);
  EXPECT_EQ(set.edge_x.width(), 5);  // four strengths, one length
  EXPECT_FALSE(set.edge_weights.defined());
  // Lengths 1.5, 2.5, 3.5, 4.5: mean 3, population variance 1.25. The first edge is q -> p.
  EXPECT_FLOAT_EQ(set.edge_x.dense[0][0].item<float>(), static_cast<float>(-1.5 / std::sqrt(1.25)));
}

TEST(OwnColumns, ArraysAreScaledAndFilledWhenAskedFor) {
  test::Arrays a = test::node_arrays();
  a.list["x"] = test::float_array("(4, 2)", {2, 1, std::nanf(""), 1, 4, 1, 3, 1});
  Files files = test::array_folder(a);
  files["dataset.toml"] = description("node", "scale = \"standard\"\nmissing = \"flag\"\n");
  const Task task = load(files);
  // 2, 4, 3: mean 3, population variance 2/3.
  const float unit = static_cast<float>(1.0 / std::sqrt(2.0 / 3.0));
  EXPECT_EQ(task.features(), 3);
  EXPECT_THAT(column(task.training[0], 0), ElementsAre(-unit, 0.F, unit, 0.F));
  EXPECT_THAT(column(task.training[0], 1), ElementsAre(0.F, 1.F, 0.F, 0.F));
  EXPECT_THAT(column(task.training[0], 2), ElementsAre(0.F, 0.F, 0.F, 0.F));
}

}  // namespace
}  // namespace grm
