// Baselines that see sizes or mean features only, on data made so that the answer is known.
#include "methods/graph/trivial.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "data/helpers.h"
#include "grm/core/rng.h"
#include "grm/data/dataset.h"
#include "methods/small_graph_task.h"
#include "support/expect_error.h"
#include "train/evaluate.h"

namespace grm::trivial_tests {
namespace {

torch::Tensor ints(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

// Paths whose length follows from the class with `size_tells`, and whose one feature column is the
// class plus noise of mean zero over the graph with `feature_tells`.
Domain paths(uint64_t seed, int64_t graphs, bool size_tells, bool feature_tells) {
  Stream draw = Rng(seed).stream("paths");
  std::vector<int64_t> source, target, parts = {0}, y;
  std::vector<float> x;
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t label = g % 3;
    const int64_t n = size_tells ? 4 + 3 * label + static_cast<int64_t>(draw.below(2)) : 6;
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) {
        source.push_back(parts.back() + i - 1);
        target.push_back(parts.back() + i);
      }
      const float sway = i + 1 < n ? (i % 2 == 0 ? 1.0f : -1.0f) : (n % 2 == 1 ? 0.0f : -1.0f);
      x.push_back((feature_tells ? static_cast<float>(label) : 0.0f) + 5 * sway);
      x.push_back(7.0f);  // a constant column must not matter
    }
    parts.push_back(parts.back() + n);
    y.push_back(label);
  }
  Graph graph;
  graph.name = "paths";
  graph.parts = ints(parts);
  graph.edges = make_adjacency(parts.back(), parts.back(), ints(source), ints(target));
  graph.x.dense = torch::tensor(x).view({-1, 2});
  return make_domain(graph, ints(y));
}

Task paths_task(bool size_tells, bool feature_tells) {
  Task task;
  task.name = "paths";
  task.level = Level::graph;
  task.classes = 3;
  task.training = {paths(1, 90, size_tells, feature_tells)};
  task.validation = {paths(2, 30, size_tells, feature_tells)};
  task.test = {paths(3, 30, size_tells, feature_tells)};
  return task;
}

double score(const Task& task, const std::string& reads, Role role = Role::test) {
  const auto method = test::build_graph_method("trivial", task, {{"reads", reads}});
  for (int64_t epoch = 1; epoch <= 200; ++epoch) method->train_epoch(epoch);
  return mean_score(evaluate(*method, task, role));
}

TEST(Trivial, InputsAreCountsAndMeans) {
  const Domain domain = paths(1, 3, true, true);
  const Graph& set = domain.graph;
  const torch::Tensor size =
      graph_level::trivial_inputs(graph_level::TrivialReads::size, set, ints({2, 0}));
  const int64_t n2 = set.parts[3].item<int64_t>() - set.parts[2].item<int64_t>();
  const int64_t n0 = set.parts[1].item<int64_t>();
  EXPECT_TRUE(torch::equal(size, ints({n2, n2 - 1, n0, n0 - 1}).view({2, 2}).to(torch::kFloat64)));
  const torch::Tensor mean =
      graph_level::trivial_inputs(graph_level::TrivialReads::mean_features, set, ints({2, 0}));
  EXPECT_TRUE(torch::allclose(mean.select(1, 1), torch::full({2}, 7.0, torch::kFloat64)));
  EXPECT_TRUE(torch::allclose(mean[1], set.x.dense.slice(0, 0, n0).to(torch::kFloat64).mean(0)));
}

TEST(Trivial, SizeFindsWhatSizeTellsAndNothingElse) {
  EXPECT_DOUBLE_EQ(score(paths_task(true, false), "size"), 100);
  const Task task = paths_task(false, true);
  EXPECT_NEAR(score(task, "size"), 100.0 / 3, 1e-9);
}

TEST(Trivial, MeanFeaturesFindWhatTheyTellAndNothingElse) {
  const Task told = paths_task(false, true);
  EXPECT_DOUBLE_EQ(score(told, "mean_features"), 100);
  EXPECT_DOUBLE_EQ(score(told, "mean_features", Role::validation), 100);
  const Task untold = paths_task(false, false);
  EXPECT_NEAR(score(untold, "mean_features"), 100.0 / 3, 1e-9);
}

// At bias 0.9 nine of ten training graphs have the base of their class, which its size gives away;
// where bases are drawn freely, size tells little.
TEST(Trivial, SizeIsAStrongCueOfBiasedMotifsAndNoneOfFreeOnes) {
  const auto load = [](const std::string& bias) {
    return test::load_dataset("spmotif", DataContext{},
                              {{"bias", bias},
                               {"train_per_class", "300"},
                               {"val_per_class", "300"},
                               {"test_per_class", "100"}});
  };
  const Task biased = load("0.9"), free = load("0.3333");
  EXPECT_GE(score(biased, "size", Role::train), 80);
  EXPECT_LE(score(biased, "size", Role::validation), 50);
  EXPECT_LE(score(free, "size", Role::validation), 50);
}

// The readme of the data gives 77.0 and 82.4 for a logistic regression on mean word vectors.
TEST(Trivial, MeanWordVectorsReachThePublishedFigures) {
  REAL_DATA_OR_SKIP(root);
  const Task task = test::load_dataset("sst2-tree", root);
  EXPECT_NEAR(score(task, "mean_features", Role::validation), 77.0, 0.5);
  EXPECT_NEAR(score(task, "mean_features"), 82.4, 0.5);
}

TEST(Trivial, ASingleGraphIsAnError) {
  Task task = paths_task(true, false);
  task.training[0].graph.parts = torch::Tensor();
  task.training[0].labels.loss = ints({0});
  test::error_of(ErrorKind::data, [&] { score(task, "size"); });
}

}  // namespace
}  // namespace grm::trivial_tests
