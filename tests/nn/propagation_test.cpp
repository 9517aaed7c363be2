#include <cmath>

#include "checks.h"
#include "grm/core/error.h"
#include "grm/nn/layers.h"

namespace grm::nn {
namespace {

using test::dense_matrix;
using test::expect_close;
using test::graph_of;
using test::numbers;
using test::small_graph;
using test::uniform;

torch::Tensor matrix(const Propagation& p) {
  return dense_matrix(*p.pattern, p.weights);
}

TEST(Propagation, StarGraphGivesTheHandComputedRows) {
  const AdjacencyPtr star = graph_of(4, {1, 2, 3}, {0, 0, 0});
  const torch::Tensor x = torch::eye(4, torch::kFloat64);
  ParameterSet set(Rng(1), torch::kFloat64);
  const GcnLayer layer(set, "conv", 4, 4);
  {
    at::NoGradGuard no_grad;
    layer.weight.copy_(torch::eye(4));
  }
  const torch::Tensor sum =
      layer.forward(x, make_propagation(Conv::sum, star, {}, torch::kFloat64));
  expect_close(sum[0], numbers({0, 1, 1, 1}), 0);
  expect_close(sum[1], numbers({0, 0, 0, 0}), 0);
  const torch::Tensor kipf =
      layer.forward(x, make_propagation(Conv::kipf, star, {}, torch::kFloat64));
  expect_close(kipf[0], numbers({0.25, 0.5, 0.5, 0.5}), 1e-15);
  expect_close(kipf[1], numbers({0, 1, 0, 0}), 1e-15);
}

TEST(Propagation, KipfKeepsAStoredSelfLoopAndItsWeightAndAddsOneElsewhere) {
  // 0 -> 1 and a stored loop at 1. With weights 3 and 2: degrees 1 and 5.
  const AdjacencyPtr edges = graph_of(2, {0, 1}, {1, 1});
  const torch::Tensor plain = matrix(make_propagation(Conv::kipf, edges, {}, torch::kFloat64));
  const double s = 1 / std::sqrt(2.0);
  expect_close(plain, numbers({1, 0, s, 0.5}).view({2, 2}), 1e-15);
  const torch::Tensor weighted =
      matrix(make_propagation(Conv::kipf, edges, numbers({3, 2}), torch::kFloat64));
  expect_close(weighted, numbers({1, 0, 3 / std::sqrt(5.0), 0.4}).view({2, 2}), 1e-15);
}

TEST(Propagation, WeightGradientsAgreeWithTheFormulasOfBothOperators) {
  const AdjacencyPtr edges = small_graph();
  const int64_t n = edges->rows();
  const torch::Tensor y = uniform({n, 3}, 1), dz = uniform({n, 3}, 2);
  const auto [source, target] = edge_list(*edges);
  for (const Conv conv : {Conv::sum, Conv::kipf}) {
    const torch::Tensor w = uniform({edges->nnz()}, 3, 0.2, 1.5).set_requires_grad(true);
    const Propagation p = make_propagation(conv, edges, w, torch::kFloat64);
    (p.apply(y) * dz).sum().backward();
    const torch::Tensor g = torch::mm(dz, y.t());  // g[i, j] = <dz_i, y_j>
    const torch::Tensor a = matrix(p).detach();
    torch::Tensor weights = dense_matrix(*edges, w.detach());
    for (int64_t i = 0; i < n; ++i) {
      if (weights[i][i].item<double>() == 0) weights[i][i] = 1.0;
    }
    const torch::Tensor degree = weights.sum(1);
    for (int64_t e = 0; e < edges->nnz(); ++e) {
      const int64_t i = target[e].item<int64_t>(), j = source[e].item<int64_t>();
      double expected = g[i][j].item<double>();
      if (conv == Conv::kipf) {
        const double di = degree[i].item<double>(), dj = degree[j].item<double>();
        const double through = (a[i] * g[i]).sum().item<double>() +
                               (a.select(1, i) * g.select(1, i)).sum().item<double>();
        expected = expected / std::sqrt(di * dj) - through / (2 * di);
      }
      EXPECT_NEAR(w.grad()[e].item<double>(), expected, 1e-12) << to_string(conv) << " edge " << e;
    }
  }
}

TEST(Propagation, MeanWeighsEachPairByTheNumberOfPairsIntoItsTarget) {
  const AdjacencyPtr edges = graph_of(3, {1, 2, 0}, {0, 0, 1});
  const torch::Tensor a = matrix(mean_propagation(edges, torch::kFloat64));
  expect_close(a, numbers({0, 0.5, 0.5, 1, 0, 0, 0, 0, 0}).view({3, 3}), 0);
}

TEST(Propagation, TransposedHasTheTransposedMatrix) {
  const Propagation p = make_propagation(Conv::kipf, small_graph(), {}, torch::kFloat64);
  expect_close(matrix(transposed(p)), matrix(p).t(), 0);
  const torch::Tensor x = uniform({7, 2}, 5);
  expect_close(transposed(p).apply(x), torch::mm(matrix(p).t(), x), 1e-14);
}

TEST(Propagation, WrongWeightCountsAreRefused) {
  EXPECT_THROW(make_propagation(Conv::sum, small_graph(), torch::ones({3})), Error);
}

TEST(PropagationCache, BuildsOncePerGraphAndForgetsGraphsThatAreGone) {
  int built = 0;
  PropagationCache cache([&](const AdjacencyPtr& edges) {
    ++built;
    return mean_propagation(edges, torch::kFloat64);
  });
  const AdjacencyPtr kept = small_graph();
  for (int k = 0; k < 20; ++k) {
    const AdjacencyPtr passing = graph_of(3, {0, k % 3}, {1, 2});
    EXPECT_EQ(cache.get(passing).pattern, passing);
    EXPECT_EQ(cache.get(kept).pattern, kept);
    EXPECT_EQ(passing.use_count(), 1);
    expect_close(matrix(cache.get(passing)), matrix(mean_propagation(passing, torch::kFloat64)), 0);
  }
  EXPECT_EQ(built, 21);
  EXPECT_LE(cache.size(), 3);
}

}  // namespace
}  // namespace grm::nn
