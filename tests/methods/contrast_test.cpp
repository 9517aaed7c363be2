// Sinkhorn's marginals, and the contrast in tiles against double loops over its definition.
#include "methods/contrast.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "grm/core/rng.h"

namespace grm {
namespace {

using torch::Tensor;

Tensor normal(uint64_t key, at::IntArrayRef shape) {
  Tensor x = torch::empty(shape, torch::kFloat64);
  Stream(key).fill_normal(x.data_ptr<double>(), x.numel());
  return x;
}

// ---- Sinkhorn ----------------------------------------------------------------------------------

// The steps as the specification writes them, on the K x n matrix.
Tensor naive_sinkhorn(const Tensor& s, int64_t iterations) {
  Tensor q = torch::exp(s.t() / 0.1);
  const double k = static_cast<double>(q.size(0)), n = static_cast<double>(q.size(1));
  q = q / q.sum();
  for (int64_t t = 0; t < iterations; ++t) {
    q = q / q.sum(1, true) / k;
    q = q / q.sum(0, true) / n;
  }
  return (q * n).t();
}

TEST(Sinkhorn, EqualsTheStepsOnTheWholeMatrix) {
  const Tensor s = torch::tanh(normal(1, {150, 7}));
  for (const int64_t iterations : {1, 3, 10}) {
    const Tensor expected = naive_sinkhorn(s, iterations);
    EXPECT_TRUE(torch::allclose(sinkhorn(s, 0.1, iterations), expected, 1e-11, 1e-13));
    EXPECT_TRUE(torch::allclose(sinkhorn(s.to(torch::kFloat32), 0.1, iterations),
                                expected.to(torch::kFloat32), 1e-4, 1e-6));
  }
}

TEST(Sinkhorn, RowsSumToOneAndPrototypesGetEqualSharesInTheEnd) {
  const Tensor s = torch::tanh(normal(2, {120, 5}));
  const Tensor rows = sinkhorn(s).sum(1);
  EXPECT_LE((rows - 1).abs().max().item<double>(), 1e-12);
  const Tensor columns = sinkhorn(s, 0.1, 2000).sum(0);
  EXPECT_LE((columns - 120.0 / 5).abs().max().item<double>(), 1e-3);
}

// ---- the contrast ------------------------------------------------------------------------------

struct Naive {
  double contrast = 0, conditional = 0;
};

// The definition, node by node. In M_i = {i} and {j : y1_j = y2_i} the node itself is named too.
Naive naive_contrast(const Tensor& z1, const Tensor& z2, const std::vector<int64_t>& y1,
                     const std::vector<int64_t>& y2, double tau) {
  const int64_t n = z1.size(0);
  const auto cosine = [&](const Tensor& a, int64_t i, const Tensor& b, int64_t j) {
    return (a[i].dot(b[j]) / (a[i].norm() * b[j].norm())).item<double>();
  };
  const auto half = [&](const Tensor& a, const Tensor& b, int64_t i) {
    double below = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (j != i) below += std::exp(cosine(a, i, a, j) / tau);
      below += std::exp(cosine(a, i, b, j) / tau);
    }
    return -std::log(std::exp(cosine(a, i, b, i) / tau) / below);
  };
  Naive mean;
  for (int64_t i = 0; i < n; ++i) {
    mean.contrast += 0.5 * (half(z1, z2, i) + half(z2, z1, i)) / static_cast<double>(n);
    if (y1[i] != y2[i]) continue;
    double below = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (j == i || y1[j] == y2[i]) below += std::exp(cosine(z1, i, z2, j));
    }
    mean.conditional -= std::log(std::exp(cosine(z1, i, z2, i)) / below) / static_cast<double>(n);
  }
  return mean;
}

struct ContrastCase {
  Tensor z1 = normal(11, {9, 4}), z2 = normal(12, {9, 4});
  std::vector<int64_t> y1 = {0, 1, 2, 0, 1, 2, 0, 1, 2}, y2 = {0, 1, 1, 0, 2, 2, 1, 1, 0};
  ContrastTerms operator()(double tau, double gamma, int64_t block) const {
    return contrast_loss(z1, z2, torch::tensor(y1, torch::kInt64), torch::tensor(y2, torch::kInt64),
                         tau, gamma, block);
  }
};

