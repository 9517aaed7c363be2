#include "data/convert.h"

#include <torch/types.h>

#include <filesystem>

#include "core/files.h"
#include "data/describe.h"
#include "data/helpers.h"
#include "grm/data/own_data.h"
#include "io/npz.h"

namespace grm {
namespace {

using test::error_of;
using test::load_dataset;
using test::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_same(const torch::Tensor& got, const torch::Tensor& expected, const std::string& what) {
  ASSERT_EQ(got.defined(), expected.defined()) << what;
  if (!got.defined()) return;
  EXPECT_EQ(got.scalar_type(), expected.scalar_type()) << what;
  EXPECT_TRUE(torch::equal(got, expected)) << what;
}

void expect_same(const AdjacencyPtr& got, const AdjacencyPtr& expected, const std::string& what) {
  ASSERT_EQ(static_cast<bool>(got), static_cast<bool>(expected)) << what;
  if (!got) return;
  EXPECT_EQ(got->rows(), expected->rows()) << what;
  EXPECT_EQ(got->cols(), expected->cols()) << what;
  expect_same(got->in.offsets, expected->in.offsets, what);
  expect_same(got->in.indices, expected->in.indices, what);
  expect_same(got->out.offsets, expected->out.offsets, what);
  expect_same(got->out.indices, expected->out.indices, what);
  expect_same(got->out_edge, expected->out_edge, what);
}

void expect_same(const Features& got, const Features& expected, const std::string& what) {
  expect_same(got.sparse, expected.sparse, what + " sparse");
  expect_same(got.sparse_values, expected.sparse_values, what + " values");
  expect_same(got.dense, expected.dense, what + " dense");
  expect_same(got.shift, expected.shift, what + " shift");
}

void expect_same(const Task& got, const Task& expected) {
  EXPECT_EQ(got.level, expected.level);
  EXPECT_EQ(got.classes, expected.classes);
  EXPECT_EQ(got.loss, expected.loss);
  EXPECT_EQ(got.metric, expected.metric);
  EXPECT_EQ(got.label_names, expected.label_names);
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    ASSERT_EQ(got.domains(role).size(), expected.domains(role).size()) << to_string(role);
    for (size_t d = 0; d < got.domains(role).size(); ++d) {
      const Domain& a = got.domains(role)[d];
      const Domain& b = expected.domains(role)[d];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.group, b.group);
      expect_same(a.graph.edges, b.graph.edges, b.name + " edges");
      expect_same(a.graph.x, b.graph.x, b.name + " x");
      expect_same(a.graph.parts, b.graph.parts, b.name + " parts");
      expect_same(a.graph.edge_x, b.graph.edge_x, b.name + " edge features");
      expect_same(a.graph.edge_weights, b.graph.edge_weights, b.name + " edge weights");
      expect_same(a.labels.y, b.labels.y, b.name + " labels");
      expect_same(a.labels.loss, b.labels.loss, b.name + " loss");
      expect_same(a.labels.evaluate, b.labels.evaluate, b.name + " evaluate");
      expect_same(a.labels.edge_truth, b.labels.edge_truth, b.name + " truth");
    }
  }
  EXPECT_EQ(fingerprint(got), fingerprint(expected));
}

void expect_round_trip(const Task& task) {
  const TempFolder folder;
  write_own(task, folder.file("out"), "a test", false);
  expect_same(load_own(folder.file("out")), task);
}

TEST(Convert, SbmComesBackEqual) {
  expect_round_trip(load_dataset("sbm", "", {{"nodes", "120"}}));
}

TEST(Convert, CentringIsPartOfWhatIsWritten) {
  expect_round_trip(load_dataset("sbm", "", {{"nodes", "120"}, {"centre", "domain"}}));
}

TEST(Convert, SetsOfGraphsWithTrueEdgesComeBackEqual) {
  const test::Settings few = {
      {"train_per_class", "4"}, {"val_per_class", "3"}, {"test_per_class", "3"}};
  expect_round_trip(load_dataset("spmotif", "", few));
  test::Settings both_ways = few;
  both_ways.emplace_back("symmetrise", "true");
  expect_round_trip(load_dataset("spmotif", "", both_ways));
}

// Everything that a domain can have, at graph level: sparse features with values, dense ones and a
// constant; edge features of both kinds, weights, truth; masks that differ; groups; label names.
Task everything() {
  const auto set = [](const std::string& name, const std::string& group) {
    Graph graph;
    graph.name = name;
    graph.parts = torch::tensor({0, 2, 3, 6}, torch::kInt64);
    graph.edges =
        make_adjacency(6, 6, torch::tensor({1, 0, 4, 5, 3, 2}), torch::tensor({0, 1, 3, 3, 5, 2}));
    graph.x.sparse = make_adjacency(6, 5, torch::tensor({4, 0, 2, 1}), torch::tensor({0, 0, 3, 5}));
    graph.x.sparse_values = torch::tensor({0.5f, -1.0f, 2.0f, 0.25f});
    graph.x.dense = torch::arange(12, torch::kFloat32).view({6, 2}) / 7;
    graph.x.shift = torch::arange(7, torch::kFloat32) / 3;
    graph.edge_x.sparse = make_adjacency(6, 3, torch::tensor({0, 2, 1}), torch::tensor({0, 1, 4}));
    graph.edge_x.dense = torch::arange(6, torch::kFloat32).view({6, 1}) / 9;
    graph.edge_weights = torch::arange(6, torch::kFloat32) / 5;
    Domain domain = make_domain(graph, torch::tensor({1, 0, -1}, torch::kInt64));
    domain.group = group;
    domain.labels.loss = torch::tensor({1}, torch::kInt64);
    domain.labels.evaluate = torch::tensor({0, 1}, torch::kInt64);
    domain.labels.edge_truth = torch::tensor({1, 0, 0, 1, 1, 0}, torch::kUInt8);
    return domain;
  };
  Task task;
  task.name = "everything";
  task.level = Level::graph;
  task.classes = 2;
  task.loss = LossKind::binary_pair;
  task.metric = MetricKind::roc_auc;
  task.label_names = {"licit", "ill\"icit\\"};
  task.notes = {"a note\nof two lines"};
  task.training = {set("a", "a"), set("b", "b")};
  task.validation = {set("v", "v")};
  task.test = {set("step1", "T1"), set("step2", "T1"), set("step3", "step3")};
  check_task(task);
  return task;
}

