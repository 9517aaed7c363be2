// nci1, nci109, proteins: graphs with tags, cut by their number of nodes.
#include <torch/types.h>

#include <algorithm>
#include <set>

#include "data/helpers.h"

namespace grm::size_sets_tests {
namespace {

using test::load_dataset;
using test::to_vector;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Pair = std::pair<int64_t, int64_t>;

// Cycles of 3 to 32 nodes; tags 0 and 1 in turn, and a 2 at the first node. Odd ones are of class 1.
std::string cycles() {
  std::string text = "30\n";
  for (int64_t n = 3; n <= 32; ++n) {
    text += std::to_string(n) + " " + std::to_string(n % 2) + "\n";
    for (int64_t i = 0; i < n; ++i) {
      text += std::to_string(i == 0 ? 2 : i % 2) + " 2 " + std::to_string((i + 1) % n) + " " +
              std::to_string((i + n - 1) % n) + "\n";
    }
  }
  return text;
}

struct SizeFiles : ::testing::Test {
  SizeFiles() { folder.write("tu/NCI1.txt", cycles()); }
  Task load(const test::Settings& settings = {}) const {
    return load_dataset("nci1", folder.path(), settings);
  }
  std::string error(const std::string& text) const {
    folder.write("tu/NCI1.txt", text);
    return test::data_error([&] { load(); });
  }
  test::TempFolder folder;
};

std::vector<int64_t> sizes_in(const Domain& domain) {
  return to_vector(domain.graph.parts.diff());
}

TEST_F(SizeFiles, SmallGraphsTrainAndLargeOnesTest) {
  const Task task = load();
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.metric, MetricKind::matthews);
  EXPECT_EQ(task.features(), 3);
  EXPECT_THAT(task.feature_names, ElementsAre("tag 0", "tag 1", "tag 2"));
  // The median of 3 .. 32 is 17.5, the 90th percentile 29.1. A tenth of the fifteen small ones.
  std::vector<int64_t> small = sizes_in(task.training[0]);
  EXPECT_EQ(small.size(), 14u);
  EXPECT_TRUE(std::is_sorted(small.begin(), small.end()));
  EXPECT_EQ(task.validation[0].name, "id_val");
  for (const int64_t n : sizes_in(task.validation[0])) small.push_back(n);
  EXPECT_EQ(std::set<int64_t>(small.begin(), small.end()).size(), 15u);
  EXPECT_EQ(*std::max_element(small.begin(), small.end()), 17);
  EXPECT_THAT(sizes_in(task.test[0]), ElementsAre(30, 31, 32));
  EXPECT_THAT(task.notes, Contains(HasSubstr("at most 17.5 nodes, test graphs at least 29.1")));
  // Ten environments in the order of size: fifteen graphs, blocks of one, the rest in the last.
  const std::vector<int64_t> sizes = sizes_in(task.training[0]);
  for (size_t k = 0; k < sizes.size(); ++k) {
    EXPECT_EQ(task.training[0].labels.environment[static_cast<int64_t>(k)].item<int64_t>(),
              std::min<int64_t>(sizes[k] - 3, 9));
  }
}

TEST_F(SizeFiles, GraphsBetweenMayChoose) {
  const Task task = load({{"choose_by", "val"}, {"report", "all"}});
  EXPECT_THAT(sizes_in(task.validation[0]),
              ElementsAre(18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29));
  ASSERT_EQ(task.test.size(), 2u);
  EXPECT_EQ(task.test[1].name, "id_val");
  EXPECT_FALSE(torch::equal(load({{"dataset_seed", "3"}}).validation[0].graph.parts,
                            task.test[1].graph.parts));
}

TEST_F(SizeFiles, TagsAreOneHotAndEdgesThoseOfTheFile) {
  const Task task = load();
  const Domain& test = task.test[0];
  EXPECT_THAT(to_vector(test.labels.y), ElementsAre(0, 1, 0));
  const torch::Tensor x = test.graph.x.to_dense();
  EXPECT_TRUE(torch::equal(x.sum(1), torch::ones({93})));
  EXPECT_THAT(to_vector(x.argmax(1).slice(0, 29, 33)), ElementsAre(1, 2, 1, 0));
  std::set<Pair> expected;
  for (const Pair& graph : {Pair{0, 30}, {30, 31}, {61, 32}}) {
    for (int64_t i = 0; i < graph.second; ++i) {
      const int64_t u = graph.first + i, v = graph.first + (i + 1) % graph.second;
      expected.insert({{u, v}, {v, u}});
    }
  }
  const std::vector<Pair> found = test::pairs_of(*test.graph.edges);
  EXPECT_EQ(std::set<Pair>(found.begin(), found.end()), expected);
}

TEST_F(SizeFiles, BadRowsAreNamed) {
  EXPECT_THAT(error("2\n1 0\n0 0\n"), HasSubstr("NCI1.txt: ends within graph 1 of 2"));
  EXPECT_THAT(error("1\n2 0\n0 1 1\n"), HasSubstr("ends within graph 1 of 1"));
  EXPECT_THAT(error("1\n2 0\n0 1 2\n0 1 0\n"), HasSubstr(":3: the neighbour 2 is outside"));
  EXPECT_THAT(error("1\n2 0\n0 2 1\n0 1 0\n"), HasSubstr(":3: has 3 columns, expected 4"));
  EXPECT_THAT(error("1\n2 0\n0 9 1\n0 1 0\n"), HasSubstr(":3: 1 numbers behind a degree of 9"));
  EXPECT_THAT(error("1\n2 0\n-1 1 1\n0 1 0\n"), HasSubstr(":3: the tag -1 is outside"));
  EXPECT_THAT(error("1\n2 3\n0 1 1\n0 1 0\n"), HasSubstr(":2: a graph of 2 nodes with label 3"));
  EXPECT_THAT(error("1\n0 1\n"), HasSubstr("a graph of 0 nodes"));
}

TEST_F(SizeFiles, OtherFilesOfTheFormAreRead) {
  const test::WarningTrap trap;
  const DatasetChoice choice("nci1");
  folder.write("new.txt", "1\n3 1\n0 1 1\n5 2 0 2\n2 1 1\n");
  ASSERT_TRUE(choice.dataset().is_unseen_form(folder.file("new.txt")));
  EXPECT_FALSE(choice.dataset().is_unseen_form(folder.path()));
  const std::vector<Domain> found =
      choice.dataset().load_unseen(folder.file("new.txt"), load().feature_names);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "new");
  EXPECT_TRUE(torch::equal(found[0].graph.x.to_dense(),
                           torch::tensor({{1.F, 0.F, 0.F}, {0.F, 0.F, 0.F}, {0.F, 0.F, 1.F}})));
  EXPECT_EQ(found[0].graph.edges->nnz(), 4);
  ASSERT_EQ(trap.warnings.size(), 1u);
  EXPECT_THAT(trap.warnings[0], HasSubstr("1 nodes have a tag that training did not know"));
}