TEST(Contrast, EqualsTheDoubleLoopForEveryBlock) {
  const ContrastCase given;
  const Naive expected = naive_contrast(given.z1, given.z2, given.y1, given.y2, 0.2);
  for (const int64_t block : {1, 2, 4, 9, 512}) {
    const ContrastTerms terms = given(0.2, 0.5, block);
    EXPECT_NEAR(terms.contrast.item<double>(), expected.contrast, 1e-10) << block;
    EXPECT_NEAR(terms.conditional.item<double>(), expected.conditional, 1e-10) << block;
    EXPECT_NEAR(terms.loss.item<double>(), expected.contrast - 0.5 * expected.conditional, 1e-10);
  }
}

TEST(Contrast, GradientEqualsFiniteDifferencesOfTheDoubleLoop) {
  ContrastCase given;
  const double tau = 0.3, gamma = 0.7, step = 1e-5;
  for (const int64_t block : {4, 512}) {
    given.z1 = given.z1.detach().clone().set_requires_grad(true);
    given.z2 = given.z2.detach().clone().set_requires_grad(true);
    (3.0 * given(tau, gamma, block).loss).backward();
    for (const Tensor& z : {given.z1, given.z2}) {
      const Tensor gradient = z.grad().contiguous();
      double* p = z.data_ptr<double>();
      const at::NoGradGuard no_grad;
      const auto loss = [&] {
        const Naive naive = naive_contrast(given.z1, given.z2, given.y1, given.y2, tau);
        return 3.0 * (naive.contrast - gamma * naive.conditional);
      };
      for (int64_t k = 0; k < z.numel(); k += 5) {
        const double kept = p[k];
        p[k] = kept + step;
        const double up = loss();
        p[k] = kept - step;
        const double down = loss();
        p[k] = kept;
        EXPECT_NEAR(gradient.data_ptr<double>()[k], (up - down) / (2 * step), 1e-7) << k;
      }
    }
  }
}

TEST(Contrast, SinglePrecisionOverSeveralBlocksAgreesWithDouble) {
  Tensor z[2][2];
  std::vector<int64_t> clusters(1100);
  for (size_t i = 0; i < clusters.size(); ++i) clusters[i] = static_cast<int64_t>(i * i % 13);
  const Tensor y = torch::tensor(clusters, torch::kInt64);
  ContrastTerms terms[2];
  for (int type = 0; type < 2; ++type) {
    for (int v = 0; v < 2; ++v) {
      z[type][v] = normal(20 + v, {1100, 16})
                       .to(type == 0 ? torch::kFloat32 : torch::kFloat64)
                       .set_requires_grad(true);
    }
    terms[type] = contrast_loss(z[type][0], z[type][1], y, y, 0.2, 0.5);
    terms[type].loss.backward();
  }
  EXPECT_NEAR(terms[0].contrast.item<double>(), terms[1].contrast.item<double>(), 1e-5);
  EXPECT_NEAR(terms[0].conditional.item<double>(), terms[1].conditional.item<double>(), 1e-5);
  for (int v = 0; v < 2; ++v) {
    const Tensor exact = z[1][v].grad();
    const Tensor off = z[0][v].grad().to(torch::kFloat64) - exact;
    EXPECT_LE(off.abs().max().item<double>(), 1e-4 * exact.abs().max().item<double>());
  }
}

TEST(Contrast, ClustersThatDisagreeGiveNoConditionalTerm) {
  ContrastCase given;
  given.y2 = {1, 2, 0, 1, 2, 0, 1, 2, 0};
  EXPECT_EQ(given(0.2, 0.5, 4).conditional.item<double>(), 0.0);
}

// Equal views with orthogonal rows: every numerator is e^{1/tau}, every denominator holds it once
// and 2 (n - 1) ones.
TEST(Contrast, EqualOrthogonalViewsHaveAKnownValue) {
  const Tensor z = torch::eye(6, torch::kFloat64) * 2.5;
  const Tensor y = torch::zeros({6}, torch::kInt64);
  const ContrastTerms terms = contrast_loss(z, z, y, y, 0.5, 0.0);
  EXPECT_NEAR(terms.loss.item<double>(), -std::log(std::exp(2.0) / (std::exp(2.0) + 10)), 1e-12);
  EXPECT_NEAR(terms.conditional.item<double>(), -std::log(std::exp(1.0) / (std::exp(1.0) + 5)),
              1e-12);
}

}  // namespace
}  // namespace grm
