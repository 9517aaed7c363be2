#include "grm/data/own_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "data/describe.h"
#include "own_files.h"

namespace grm {
namespace {

using test::description;
using test::Files;
using test::TempFolder;
using test::to_vector;
using test::write_files;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The smallest complete description that the documents promise.
TEST(OwnData, LoadsTheSmallestDescriptionWithOneNpzPerDomain) {
  const TempFolder folder;
  const std::string path = write_files(folder, {{"dataset.toml", R"(name = "citations"
level = "node"            # or "graph"
metric = "accuracy"       # accuracy, roc_auc, macro_f1
[train]
domains = ["acmv9"]       # acmv9.npz, or acmv9/nodes.csv and acmv9/edges.csv
[validation]
domains = ["citationv1"]
[test]
domains = ["dblpv7"]
)"},
                                                {"acmv9.npz", test::node_arrays().npz()},
                                                {"citationv1.npz", test::node_arrays().npz()},
                                                {"dblpv7.npz", test::node_arrays().npz()}});
  const Task task = load_own(path);
  EXPECT_EQ(task.name, "citations");
  EXPECT_EQ(task.level, Level::node);
  EXPECT_EQ(task.classes, 2);
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  ASSERT_EQ(task.training.size(), 1u);
  ASSERT_EQ(task.validation.size(), 1u);
  ASSERT_EQ(task.test.size(), 1u);
  EXPECT_EQ(task.test[0].name, "dblpv7");
  const Domain& domain = task.training[0];
  EXPECT_EQ(domain.name, "acmv9");
  EXPECT_EQ(test::pairs_of(*domain.graph.edges),
            (std::vector<std::pair<int64_t, int64_t>>{{3, 0}, {0, 1}, {1, 2}, {2, 3}}));
  EXPECT_TRUE(domain.graph.x.dense.equal(
      torch::tensor({1.F, 10.F, 3.F, 20.F, 5.F, 30.F, 7.F, 40.F}).reshape({4, 2})));
  EXPECT_THAT(to_vector(domain.labels.y), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(task.hashes.size(), 4u);
  EXPECT_EQ(task.hashes.at("acmv9.npz"), sha256_file(folder.file("acmv9.npz")));
  EXPECT_THAT(check_own(path), ElementsAre());
}

TEST(OwnData, TablesAndArraysOfTheSameNodesGiveTheSameTask) {
  const TempFolder tables, shared, arrays;
  Files with_tables = test::table_folder();
  with_tables["dataset.toml"] = description("node", "scale = \"none\"\n");
  Files with_column = test::shared_folder();
  with_column["dataset.toml"] = description("node", "domain = \"month\"\nscale = \"none\"\n");
  const Task a = load_own(write_files(tables, with_tables));
  const Task b = load_own(write_files(shared, with_column));
  const Task c = load_own(write_files(arrays, test::array_folder()));
  EXPECT_EQ(fingerprint(a), fingerprint(c));
  EXPECT_EQ(fingerprint(b), fingerprint(c));
  EXPECT_THAT(a.training[0].item_names, ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_THAT(b.training[0].item_names, ElementsAre("a1", "a2", "a3", "a4"));
  EXPECT_THAT(c.training[0].item_names, ElementsAre());
  EXPECT_THAT(a.feature_names, ElementsAre("age", "height"));
}

TEST(OwnData, TablesAndArraysOfTheSameGraphsGiveTheSameTask) {
  const TempFolder tables, arrays;
  const Task a = load_own(write_files(tables, test::graph_tables()));
  const Task b = load_own(write_files(arrays, test::graph_array_folder()));
  EXPECT_EQ(fingerprint(a), fingerprint(b));
  const Graph& set = a.training[0].graph;
  EXPECT_THAT(to_vector(set.parts), ElementsAre(0, 2, 5));
  EXPECT_THAT(a.training[0].item_names, ElementsAre("g1", "g2"));
  EXPECT_TRUE(set.x.dense.equal(torch::tensor({1.F, 4.F, 0.5F, -2.F, 8.F}).reshape({5, 1})));
  // Edges in edge order: p -> q, w -> u, u -> v, v -> w.
  EXPECT_TRUE(set.edge_x.dense.equal(torch::tensor({1.5F, 4.5F, 2.5F, 3.5F}).reshape({4, 1})));
  EXPECT_TRUE(set.edge_weights.equal(torch::tensor({0.25F, 2.F, 0.5F, 1.F})));
}

TEST(OwnData, IdsOfNodesNeedToBeUniqueInTheirGraphOnlyWhereEdgesNameIt) {
  Files files = test::graph_tables();
  files["dataset.toml"] = description("graph", "scale = \"none\"\n");
  for (const std::string domain : {"a", "b", "c"}) {
    files[domain + "/nodes.csv"] = "id,graph,charge\n0,g1,1\n1,g1,4\n0,g2,0.5\n1,g2,-2\n2,g2,8\n";
    files[domain + "/edges.csv"] = "graph,source,target\ng1,0,1\ng2,0,1\ng2,1,2\ng2,2,0\n";
  }
  const TempFolder folder;
  const Task task = load_own(write_files(folder, files));
  EXPECT_EQ(test::pairs_of(*task.training[0].graph.edges),
            (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {4, 2}, {2, 3}, {3, 4}}));
}

TEST(OwnData, UndirectedAddsTheReverseOfEachEdgeWithItsData) {
  Files files = test::graph_array_folder();
  files["dataset.toml"] = description("graph", "undirected = true\n");
  const TempFolder graphs, nodes;
  const Task task = load_own(write_files(graphs, files));
  const Graph& set = task.training[0].graph;
  EXPECT_EQ(set.edges->nnz(), 8);
  EXPECT_TRUE(test::is_symmetric(*set.edges));
  EXPECT_EQ(set.edge_weights[0].item<float>(), 0.25F);  // q -> p has the weight of p -> q
  files = test::array_folder();
  files["dataset.toml"] = description("node", "undirected = true\n");
  EXPECT_EQ(load_own(write_files(nodes, files)).training[0].graph.edges->nnz(), 8);
}

TEST(OwnData, LabelsAreNamesNumbersOrMissing) {
  Files files = test::table_folder();
  files["a/nodes.csv"] = "id,label,age\nn1,licit,1\nn2,illicit,3\nn3,,5\nn4,NA,7\n";
  for (const std::string domain : {"b", "c"}) {
    files[domain + "/nodes.csv"] = "id,label,age\nn1,illicit,1\nn2,licit,3\nn3,,5\nn4,NA,7\n";
  }
  const TempFolder sorted, named, floats;
  const Task by_name = load_own(write_files(sorted, files));
  EXPECT_THAT(by_name.label_names, ElementsAre("illicit", "licit"));
  EXPECT_THAT(to_vector(by_name.training[0].labels.y), ElementsAre(1, 0, -1, -1));
  EXPECT_THAT(to_vector(by_name.training[0].labels.loss), ElementsAre(0, 1));
  files["dataset.toml"] = description("node", "labels = [\"licit\", \"illicit\"]\n");
  files["c/nodes.csv"] = "id,label,age\nn1,1,1\nn2,0,3\nn3,-1,5\nn4,null,7\n";
  const Task in_order = load_own(write_files(named, files));
  EXPECT_THAT(to_vector(in_order.training[0].labels.y), ElementsAre(0, 1, -1, -1));
  EXPECT_THAT(to_vector(in_order.test[0].labels.y), ElementsAre(1, 0, -1, -1));
  // pandas writes whole numbers so when some are missing.
  files = test::table_folder();
  files["a/nodes.csv"] = "id,label,age,height\nn1,0.0,1,1\nn2,1.0,3,1\nn3,,5,1\nn4,2.0,7,1\n";
  const Task numbers = load_own(write_files(floats, files));
  EXPECT_EQ(numbers.classes, 3);
  EXPECT_THAT(numbers.label_names, ElementsAre());
  EXPECT_THAT(to_vector(numbers.training[0].labels.y), ElementsAre(0, 1, -1, 2));
}

TEST(OwnData, MasksSayWhichLabelledItemsCount) {
  test::Arrays a = test::node_arrays();
  a.list["y"] = test::float_array("(4,)", {0, 1, std::nanf(""), -7});
  a.list["mask"] = test::npy("|b1", "(4,)", test::bytes_of<uint8_t>({1, 0, 0, 0}));
  a.list["eval_mask"] = test::int_array("(4,)", {0, 1, 0, 0});
  const TempFolder folder;
  Files files = test::array_folder(a);
  files["dataset.toml"] = description("node", "classes = 2\n");
  const Labels labels = load_own(write_files(folder, files)).training[0].labels;
  EXPECT_THAT(to_vector(labels.y), ElementsAre(0, 1, -1, -1));
  EXPECT_THAT(to_vector(labels.loss), ElementsAre(0));
  EXPECT_THAT(to_vector(labels.evaluate), ElementsAre(1));
}

TEST(OwnData, SparseFeaturesAreSparseThenDenseMinusTheShift) {
  test::Arrays a = test::node_arrays();
  a.list["x"] = test::float_array("(4, 1)", {1, 2, 3, 4});
  a.list["x_indptr"] = test::int_array("(5,)", {0, 2, 2, 3, 4});
  a.list["x_indices"] = test::int_array("(4,)", {2, 0, 1, 2});  // the first row is not in order
  a.list["x_data"] = test::float_array("(4,)", {5, 6, 7, 8});
  a.list["x_width"] = test::int_array("(1,)", {3});
  a.list["x_shift"] = test::float_array("(4,)", {0, 0, 1, 0.5});
  Files files = test::array_folder(a);
  files["b.npz"] = files["c.npz"] = a.npz();
  const TempFolder folder;
  const Features x = load_own(write_files(folder, files)).training[0].graph.x;
  EXPECT_EQ(x.sparse_width(), 3);
  EXPECT_TRUE(x.to_dense().equal(torch::tensor({6.F, 0.F, 4.F, 0.5F,   //
                                                0.F, 0.F, -1.F, 1.5F,  //
                                                0.F, 7.F, -1.F, 2.5F,  //
                                                0.F, 0.F, 7.F, 3.5F})
                                     .reshape({4, 4})));
}

TEST(OwnData, GroupsOtherNamesAndSeparatorsAreFollowed) {
  Files files = {{"dataset.toml",
                  description("node", "domain = \"month\"\nedges_between = \"drop\"\n",
                              "[csv]\nnodes = \"people.csv\"\nid = \"person\"\nlabel = \"vote\"\n"
                              "source = \"from\"\ntarget = \"to\"\nseparator = \";\"\n"
                              "[groups]\nc = \"late\"\n")},
                 {"people.csv",
                  "person;month;vote;age\nx y;a;0;1\n\"b;b\";a;1;2\nz;b;0;3\ne;c;1;4\ni;d;1;4\n"},
                 {"edges.csv", "from;to\nx y;\"b;b\"\nz;e\nz;i\n"}};
  const TempFolder folder;
  const Task task = load_own(write_files(folder, files));
  EXPECT_THAT(task.training[0].item_names, ElementsAre("x y", "b;b"));
  EXPECT_EQ(task.training[0].graph.edges->nnz(), 1);
  EXPECT_EQ(task.validation[0].graph.edges->nnz(), 0);
  EXPECT_EQ(task.test[0].group, "late");
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("2 edges between domains")));
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("skipped: d")));
}