// Counts and shares of class 1 of the datasets folder's table, which was counted in Python.
TEST(SizeData, HasThePublishedGraphs) {
  REAL_DATA_OR_SKIP(root);
  struct Counts {
    const char* name;
    int64_t small, large, all, nodes, edges;
    double low, high;
  };
  for (const Counts& c : {Counts{"nci1", 2157, 412, 4110, 122747, 265506, .377, .808},
                          Counts{"nci109", 2079, 421, 4127, 122494, 265208, .380, .786},
                          Counts{"proteins", 567, 112, 1113, 43471, 162088, .580, .098}}) {
    SCOPED_TRACE(c.name);
    const Task task = load_dataset(c.name, root, {{"choose_by", "val"}, {"report", "all"}});
    const Domain &train = task.training[0], &inner = test::domain_named(task, "id_val");
    EXPECT_EQ(train.graph.items() + inner.graph.items(), c.small);
    EXPECT_EQ(inner.graph.items(), c.small / 10);
    EXPECT_EQ(task.test[0].graph.items(), c.large);
    int64_t graphs = 0, nodes = 0, edges = 0;
    for (const char* name : {"train", "id_val", "val", "test"}) {
      const Domain& domain = test::domain_named(task, name);
      graphs += domain.graph.items();
      nodes += domain.graph.nodes();
      edges += domain.graph.edges->nnz();
      EXPECT_TRUE(test::is_symmetric(*domain.graph.edges));
    }
    EXPECT_EQ(graphs, c.all);
    EXPECT_EQ(nodes, c.nodes);
    EXPECT_EQ(edges, c.edges);
    const torch::Tensor small = torch::cat({train.labels.y, inner.labels.y}).to(torch::kFloat64);
    EXPECT_NEAR(small.mean().item<double>(), c.low, 5e-4);
    EXPECT_NEAR(task.test[0].labels.y.to(torch::kFloat64).mean().item<double>(), c.high, 5e-4);
  }
}

}  // namespace
}  // namespace grm::size_sets_tests
