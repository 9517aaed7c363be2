// New graphs for a trained model: features by the rules that the model carries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "own_files.h"

namespace grm {
namespace {

using test::data_error;
using test::description;
using test::Files;
using test::TempFolder;
using test::to_vector;
using test::write_files;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Files trained() {
  Files files = test::table_folder();
  files["dataset.toml"] = description("node", "labels = [\"no\", \"yes\"]\nundirected = true\n",
                                      "[columns]\ncategorical = [\"kind\"]\nignore = [\"note\"]\n");
  for (const std::string domain : {"a", "b", "c"}) {
    files[domain + "/nodes.csv"] =
        "id,label,age,kind,note\nn1,no,1,x,\nn2,yes,3,y,\nn3,no,5,x,\nn4,yes,7,y,\n";
  }
  return files;
}

std::vector<Domain> predict(const std::string& path, const Task& task) {
  const TrainView view = task.train_view();
  return load_for_prediction(path, task.preprocessing, task.level, view.features,
                             view.edge_features);
}

TEST(OwnPrediction, TheFolderOfTrainingGivesTheFeaturesOfTrainingBitForBit) {
  const TempFolder nodes, graphs, shared, arrays;
  std::vector<std::string> paths = {
      write_files(nodes, trained()), write_files(graphs, test::graph_tables()),
      write_files(shared, test::shared_folder()), write_files(arrays, test::graph_array_folder())};
  for (const std::string& path : paths) {
    const Task task = load_own(path);
    const std::vector<Domain> domains = predict(path, task);
    ASSERT_EQ(domains.size(), 3u) << path;
    for (const Domain& domain : domains) {
      const Domain& known = test::domain_named(task, domain.name);
      EXPECT_TRUE(domain.graph.x.to_dense().equal(known.graph.x.to_dense()));
      EXPECT_TRUE(domain.graph.edges->in.indices.equal(known.graph.edges->in.indices));
      EXPECT_TRUE(domain.labels.y.equal(known.labels.y));
      EXPECT_EQ(domain.item_names, known.item_names);
      EXPECT_EQ(domain.graph.edge_weights.defined(), known.graph.edge_weights.defined());
    }
  }
}

// A model may come from anybody: it must not make the program read what nobody asked it to read.
TEST(Trust19Outside, AModelNamesTablesOfTheFolderOnly) {
  const TempFolder training, fresh;
  Task task = load_own(write_files(training, trained()));
  fresh.write("secret.csv", "id,age,kind\nn1,1,x\n");
  fresh.write("data/nodes.csv", "id,age,kind\nn1,1,x\n");
  fresh.write("data/edges.csv", "source,target\nn1,n1\n");
  EXPECT_EQ(predict(fresh.file("data"), task).size(), 1u);
  const std::string honest = task.preprocessing, name = "\"nodes.csv\"";
  ASSERT_NE(honest.find(name), std::string::npos);
  for (const std::string& other : {std::string("../secret.csv"), std::string("x/../../secret.csv"),
                                   fresh.file("secret.csv")}) {
    task.preprocessing = honest;
    task.preprocessing.replace(honest.find(name), name.size(), "\"" + other + "\"");
    EXPECT_THAT(data_error([&] { predict(fresh.file("data"), task); }),
                HasSubstr("lies outside this folder"));
  }
}

TEST(OwnPrediction, UnlabelledTablesWithoutADescriptionAreOneDomain) {
  const TempFolder training, fresh;
  const Task task = load_own(write_files(training, trained()));
  const std::string path = write_files(
      fresh, {{"nodes.csv", "id,kind,age\nk,y,9\nl,z,4\n"}, {"edges.csv", "source,target\nk,l\n"}});
  const test::WarningTrap trap;
  const std::vector<Domain> domains = predict(path, task);
  ASSERT_EQ(domains.size(), 1u);
  EXPECT_THAT(to_vector(domains[0].labels.y), Each(-1));
  EXPECT_THAT(domains[0].item_names, ElementsAre("k", "l"));
  EXPECT_EQ(domains[0].graph.edges->nnz(), 2);  // undirected, as in training
  // Ages of training 1, 3, 5, 7: mean 4, variance 5. The kind z is not known.
  const torch::Tensor x = domains[0].graph.x.to_dense();
  EXPECT_TRUE(
      x.allclose(torch::tensor({0.F, 1.F, 5.F / std::sqrt(5.F), 0.F, 0.F, 0.F}).reshape({2, 3})));
  EXPECT_THAT(trap.warnings, ElementsAre(HasSubstr("1 cells of column 'kind'")));
}

TEST(OwnPrediction, NewTablesMayKeepTheColumnsOfDomainAndLabel) {
  const TempFolder training, fresh;
  Files files = {{"nodes.csv", "id,month,label,age\n"}, {"edges.csv", "source,target\n"}};
  for (const std::string month : {"a", "b", "c"}) {
    for (const std::string node : {"1", "2", "3"}) {
      files["nodes.csv"] +=
          month + node + "," + month + "," + (node == "1" ? "no" : "yes") + "," + node + "\n";
    }
  }
  files["dataset.toml"] = description("node", "domain = \"month\"\n", "");
  const Task task = load_own(write_files(training, files));
  const std::string path =
      write_files(fresh, {{"nodes.csv", "id,age,label,month\nk,9,,d\nl,4,no,e\nm,4,,d\n"},
                          {"edges.csv", "source,target\nk,m\n"}});
  const std::vector<Domain> domains = predict(path, task);
  ASSERT_EQ(domains.size(), 2u);
  EXPECT_EQ(domains[0].name, "d");
  EXPECT_THAT(domains[0].item_names, ElementsAre("k", "m"));
  EXPECT_THAT(to_vector(domains[0].labels.y), Each(-1));
  EXPECT_EQ(domains[1].name, "e");
  EXPECT_THAT(to_vector(domains[1].labels.y), ElementsAre(0));
}

TEST(OwnPrediction, ColumnsThatDoNotFitTheModelAreNamed) {
  const TempFolder training;
  const Task task = load_own(write_files(training, trained()));
  const auto error = [&](const std::string& nodes, const std::string& toml = "") {
    const TempFolder fresh;
    Files files = {{"nodes.csv", nodes}, {"edges.csv", "source,target\n"}};
    if (!toml.empty()) files["dataset.toml"] = toml;
    const std::string path = write_files(fresh, files);
    return data_error([&] { predict(path, task); });
  };
  EXPECT_THAT(error("id,sort\nk,y\n"),
              AllOf(HasSubstr("nodes.csv:1: there is no column 'age', 'kind', but the trained "
                              "model has them")));
  EXPECT_THAT(error("id,age,kind,weight\nk,1,y,3\n"),
              HasSubstr("nodes.csv:1:4: the column 'weight' is not in the trained model"));
  EXPECT_THAT(error("id,age,kind\nk,,y\n"), HasSubstr("nodes.csv:2:2: column 'age': the value is "
                                                      "missing"));
  EXPECT_THAT(error("id,graph,age,kind\nk,1,1,y\n", "level = \"graph\"\n"),
              HasSubstr("the data is of graph level, the model was trained at node level"));
  const TempFolder ignoring;
  const std::string path =
      write_files(ignoring, {{"dataset.toml", "[columns]\nignore = [\"weight\"]\n"},
                             {"nodes.csv", "id,age,kind,weight,note\nk,1,y,3,hm\n"},
                             {"edges.csv", "source,target\n"}});
  EXPECT_EQ(predict(path, task).size(), 1u);
}

TEST(OwnPrediction, ArraysNeedTheWidthOfTheModel) {
  const TempFolder training, fresh;
  const Task task = load_own(write_files(training, test::array_folder()));
  test::Arrays a = test::node_arrays();
  a.list.erase("y");
  const std::string path = fresh.write("new.npz", a.npz());
  const std::vector<Domain> domains = predict(path, task);
  ASSERT_EQ(domains.size(), 1u);
  EXPECT_EQ(domains[0].name, "new");
  EXPECT_THAT(to_vector(domains[0].labels.y), Each(-1));
  EXPECT_EQ(predict(fresh.path(), task).size(), 1u);  // every file of the folder
  // A model of built-in data carries no preprocessing.
  EXPECT_EQ(load_for_prediction(path, "", Level::node, 2, 0).size(), 1u);
  a.list["x"] = test::float_array("(4, 3)", std::vector<float>(12, 1.F));
  fresh.write("new.npz", a.npz());
  EXPECT_THAT(data_error([&] { predict(path, task); }),
              HasSubstr("new.npz: x has 3 columns, the model was trained on 2"));
  const TempFolder tables;
  const std::string folder = write_files(tables, test::table_folder());
  EXPECT_THAT(data_error([&] { predict(folder, task); }),
              HasSubstr("the model was trained on arrays"));
  const Task of_tables = load_own(folder);
  EXPECT_THAT(data_error([&] { predict(path, of_tables); }),
              HasSubstr("the model was trained on tables with the columns age, height"));
}

TEST(OwnPrediction, GraphsNeedNoTableOfTheirOwnButTheWeightsOfTraining) {
  const TempFolder training, fresh, arrays, lighter;
  const Task task = load_own(write_files(training, test::graph_tables()));
  Files files = test::graph_tables();
  const std::string path = write_files(
      fresh, {{"nodes.csv", files["a/nodes.csv"]}, {"edges.csv", files["a/edges.csv"]}});
  const std::vector<Domain> domains = predict(path, task);
  ASSERT_EQ(domains.size(), 1u);
  EXPECT_THAT(domains[0].item_names, ElementsAre("g2", "g1"));  // as the nodes name them
  fresh.write("edges.csv", "source,target,length\np,q,1\n");
  EXPECT_THAT(data_error([&] { predict(path, task); }),
              HasSubstr("edges.csv:1: there is no column 'strength'"));
  const Task of_arrays = load_own(write_files(arrays, test::graph_array_folder()));
  test::Arrays a = test::graph_arrays();
  a.list.erase("edge_weight");
  EXPECT_THAT(data_error([&] { predict(lighter.write("l.npz", a.npz()), of_arrays); }),
              HasSubstr("edge_weight is missing"));
}

TEST(OwnPrediction, LabelsThatTheModelDoesNotKnowAreNone) {
  const TempFolder training, fresh;
  const Task task = load_own(write_files(training, trained()));
  const std::string path =
      write_files(fresh, {{"nodes.csv", "id,label,kind,age\nk,yes,y,9\nl,maybe,x,4\n"},
                          {"edges.csv", "source,target\n"}});
  EXPECT_THAT(to_vector(predict(path, task)[0].labels.y), ElementsAre(1, -1));
  EXPECT_THAT(data_error([&] { load_for_prediction(path, "{}", Level::node, 3, 0); }),
              HasSubstr("damaged preprocessing"));
  EXPECT_THAT(data_error([&] { predict(path + "/none", task); }), HasSubstr("no such file"));
}

}  // namespace
}  // namespace grm