TEST(Convert, EveryKeyOfTheFormComesBack) {
  expect_round_trip(everything());
}

TEST(Convert, NodeLevelWithUnlabelledNodesAndOneMaskComesBack) {
  Task task = load_dataset("sbm", "", {{"nodes", "40"}});
  for (Domain& domain : task.test) {
    domain.labels.y = domain.labels.y.clone();
    domain.labels.y.slice(0, 0, 10).fill_(-1);
    domain.labels.loss = domain.labels.evaluate = torch::arange(20, 40);
  }
  task.metric = MetricKind::macro_f1;
  expect_round_trip(task);
}

TEST(Convert, MasksAreWrittenOnlyWhereTheySaySomething) {
  Task task = everything();
  Domain domain = task.training[0];
  const auto has = [&](const char* name) { return own_arrays(domain).count(name) > 0; };
  EXPECT_TRUE(has("loss_mask") && has("eval_mask") && !has("mask"));
  domain.labels.loss = domain.labels.evaluate;
  EXPECT_FALSE(has("loss_mask") || has("eval_mask") || has("mask"));
  domain.labels.loss = domain.labels.evaluate = torch::tensor({0}, torch::kInt64);
  EXPECT_TRUE(has("mask") && !has("loss_mask") && !has("eval_mask"));
}

// By hand: the edges 1 -> 0, 2 -> 0, 0 -> 1 in edge order, words 3 of node 0 and 1 of node 2.
TEST(Convert, ArraysAreThoseOfTheContract) {
  Graph graph;
  graph.name = "g";
  graph.edges = make_adjacency(3, 3, torch::tensor({0, 2, 1}), torch::tensor({1, 0, 0}));
  graph.x.sparse = make_adjacency(3, 4, torch::tensor({3, 1}), torch::tensor({0, 2}));
  const auto arrays = own_arrays(make_domain(graph, torch::tensor({0, 1, 1}, torch::kInt64)));
  std::vector<std::string> names;
  for (const auto& entry : arrays) names.push_back(entry.first);
  EXPECT_THAT(names, ElementsAre("edge_index", "x_indices", "x_indptr", "x_width", "y"));
  EXPECT_TRUE(
      torch::equal(arrays.at("edge_index"), torch::tensor({{1, 2, 0}, {0, 0, 1}}, torch::kInt64)));
  EXPECT_THAT(test::to_vector(arrays.at("x_indptr")), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(test::to_vector(arrays.at("x_indices")), ElementsAre(3, 1));
  EXPECT_THAT(test::to_vector(arrays.at("x_width")), ElementsAre(4));
}

TEST(Convert, AFolderThatIsNotEmptyIsKept) {
  const TempFolder folder;
  folder.write("mine/notes.txt", "keep");
  const Task task = load_dataset("sbm", "", {{"nodes", "20"}});
  const std::string out = folder.file("mine");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { write_own(task, out, "x", false); }),
              HasSubstr("--force"));
  EXPECT_FALSE(std::filesystem::exists(out + "/dataset.toml"));
  write_own(task, out, "x", true);
  EXPECT_EQ(read_file(out + "/notes.txt"), "keep");
  expect_same(load_own(out), task);
  EXPECT_THAT(
      error_of(ErrorKind::io, [&] { write_own(task, folder.file("mine/notes.txt"), "x", true); }),
      HasSubstr("is a file"));
}

TEST(Convert, AnOldDescriptionDoesNotOutliveAFailure) {
  const TempFolder folder;
  const std::string out = folder.file("out");
  const Task task = load_dataset("sbm", "", {{"nodes", "20"}});
  write_own(task, out, "x", false);
  std::filesystem::remove(out + "/T3.npz");
  std::filesystem::create_directory(out + "/T3.npz");  // cannot be replaced by a file
  error_of(ErrorKind::io, [&] { write_own(task, out, "x", true); });
  EXPECT_FALSE(std::filesystem::exists(out + "/dataset.toml"));
}

TEST(Convert, DomainsWhoseNamesCannotBeFilesAreRefused) {
  const TempFolder folder;
  Task task = load_dataset("sbm", "", {{"nodes", "20"}});
  task.test[0].name = "a/b";
  EXPECT_THAT(error_of(ErrorKind::data, [&] { write_own(task, folder.file("o"), "x", false); }),
              HasSubstr("a/b"));
  task.test[0].name = task.test[1].name;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { write_own(task, folder.file("o"), "x", false); }),
              HasSubstr("two domains"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("o")));
}

TEST(Convert, TheDescriptionSaysWhereTheDataCameFrom) {
  const std::string text = own_description(everything(), "elliptic, centre = \"domain\"");
  EXPECT_THAT(text, HasSubstr("from elliptic, centre = \"domain\"."));
  EXPECT_THAT(text, HasSubstr("# Note: a note of two lines\n"));
}

TEST(Convert, RealTwitchComesBackEqual) {
  REAL_DATA_OR_SKIP(root);
  DataContext context;
  context.root = root;
  context.cache = cache_folder() + "/data";
  expect_round_trip(load_dataset("twitch", context));
}

}  // namespace
}  // namespace grm
