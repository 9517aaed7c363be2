#include "data/shift.h"

#include <torch/types.h>

#include <cmath>

#include "data/helpers.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

using ::testing::HasSubstr;

torch::Tensor ints(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

// Undirected edges, one dense column and one sparse column of ones for the listed nodes.
Domain small_domain(const std::string& name, const std::vector<int64_t>& a,
                    const std::vector<int64_t>& b, const std::vector<float>& dense,
                    const std::vector<int64_t>& has_word, const std::vector<int64_t>& y) {
  Graph graph;
  graph.name = name;
  const auto n = static_cast<int64_t>(dense.size());
  graph.edges =
      make_adjacency(n, n, torch::cat({ints(a), ints(b)}), torch::cat({ints(b), ints(a)}));
  graph.x.sparse =
      make_adjacency(n, 1, torch::zeros({static_cast<int64_t>(has_word.size())}), ints(has_word));
  graph.x.dense = torch::tensor(dense).view({n, 1});
  Domain domain = make_domain(graph, ints(y));
  domain.labels.loss = domain.labels.evaluate = torch::nonzero(domain.labels.y.ge(0)).reshape({-1});
  return domain;
}

// A path that trains and a star that tests, both of four nodes.
Task path_and_star() {
  Task task;
  task.name = "tiny";
  task.classes = 2;
  task.training = {small_domain("path", {0, 1, 2}, {1, 2, 3}, {0, 0, 2, 2}, {0}, {0, 0, 1, 1})};
  task.test = {small_domain("star", {0, 0, 0}, {1, 2, 3}, {1, 1, 3, 3}, {0, 1, 2}, {0, 1, 1, 1})};
  task.feature_names = {"word", "amount"};
  return task;
}

double value_of(const DomainShift& shift, const std::string& what) {
  const ShiftMeasure* measure = shift.find(what);
  if (!measure) {
    ADD_FAILURE() << what << " was not measured";
    return 0;
  }
  return measure->value;
}

// By hand. word: means 1/4 and 3/4, both variances 3/16; amount: means 1 and 2, both variances 1.
// Degrees 1 2 2 1 and 3 1 1 1; labels 2:2 and 1:3. Edges of equal labels: 2 of 3 and 0 of 3; half
// of the ends have either label in both, so that adjusted homophily is (h - 1/2) / (1/2).
TEST(Shift, MeasuresOfTwoTinyGraphsAreThoseComputedByHand) {
  const ShiftReport report = measure_shift(path_and_star());
  ASSERT_EQ(report.domains.size(), 1u);
  const DomainShift& star = report.domains[0];
  const double word = 0.5 / std::sqrt(3.0 / 16);
  EXPECT_NEAR(value_of(star, "features"), std::sqrt((word * word + 1) / 2), 1e-12);
  EXPECT_NEAR(value_of(star, "column"), word, 1e-12);
  ASSERT_EQ(star.columns.size(), 2u);
  EXPECT_EQ(star.columns[0].name, "word");
  EXPECT_NEAR(star.columns[0].difference, word, 1e-12);
  EXPECT_EQ(star.columns[1].name, "amount");
  EXPECT_NEAR(star.columns[1].difference, 1.0, 1e-12);
  EXPECT_NEAR(value_of(star, "degrees"), 0.5, 1e-12);
  EXPECT_NEAR(value_of(star, "labels"), 0.25, 1e-12);
  EXPECT_NEAR(report.training.homophily->edge, 2.0 / 3, 1e-12);
  EXPECT_NEAR(report.training.homophily->adjusted, 1.0 / 3, 1e-12);
  EXPECT_NEAR(star.law.homophily->edge, 0.0, 1e-12);
  EXPECT_NEAR(star.law.homophily->adjusted, -1.0, 1e-12);
  EXPECT_NEAR(value_of(star, "homophily"), 4.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(report.training.mean_degree, 1.5);
  EXPECT_DOUBLE_EQ(star.law.mean_degree, 1.5);
  EXPECT_EQ(report.training.label_shares, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(star.law.label_shares, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(star.find("classifier"), nullptr) << "four nodes are too few";
  EXPECT_EQ(star.find("sizes"), nullptr);
  EXPECT_FALSE(report.directed);
}

// Column amount: |x - mean| is 1 for all four nodes of the path and, of -1 -1 1 9 around 2, 3 3 1 7
// in the star: means 1 and 3.5, variances 0 and 4.75.
TEST(Shift, SpreadIsTheDistanceFromTheMeanOfTheOwnSide) {
  Task task = path_and_star();
  task.test[0].graph.x.dense = torch::tensor({-1.0f, -1.0f, 1.0f, 9.0f}).view({4, 1});
  const DomainShift star = measure_shift(task).domains[0];
  EXPECT_NEAR(value_of(star, "spread"), 2.5 / std::sqrt(4.75 / 2), 1e-12);
  EXPECT_EQ(star.spreads.at(0).name, "amount");
  EXPECT_EQ(star.spreads.size(), 1u) << "the word has two values";
}

// Two standard deviations of a difference of two means of four: 2 sqrt(1/4 + 1/4). Labels: two
// shares of 3/8 and 5/8, each with mean |normal| sqrt(2/pi 15/64 (1/4 + 1/4)).
TEST(Shift, ChanceIsWhatTwoSamplesOfTheseSizesMayDiffer) {
  const DomainShift star = measure_shift(path_and_star()).domains[0];
  EXPECT_NEAR(star.find("features")->chance, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(star.find("labels")->chance, 2 * std::sqrt(15.0 / 64 / M_PI), 1e-12);
}

TEST(Shift, TheConstantRowOfFeaturesCounts) {
  Task task = path_and_star();
  task.test[0].graph.x.shift = torch::tensor({0.5f, 1.0f});
  const DomainShift star = measure_shift(task).domains[0];
  EXPECT_NEAR(value_of(star, "features"), 0.0, 1e-12);
  EXPECT_TRUE(star.columns.empty());
}

TEST(Shift, ConstantColumnsDifferByTheMostOrNotAtAll) {
  Task task = path_and_star();
  task.training[0].graph.x.dense = torch::full({4, 1}, 0.1f);
  task.test[0].graph.x.dense = torch::full({4, 1}, 0.1f);
  EXPECT_EQ(measure_shift(task).domains[0].columns.size(), 1u) << "the word alone";
  task.test[0].graph.x.dense = torch::full({4, 1}, 0.2f);
  const ColumnShift first = measure_shift(task).domains[0].columns.at(0);
  EXPECT_EQ(first.name, "amount");
  EXPECT_DOUBLE_EQ(first.difference, 10.0);
}

TEST(Shift, UnlabelledDomainsHaveNeitherLabelsNorHomophily) {
  Task task = path_and_star();
  Labels& labels = task.test[0].labels;
  labels.y = torch::full({4}, -1, torch::kInt64);
  labels.loss = labels.evaluate = torch::empty({0}, torch::kInt64);
  const DomainShift star = measure_shift(task).domains[0];
  EXPECT_EQ(star.find("labels"), nullptr);
  EXPECT_EQ(star.find("homophily"), nullptr);
  EXPECT_TRUE(star.law.label_shares.empty());
  EXPECT_NEAR(value_of(star, "degrees"), 0.5, 1e-12);
}

TEST(Shift, EdgesStoredOneWayAreSeen) {
  Task task = path_and_star();
  task.test[0].graph.edges = make_adjacency(4, 4, ints({0}), ints({1}));
  EXPECT_TRUE(measure_shift(task).directed);
}

// Graphs of 1 2 3 and 2 2 9 nodes: shares 1/3 each of 1, 2, 3; and 2/3 of 2, 1/3 of 8-11.
TEST(Shift, SizesOfGraphsAreComparedAtGraphLevel) {
  const auto set = [](const std::string& name, const std::vector<int64_t>& parts) {
    Graph graph;
    graph.name = name;
    graph.parts = ints(parts);
    const int64_t n = parts.back();
    graph.edges = make_adjacency(n, n, ints({}), ints({}));
    graph.x.dense = torch::ones({n, 1});
    return make_domain(graph, ints({0, 1, 1}));
  };
  Task task;
  task.level = Level::graph;
  task.classes = 2;
  task.training = {set("train", {0, 1, 3, 6})};
  task.test = {set("test", {0, 2, 4, 13})};
  const ShiftReport report = measure_shift(task);
  EXPECT_NEAR(value_of(report.domains[0], "sizes"), 0.5 * (1.0 / 3 + 1.0 / 3 + 1.0 / 3 + 1.0 / 3),
              1e-12);
  EXPECT_DOUBLE_EQ(report.training.mean_nodes, 2.0);
  EXPECT_DOUBLE_EQ(report.domains[0].law.mean_nodes, 13.0 / 3);
  EXPECT_EQ(report.domains[0].find("homophily"), nullptr);
  EXPECT_DOUBLE_EQ(value_of(report.domains[0], "labels"), 0.0);
}

// A law of graphs to draw domains from: blocks that are the labels, an edge inside a block four
// times as likely as between two, normal features of unit variance around `mean`.
Domain draw_domain(const std::string& name, int64_t n, int64_t width, double mean, uint64_t seed) {
  const Rng rng(seed);
  Stream draws = rng.stream("test");
  std::vector<int64_t> y(n), source, target;
  for (int64_t& label : y) label = static_cast<int64_t>(draws.below(3));
  while (static_cast<int64_t>(source.size()) < 5 * n) {
    const auto u = static_cast<int64_t>(draws.below(n)), v = static_cast<int64_t>(draws.below(n));
    if (u == v || (y[u] != y[v] && draws.uniform() > 0.25)) continue;
    source.insert(source.end(), {u, v});
    target.insert(target.end(), {v, u});
  }
  Graph graph;
  graph.name = name;
  graph.edges = make_adjacency(n, n, ints(source), ints(target));
  graph.x.dense = torch::empty({n, width});
  rng.stream("features").fill_normal(graph.x.dense.data_ptr<float>(), n * width);
  graph.x.dense.select(1, 0) += mean;
  return make_domain(graph, ints(y));
}

Task drawn_task(int64_t width, double mean, uint64_t seed, int64_t n = 1000) {
  Task task;
  task.name = "drawn";
  task.classes = 3;
  task.training = {draw_domain("a", n, width, 0, seed), draw_domain("b", n, width, 0, seed + 1)};
  task.validation = {draw_domain("v", n, width, 0, seed + 2)};
  task.test = {draw_domain("t", n, width, mean, seed + 3)};
  return task;
}

TEST(Shift, DomainsOfOneLawShowNone) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const ShiftReport report = measure_shift(drawn_task(20, 0, 10 * seed, seed < 3 ? 1000 : 100));
    EXPECT_EQ(report.level, ShiftLevel::none) << report.text;
    EXPECT_THAT(report.text, HasSubstr("no shift"));
    for (const DomainShift& shift : report.domains) {
      EXPECT_EQ(shift.level, ShiftLevel::none) << shift.text;
      EXPECT_NEAR(value_of(shift, "classifier"), 0.5, seed < 3 ? 0.06 : 0.2);
      EXPECT_EQ(shift.most, "");
    }
  }
}

// The best linear score of two unit normals whose means are delta apart has AUC Phi(delta / sqrt
// 2).
TEST(Shift, ClassifierReachesTheAucOfTwoNormals) {
  for (const double delta : {0.5, 1.0, 3.0}) {
    const ShiftReport report = measure_shift(drawn_task(3, delta, 77, 4000));
    const double expected = 0.5 * std::erfc(-delta / 2);
    EXPECT_NEAR(value_of(report.domains[1], "classifier"), expected, 0.025) << delta;
    EXPECT_NEAR(value_of(report.domains[0], "classifier"), 0.5, 0.03);
  }
}

TEST(Shift, AShiftedMeanIsFoundNamedAndAnswered) {
  const ShiftReport report = measure_shift(drawn_task(20, 2.0, 5));
  EXPECT_EQ(report.level, ShiftLevel::strong);
  EXPECT_EQ(report.domains[0].level, ShiftLevel::none);
  const DomainShift& test = report.domains[1];
  EXPECT_EQ(test.level, ShiftLevel::strong);
  EXPECT_EQ(test.most, "column");
  EXPECT_EQ(test.columns.at(0).column, 0);
  EXPECT_NEAR(test.columns.at(0).difference, 2.0, 0.15);
  EXPECT_THAT(test.text, HasSubstr("x0 +"));
  EXPECT_THAT(report.advice, ::testing::Contains(HasSubstr("dataset.centre=domain")));
  EXPECT_THAT(report.advice, ::testing::Contains(HasSubstr("validation")));
}

// Twice the deviation: |x| of a normal has mean sqrt(2/pi) and variance 1 - 2/pi, both scaled.
TEST(Shift, NoiseThatLeavesTheMeansIsFoundAsSpread) {
  Task task = drawn_task(5, 0.0, 21);
  task.test[0].graph.x.dense.select(1, 3) *= 2.0f;
  const ShiftReport report = measure_shift(task);
  const DomainShift& test = report.domains[1];
  EXPECT_EQ(test.most, "spread");
  EXPECT_EQ(test.spreads.at(0).column, 3);
  const double expected = std::sqrt(2 / M_PI) / std::sqrt((1 - 2 / M_PI) * 5 / 2);
  EXPECT_NEAR(test.spreads.at(0).difference, expected, 0.1);
  EXPECT_EQ(test.find("features")->level, ShiftLevel::none);
  EXPECT_EQ(report.domains[0].level, ShiftLevel::none);
}

// The offsets between the domains of sbm are large beside the spread of its spurious columns, and
// everything else is the same graph.
TEST(Shift, SpuriousColumnsOfSbmShiftStronglyUntilTheyAreCentred) {
  const ShiftReport as_is = measure_shift(test::load_dataset("sbm", "", {{"nodes", "400"}}));
  EXPECT_EQ(as_is.level, ShiftLevel::strong);
  for (const DomainShift& shift : as_is.domains) {
    EXPECT_EQ(shift.level, ShiftLevel::strong) << shift.law.name;
    EXPECT_TRUE(shift.most == "column" || shift.most == "features") << shift.most;
    EXPECT_GE(shift.columns.at(0).column, 500) << "the ten spurious columns come last";
    EXPECT_EQ(shift.find("labels")->value, 0.0);
    EXPECT_EQ(shift.find("degrees")->value, 0.0);
    EXPECT_GT(value_of(shift, "classifier"), 0.9);
  }
  const ShiftReport centred =
      measure_shift(test::load_dataset("sbm", "", {{"nodes", "400"}, {"centre", "domain"}}));
  EXPECT_EQ(centred.level, ShiftLevel::none) << centred.text;
  for (const DomainShift& shift : centred.domains) {
    EXPECT_NEAR(value_of(shift, "classifier"), 0.5, 0.01) << "the very same nodes";
  }
}

TEST(Shift, LargerBasesOfSpmotifShiftTheSizes) {
  const ShiftReport report = measure_shift(test::load_dataset(
      "spmotif", "",
      {{"train_per_class", "100"}, {"val_per_class", "100"}, {"test_per_class", "100"}}));
  EXPECT_EQ(report.level, ShiftLevel::strong);
  EXPECT_EQ(report.domains[1].find("sizes")->level, ShiftLevel::strong);
  EXPECT_EQ(report.domains[0].find("labels")->value, 0.0);
  EXPECT_GT(value_of(report.domains[1], "classifier"), 0.8);
}

void expect_equal(const ShiftReport& a, const ShiftReport& b, double tolerance, double auc = 0) {
  ASSERT_EQ(a.domains.size(), b.domains.size());
  for (size_t d = 0; d < a.domains.size(); ++d) {
    ASSERT_EQ(a.domains[d].measures.size(), b.domains[d].measures.size());
    for (size_t k = 0; k < a.domains[d].measures.size(); ++k) {
      const ShiftMeasure& measure = a.domains[d].measures[k];
      EXPECT_NEAR(measure.value, b.domains[d].measures[k].value,
                  measure.what == "classifier" ? auc : tolerance)
          << a.domains[d].law.name << " " << measure.what;
    }
  }
}

// Kept sparse with a constant row, or dense with the row subtracted, or one domain this way and
// another that way: the same numbers.
TEST(Shift, SparseAndDenseFeaturesOfOneMatrixGiveTheSameReport) {
  const Task sparse = test::load_dataset("sbm", "", {{"nodes", "200"}, {"centre", "domain"}});
  Task dense = sparse, mixed = sparse;
  const auto fill_in = [](Domain& domain) {
    Features x;
    x.dense = domain.graph.x.to_dense();
    domain.graph.x = x;
  };
  for (std::vector<Domain>* domains : {&dense.training, &dense.validation, &dense.test}) {
    for (Domain& domain : *domains) fill_in(domain);
  }
  fill_in(mixed.training[0]);
  const ShiftReport report = measure_shift(sparse);
  expect_equal(measure_shift(dense), report, 1e-4, 0.02);
  expect_equal(measure_shift(mixed), report, 1e-4, 0.02);
}

TEST(Shift, TrainingDomainsTogetherAreOneLaw) {
  Task apart = drawn_task(4, 1.0, 3, 300), joint = apart;
  // Two domains as one graph of two components.
  const Graph& a = apart.training[0].graph;
  const Graph& b = apart.training[1].graph;
  const auto [source_a, target_a] = edge_list(*a.edges);
  const auto [source_b, target_b] = edge_list(*b.edges);
  Graph both;
  both.name = "both";
  both.edges = make_adjacency(600, 600, torch::cat({source_a, source_b + 300}),
                              torch::cat({target_a, target_b + 300}));
  both.x.dense = torch::cat({a.x.dense, b.x.dense});
  joint.training = {
      make_domain(both, torch::cat({apart.training[0].labels.y, apart.training[1].labels.y}))};
  expect_equal(measure_shift(joint), measure_shift(apart), 1e-9, 0.05);  // the halves differ
}

TEST(Shift, SameSeedSameNumbersOnAnyNumberOfThreads) {
  const Task task = drawn_task(10, 0.3, 11, 400);
  const int before = threads();
  set_threads(1);
  const ShiftReport one = measure_shift(task, 4);
  set_threads(3);
  expect_equal(measure_shift(task, 4), one, 0.0);
  set_threads(before);
  EXPECT_NE(value_of(measure_shift(task, 5).domains[1], "classifier"),
            value_of(one.domains[1], "classifier"));
}

}  // namespace
}  // namespace grm