TEST(OwnData, ANameThatIsAPathIsADatasetWithTheShortNameOfItsFile) {
  const TempFolder folder;
  const std::string path = write_files(folder, test::table_folder());
  EXPECT_TRUE(is_own_data(path));
  EXPECT_TRUE(is_own_data("dataset.toml"));
  EXPECT_FALSE(is_own_data("sbm"));
  EXPECT_FALSE(is_own_data("twich"));
  const DatasetEntry& entry = find_dataset(path + "/");
  EXPECT_EQ(entry.name, path);
  EXPECT_EQ(entry.short_name(), "toy");
  EXPECT_EQ(entry.level, Level::node);
  EXPECT_EQ(&entry, &find_dataset(path));
  DatasetChoice choice(path + "/dataset.toml");
  choice.options().set("dataset", "symmetrise", "true");
  const Task task = choice.load({});
  EXPECT_EQ(task.training[0].graph.edges->nnz(), 8);
  folder.write("dataset.toml", description("graph"));
  EXPECT_EQ(find_dataset(path).level, Level::graph);
  EXPECT_THAT(test::error_of(ErrorKind::config, [] { find_dataset("twich"); }),
              HasSubstr("own data is given as a path"));
}

TEST(OwnData, ATestDomainWithoutFilesIsLeftOutWhenThatIsAllowed) {
  Files files = test::table_folder();
  files.erase("c/nodes.csv");
  files.erase("c/edges.csv");
  const TempFolder folder;
  const std::string path = write_files(folder, files);
  DataContext context;
  context.allow_missing = true;
  const Task task = DatasetChoice(path).load(context);
  EXPECT_THAT(task.missing, ElementsAre("c"));
  EXPECT_TRUE(task.test.empty());
  EXPECT_THAT(test::data_error([&] { load_own(path); }), HasSubstr("holds neither c.npz"));
}

TEST(OwnData, TheTemplateLoadsOnceItsFilesAreThere) {
  for (const Level level : all_values<Level>()) {
    Files files = {{"dataset.toml", own_data_template(level, "mine")}};
    const bool graphs = level == Level::graph;
    const test::Arrays arrays = graphs ? test::graph_arrays() : test::node_arrays();
    for (const std::string domain : {"first", "second", "third"}) {
      files[domain + ".npz"] = arrays.npz();
    }
    const TempFolder folder;
    const Task task = load_own(write_files(folder, files));
    EXPECT_EQ(task.name, "mine");
    EXPECT_EQ(task.level, level);
  }
}

}  // namespace
}  // namespace grm
