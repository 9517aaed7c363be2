// What makes SRGNN: kernel mean matching against its definition and its conditions of optimality,
// moments against loops, and the cases in which it is ERM.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "environment_checks.h"
#include "methods/kernel_matching.h"
#include "methods/srgnn.h"
#include "small_task.h"

namespace grm::srgnn_tests {
namespace {

using environment_tests::check_gradients;
using environment_tests::normal;
using torch::Tensor;

TEST(KernelMatching, DistancesAreThoseOfDenseRows) {
  const Domain domain = test::small_domain(3, 15);
  Tensor dense = torch::zeros({15, 15}, torch::kFloat64);
  const auto [source, target] = edge_list(*domain.graph.edges);
  for (int64_t e = 0; e < source.numel(); ++e) {
    dense[target[e].item<int64_t>()][source[e].item<int64_t>()] = 1;
  }
  const Tensor a = torch::tensor({0, 4, 7, 7}, torch::kInt64),
               b = torch::tensor({14, 4, 1}, torch::kInt64);
  const Tensor d = row_distances(*domain.graph.edges, a, b), k = matching_kernel(d);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      const double expected =
          (dense[a[i].item<int64_t>()] - dense[b[j].item<int64_t>()]).square().sum().item<double>();
      EXPECT_EQ(d[i][j].item<double>(), expected);
      EXPECT_NEAR(
          k[i][j].item<double>(),
          (std::exp(-expected) + std::exp(-0.1 * expected) + std::exp(-0.001 * expected)) / 3,
          1e-12);
    }
  }
}

// p is the projection of w if it is in the set and (w - p) (q - p) <= 0 for all other points q of it.
TEST(KernelMatching, ProjectsOntoTheGroups) {
  const Tensor group = torch::tensor({0, 1, 0, 2, 1, 0, 0, 1}, torch::kInt64);
  const Tensor w = 2 * normal(8, 1, 4).squeeze(1), p = project_on_groups(w, group, 0.2);
  EXPECT_GE(p.min().item<double>(), 0.2);
  const double sizes[] = {4, 3, 1};
  for (int64_t g = 0; g < 3; ++g) {
    EXPECT_NEAR(p.masked_select(group.eq(g)).sum().item<double>(), sizes[g], 1e-12);
  }
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Tensor q = project_on_groups(3 * normal(8, 1, 100 + seed).squeeze(1), group, 0.2);
    EXPECT_LE((w - p).dot(q - p).item<double>(), 1e-12);
  }
  EXPECT_TRUE(torch::allclose(project_on_groups(p, group, 0.2), p, 1e-12, 1e-12));
}

// At the minimum no feasible direction goes down: (Hw + f) (q - w) >= 0 for all q of the set.
TEST(KernelMatching, TheWeightsAreOptimal) {
  const int64_t n = 30;
  const Tensor a = normal(n, 12, 5), f = 3 * normal(n, 1, 6).squeeze(1);
  const Tensor h = a.mm(a.t());  // of rank 12: not definite
  const Tensor group = torch::arange(n, torch::kInt64).remainder(3);
  const Tensor w = matching_weights(h, f, group, 0.2), slope = h.mv(w) + f;
  EXPECT_TRUE(torch::allclose(project_on_groups(w, group, 0.2), w, 1e-9, 1e-9));
  for (int64_t g = 0; g < 3; ++g) {
    // All of a group's spare weight in the place with the least slope is the best other point.
    double gain = 0, spare = 0, least = 1e300;
    for (int64_t i = 0; i < n; ++i) {
      if (group[i].item<int64_t>() != g) continue;
      const double s = slope[i].item<double>(), free = w[i].item<double>() - 0.2;
      gain += s * free;
      spare += free;
      least = std::min(least, s);
    }
    EXPECT_LE(gain - spare * least, 1e-2) << g;  // of a value whose terms are of size 100
  }
}

