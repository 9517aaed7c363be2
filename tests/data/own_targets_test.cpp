// Targets that are not classes, domains that are split, and what edges between nodes carry.
#include <gtest/gtest.h>

#include <cmath>

#include "own_files.h"

namespace grm::own_target_tests {
namespace {

using test::Arrays;
using test::Files;
using test::float_array;
using test::int_array;
using test::TempFolder;
using test::write_files;

const float kUnknown = std::nanf("");

std::vector<int64_t> ints(const torch::Tensor& t) {
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}
std::vector<float> floats(const torch::Tensor& given) {
  const torch::Tensor t = given.contiguous();
  return {t.data_ptr<float>(), t.data_ptr<float>() + t.numel()};
}

std::string toml(const std::string& top, const std::string& end = "") {
  return "name = \"toy\"\n" + top +
         "[train]\ndomains = [\"a\"]\n[validation]\ndomains = [\"b\"]\n" + end;
}

// Ring n1 -> n2 -> n3 -> n4 -> n1; edge ids follow the target, so the ring's last pair comes first.
TEST(OwnTargets, WeightsAndFeaturesOfEdgesAreReadAtNodeLevel) {
  Files files = test::table_folder();
  files["dataset.toml"] = test::description("node", "scale = \"none\"\n",
                                            "[edge_columns]\nnumeric = [\"km\"]\nweight = \"w\"\n");
  for (const std::string domain : {"a", "b", "c"}) {
    files[domain + "/edges.csv"] =
        "source,target,w,km\nn1,n2,0.5,10\nn2,n3,1,20\nn3,n4,2,30\nn4,n1,0,40\n";
  }
  const TempFolder folder;
  const Task task = load_own(write_files(folder, files));
  const Graph& graph = task.training[0].graph;
  EXPECT_EQ(floats(graph.edge_weights), (std::vector<float>{0, 0.5, 1, 2}));
  EXPECT_EQ(floats(graph.edge_x.to_dense()), (std::vector<float>{40, 10, 20, 30}));
  EXPECT_EQ(task.train_view().edge_features, 1);

  Arrays arrays = test::node_arrays();
  arrays.list["edge_weight"] = float_array("(4,)", {0.5, 1, 2, 0});
  arrays.list["edge_attr"] = float_array("(4, 1)", {10, 20, 30, 40});
  Files npz = {{"dataset.toml", test::description("node", "undirected = true\n")}};
  for (const char* name : {"a.npz", "b.npz", "c.npz"}) npz[name] = arrays.npz();
  const TempFolder second;
  const Graph both = load_own(write_files(second, npz)).training[0].graph;
  ASSERT_EQ(both.edges->nnz(), 8);
  const auto [source, target] = edge_list(*both.edges);
  const float weight[4][4] = {{0, 0.5, 0, 0}, {0.5, 0, 1, 0}, {0, 1, 0, 2}, {0, 0, 2, 0}};
  for (int64_t e = 0; e < 8; ++e) {
    EXPECT_EQ(both.edge_weights[e].item<float>(),
              weight[source[e].item<int64_t>()][target[e].item<int64_t>()]);
  }
}

TEST(OwnTargets, MasksDivideADomainBesideOthers) {
  Arrays arrays = test::node_arrays();
  arrays.list["train_mask"] = int_array("(4,)", {1, 1, 0, 0});
  arrays.list["val_mask"] = int_array("(4,)", {0, 0, 1, 0});
  arrays.list["test_mask"] = int_array("(4,)", {0, 0, 0, 1});
  Files files = {{"dataset.toml",
                  "name = \"toy\"\nsplit = \"masks\"\n[train]\ndomains = [\"a\"]\n"
                  "[test]\ndomains = [\"c\"]\n"},
                 {"a.npz", arrays.npz()},
                 {"c.npz", test::node_arrays().npz()}};
  const TempFolder folder;
  const Task task = load_own(write_files(folder, files));
  ASSERT_EQ(task.training.size(), 1u);
  ASSERT_EQ(task.validation.size(), 1u);
  ASSERT_EQ(task.test.size(), 2u);
  EXPECT_EQ(ints(task.training[0].labels.loss), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(task.validation[0].name, "a-val");
  EXPECT_EQ(ints(task.validation[0].labels.evaluate), (std::vector<int64_t>{2}));
  EXPECT_EQ(task.test[0].name, "a-test");
  EXPECT_EQ(ints(task.test[0].labels.evaluate), (std::vector<int64_t>{3}));
  EXPECT_EQ(task.test[1].labels.evaluate.numel(), 4) << "a whole domain beside it";
  EXPECT_EQ(task.test[0].graph.edges, task.training[0].graph.edges) << "one graph";

  arrays.list["val_mask"] = int_array("(4,)", {0, 1, 1, 0});
  files["a.npz"] = arrays.npz();
  const TempFolder wrong;
  EXPECT_THROW(load_own(write_files(wrong, files)), Error) << "a node of two masks";
}

TEST(OwnTargets, TimeAndWordsDivideTables) {
  const std::string rows =
      "n1,0,1,10,2019-03-01\nn2,1,3,20,2019-12-31\nn3,0,5,30,2020-06-01\n"
      "n4,1,7,40,2021-01-01\n";
  const auto split = [&](const std::string& top, const std::string& nodes) {
    const TempFolder folder;
    return load_own(write_files(
        folder, {{"dataset.toml", "name = \"toy\"\n" + top + "[train]\ndomains = [\"a\"]\n"},
                 {"a/nodes.csv", nodes},
                 {"a/edges.csv", "source,target\nn1,n2\nn2,n3\nn3,n4\n"}}));
  };
  const Task task = split("split = \"time\"\nuntil = [\"2019-12-31\", \"2020-12-31\"]\n",
                          "id,label,age,height,time\n" + rows);
  EXPECT_EQ(ints(task.training[0].labels.loss), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(ints(task.validation[0].labels.evaluate), (std::vector<int64_t>{2}));
  EXPECT_EQ(ints(task.test[0].labels.evaluate), (std::vector<int64_t>{3}));
  EXPECT_EQ(task.features(), 2) << "the time is no feature";
  const Task words = split("split = \"masks\"\n",
                           "id,label,age,height,split\nn1,0,1,10,train\nn2,1,3,20,train\n"
                           "n3,0,5,30,val\nn4,1,7,40,\n");
  EXPECT_EQ(ints(words.training[0].labels.loss), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(words.test.size(), 0u);
}

TEST(OwnTargets, ARegressionIsScaledByTrainingForMethodsAlone) {
  Files files = test::table_folder();
  files["dataset.toml"] = toml("target = \"regression\"\n");
  files["a/nodes.csv"] = "id,label,age,height\nn1,2,1,10\nn2,6,3,20\nn3,,5,30\nn4,4,7,40\n";
  const TempFolder folder;
  const Task task = load_own(write_files(folder, files));
  EXPECT_EQ(task.loss, LossKind::squared);
  EXPECT_EQ(task.metric, MetricKind::rmse);
  EXPECT_EQ(task.classes, 1);
  EXPECT_EQ(ints(task.training[0].labels.loss), (std::vector<int64_t>{0, 1, 3}));
  const double deviation = std::sqrt(8.0 / 3.0);
  EXPECT_NEAR(task.target_scale.mean.at(0), 4.0, 1e-12);
  EXPECT_NEAR(task.target_scale.deviation.at(0), deviation, 1e-12);
  EXPECT_EQ(task.training[0].labels.y[1].item<float>(), 6.0F);
  const Labels seen = task.train_view().training[0].labels;
  EXPECT_NEAR(seen.y[1].item<float>(), 2.0 / deviation, 1e-6);
  EXPECT_NEAR(task.target_scale.restored(seen.y)[0].item<float>(), 2.0, 1e-6);
}

TEST(OwnTargets, MultiLabelTargetsHaveUnknownEntries) {
  Arrays arrays = test::node_arrays();
  arrays.list["y"] = float_array("(4, 2)", {1, 0, kUnknown, 1, kUnknown, kUnknown, 0, 0});
  Files files = {
      {"dataset.toml", toml("target = \"multi-label\"\ntargets = [\"toxic\", \"active\"]\n")},
      {"a.npz", arrays.npz()},
      {"b.npz", arrays.npz()}};
  const TempFolder folder;
  const Task task = load_own(write_files(folder, files));
  EXPECT_EQ(task.classes, 2);
  EXPECT_EQ(task.metric, MetricKind::roc_auc);
  EXPECT_EQ(task.label_names, (std::vector<std::string>{"toxic", "active"}));
  EXPECT_EQ(ints(task.training[0].labels.loss), (std::vector<int64_t>{0, 1, 3}));

  Files tables = test::graph_tables();
  tables["dataset.toml"] = toml(
      "level = \"graph\"\ntarget = \"multi-label\"\n"
      "targets = [\"toxic\", \"active\"]\nmetric = \"micro_f1\"\n");
  for (const std::string domain : {"a", "b"}) {
    tables[domain + "/graphs.csv"] = "id,toxic,active\ng1,yes,\ng2,0,1\n";
  }
  const TempFolder second;
  const Task graphs = load_own(write_files(second, tables));
  const torch::Tensor y = graphs.training[0].labels.y;
  EXPECT_EQ(y.sizes(), (at::IntArrayRef{2, 2}));
  EXPECT_EQ(y[0][0].item<float>(), 1.0F);
  EXPECT_TRUE(std::isnan(y[0][1].item<float>()));
  EXPECT_EQ(y[1][1].item<float>(), 1.0F);
}

}  // namespace
}  // namespace grm::own_target_tests