TEST(Moments, EqualLoopsAndHaveTheirGradient) {
  const Tensor a = normal(7, 3, 1), b = 2 * normal(5, 3, 2) + 0.5;
  double expected = 0;
  for (int k = 1; k <= 5; ++k) {
    double square = 0;
    for (int64_t c = 0; c < 3; ++c) {
      const auto moment = [&](const Tensor& x) {
        double mean = 0, sum = 0;
        const auto n = static_cast<double>(x.size(0));
        for (int64_t i = 0; i < x.size(0); ++i) mean += x[i][c].item<double>() / n;
        for (int64_t i = 0; i < x.size(0); ++i)
          sum += std::pow(x[i][c].item<double>() - mean, k) / n;
        return k == 1 ? mean : sum;
      };
      square += std::pow(moment(a) - moment(b), 2);
    }
    expected += std::sqrt(square);
  }
  EXPECT_NEAR(srgnn::moment_distance(a, b).item<double>(), expected, 1e-9);
  check_gradients(
      {a, b}, [&] { return srgnn::moment_distance(a, b); }, 1e-5);
  const Tensor same = a.clone().set_requires_grad(true);
  srgnn::moment_distance(same, a).backward();
  EXPECT_TRUE(torch::isfinite(same.grad()).all().item<bool>());
}

// A star in which half of the nodes are leaves and half are isolated: where all targets are leaves,
// leaves get the weight.
TEST(SrgnnWeights, GoToNodesThatAreLikeTheTargets) {
  std::vector<int64_t> source, target;
  for (int64_t i = 1; i <= 20; ++i) {
    source.insert(source.end(), {0, i});
    target.insert(target.end(), {i, 0});
  }
  Graph graph;
  graph.edges = make_adjacency(41, 41, torch::tensor(source, torch::kInt64),
                               torch::tensor(target, torch::kInt64));
  graph.x.dense = torch::ones({41, 1});
  Domain domain = make_domain(graph, torch::arange(41, torch::kInt64).remainder(2));
  domain.labels.loss = torch::arange(11, 31, torch::kInt64);  // ten leaves, ten isolated nodes
  const Tensor leaves = torch::arange(1, 11, torch::kInt64);
  const Tensor w = srgnn::weights_of(domain, leaves, 100, 0.2, Rng(1).stream("m"));
  EXPECT_NEAR(w.slice(0, 0, 10).mean().item<double>(), 1.8, 1e-3);
  EXPECT_NEAR(w.slice(0, 10, 20).mean().item<double>(), 0.2, 1e-3);
  // In parts every part keeps its size, and the order of nodes is kept.
  const Tensor parts = srgnn::weights_of(domain, leaves, 7, 0.2, Rng(1).stream("m"));
  EXPECT_NEAR(parts.sum().item<double>(), 20.0, 1e-9);
  EXPECT_GT(parts.slice(0, 0, 10).mean().item<double>(), 1.3);
  const Tensor none = srgnn::weights_of(domain, leaves.slice(0, 0, 0), 7, 0.2, Rng(1).stream("m"));
  EXPECT_TRUE(torch::equal(none, torch::ones_like(none)));
}

std::vector<double> losses(const std::string& name, const Task& task,
                           const std::vector<std::pair<std::string, std::string>>& values) {
  MethodChoice choice(name);
  for (const auto& [key, value] : values) choice.options().set("method", key, value);
  const auto method = choice.build(task.train_view(), Rng(2));
  std::vector<double> all;
  for (int64_t e = 1; e <= 4; ++e) all.push_back(method->train_epoch(e).front().value);
  return all;
}

TEST(Srgnn, IsErmWithoutItsTermsAndWithoutUnlabelledNodes) {
  const Task whole = test::small_task();
  Task some = whole;
  some.training[0].labels.loss = torch::arange(12, torch::kInt64);
  const auto expect_equal = [](const std::vector<double>& a, const std::vector<double>& b,
                               bool equal) {
    double off = 0;
    for (size_t k = 0; k < a.size(); ++k) off = std::max(off, std::abs(a[k] - b[k]));
    EXPECT_EQ(off < 1e-5, equal) << off;
  };
  expect_equal(losses("srgnn", whole, {{"lambda", "1"}}), losses("erm", whole, {}), true);
  expect_equal(losses("srgnn", some, {{"lambda", "0"}, {"matched", "0"}}), losses("erm", some, {}),
               true);
  expect_equal(losses("srgnn", some, {{"lambda", "1"}, {"matched", "0"}}), losses("erm", some, {}),
               false);
  expect_equal(losses("srgnn", some, {{"lambda", "0"}}), losses("erm", some, {}), false);
}

}  // namespace
}  // namespace grm::srgnn_tests
