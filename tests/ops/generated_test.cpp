// The fused generator: against a dense computation graph by graph, by finite differences, and
// against the same mathematics over the sparse pattern of all pairs.
#include "ops/generated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numeric>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/graph/batch.h"
#include "harness.h"
#include "ops/generate.h"
#include "ops/sparse.h"
#include "support/expect_error.h"

namespace grm::test::generated_tests {
namespace {

using torch::Tensor;

constexpr double kTheta = 0.2;

Tensor offsets_of(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> at(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), at.begin() + 1);
  return torch::tensor(at, torch::kInt64);
}

// Both outputs and the gradients of f and x for fixed cotangents.
struct Outcome {
  Tensor y, kl, df, dx;
};

using Call = std::function<std::pair<Tensor, Tensor>(const Tensor& f, const Tensor& x)>;

Outcome outcome(const Tensor& f, const Tensor& x, const Call& call) {
  const Tensor a = f.detach().clone().requires_grad_(), b = x.detach().clone().requires_grad_();
  const auto [y, kl] = call(a, b);
  const Tensor dy = normal("dy", y.sizes().vec(), torch::kFloat64).to(y.scalar_type());
  const Tensor dkl = normal("dkl", kl.sizes().vec(), torch::kFloat64).to(kl.scalar_type());
  ((y * dy).sum() + (kl * dkl).sum()).backward();
  return {y.detach(), kl.detach(), a.grad(), b.grad()};
}

// The paper's formulas on dense matrices, one graph at a time.
Call dense(const Tensor& offsets, bool normalised, bool mean) {
  return [=](const Tensor& f, const Tensor& x) {
    std::vector<Tensor> y, kl;
    for (int64_t g = 0; g + 1 < offsets.numel(); ++g) {
      const int64_t first = offsets[g].item<int64_t>();
      const int64_t n = offsets[g + 1].item<int64_t>() - first;
      const Tensor rows = f.narrow(0, first, n);
      const Tensor e = torch::sigmoid(rows.mm(rows.t()));
      const Tensor scale = e.sum(1).rsqrt();
      const Tensor a = normalised ? scale.unsqueeze(1) * e * scale : e;
      y.push_back(a.mm(x.narrow(0, first, n)));
      const Tensor each = e * (e / kTheta).log() + (1 - e) * ((1 - e) / (1 - kTheta)).log();
      kl.push_back(mean && n > 0 ? each.mean() : each.sum());
    }
    return std::make_pair(torch::cat(y), torch::stack(kl));
  };
}

Call fused(const Tensor& offsets, bool normalised, bool mean) {
  const ops::GeneratedTiles tiles = ops::generated_tiles(offsets);
  return [=](const Tensor& f, const Tensor& x) {
    return ops::generated_product_and_kl(tiles, f, x, normalised, kTheta, mean);
  };
}

// The same operators over the pattern of all pairs.
Call sparse(const Tensor& offsets, bool normalised, bool mean) {
  GraphBatch batch;
  batch.graphs = offsets.numel() - 1;
  batch.node_offsets = offsets;
  batch.nodes = torch::arange(offsets[-1].item<int64_t>(), torch::kInt64);
  const AdjacencyPtr pairs = all_pairs(batch);
  const Tensor pair_offsets = pairs->in.offsets.index_select(0, offsets);
  return [=](const Tensor& f, const Tensor& x) {
    const ops::GeneratedEdges e = ops::generate_edges(ops::sddmm(pairs, f, f), kTheta);
    const Tensor w = normalised ? ops::normalise(pairs, e.weights) : e.weights;
    return std::make_pair(ops::spmm(pairs, w, x), mean ? ops::segment_mean(pair_offsets, e.kl)
                                                       : ops::segment_sum(pair_offsets, e.kl));
  };
}

void expect_near(const Tensor& is, const Tensor& expected, double tolerance, const char* what) {
  ASSERT_EQ(is.sizes(), expected.sizes()) << what;
  if (is.numel() == 0) return;
  const Tensor wide = expected.to(torch::kFloat64);
  const double scale = std::max(1.0, wide.abs().max().item<double>());
  EXPECT_LE((is.to(torch::kFloat64) - wide).abs().max().item<double>(), tolerance * scale) << what;
}

void expect_near(const Outcome& is, const Outcome& expected, double tolerance) {
  expect_near(is.y, expected.y, tolerance, "y");
  expect_near(is.kl, expected.kl, tolerance, "kl");
  expect_near(is.df, expected.df, tolerance, "df");
  expect_near(is.dx, expected.dx, tolerance, "dx");
}

// Every remainder of rows and vectors, graphs without nodes and of one node, and sizes beyond what
// is kept in cache at once (221 for float, 156 for double).
const std::vector<int64_t> kSizes = {21, 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 64, 0};
const std::vector<int64_t> kLarge = {3, 250, 1, 227};

struct Data {
  Tensor offsets, f, x;
  Data(const std::vector<int64_t>& sizes, int64_t edge_width, int64_t width, double spread = 1.0)
      : offsets(offsets_of(sizes)) {
    const int64_t rows = offsets[-1].item<int64_t>();
    f = normal("f", {rows, edge_width}, torch::kFloat64) *
        (spread / std::sqrt(std::max(1.0, static_cast<double>(edge_width))));
    x = normal("x", {rows, width}, torch::kFloat64);
  }
};

TEST(Generated, EqualsTheDenseFormulas) {
  for (const auto& [edge_width, width] :
       std::vector<std::pair<int64_t, int64_t>>{{128, 128}, {3, 2}, {1, 17}, {7, 33}, {20, 1}}) {
    const Data data(kSizes, edge_width, width, 2.0);
    for (const bool normalised : {true, false}) {
      const bool mean = normalised;
      const Outcome expected = outcome(data.f, data.x, dense(data.offsets, normalised, mean));
      expect_near(outcome(data.f, data.x, fused(data.offsets, normalised, mean)), expected, 1e-13);
      const Tensor f = data.f.to(torch::kFloat32), x = data.x.to(torch::kFloat32);
      expect_near(outcome(f, x, fused(data.offsets, normalised, mean)), expected, 1e-5);
    }
  }
}

TEST(Generated, EqualsTheDenseFormulasOnLargeGraphs) {
  const Data data(kLarge, 9, 5, 2.0);
  for (const bool normalised : {true, false}) {
    const Outcome expected = outcome(data.f, data.x, dense(data.offsets, normalised, false));
    expect_near(outcome(data.f, data.x, fused(data.offsets, normalised, false)), expected, 1e-13);
    const Tensor f = data.f.to(torch::kFloat32), x = data.x.to(torch::kFloat32);
    expect_near(outcome(f, x, fused(data.offsets, normalised, false)), expected, 2e-5);
  }
}

TEST(Generated, EqualsTheOperatorsOverAllPairs) {
  for (const auto& sizes : {kSizes, kLarge}) {
    const Data data(sizes, 40, 24, 3.0);
    for (const bool normalised : {true, false}) {
      for (const bool mean : {true, false}) {
        expect_near(outcome(data.f, data.x, fused(data.offsets, normalised, mean)),
                    outcome(data.f, data.x, sparse(data.offsets, normalised, mean)), 1e-12);
      }
    }
  }
}

TEST(Generated, GradientsAgreeWithFiniteDifferences) {
  const Data data({5, 1, 0, 9}, 4, 3);
  for (const bool normalised : {true, false}) {
    const Call call = fused(data.offsets, normalised, true);
    const Outcome at = outcome(data.f, data.x, call);
    const Tensor dy = normal("dy", at.y.sizes().vec(), torch::kFloat64);
    const Tensor dkl = normal("dkl", at.kl.sizes().vec(), torch::kFloat64);
    const auto loss = [&](const Tensor& f, const Tensor& x) {
      const auto [y, kl] = call(f, x);
      return ((y * dy).sum() + (kl * dkl).sum()).item<double>();
    };
    constexpr double kStep = 1e-5;
    for (int64_t e = 0; e < data.f.numel(); e += 3) {
      Tensor up = data.f.clone(), down = data.f.clone();
      up.view(-1)[e] += kStep;
      down.view(-1)[e] -= kStep;
      EXPECT_NEAR(at.df.view(-1)[e].item<double>(),
                  (loss(up, data.x) - loss(down, data.x)) / (2 * kStep), 1e-8);
    }
    for (int64_t e = 0; e < data.x.numel(); e += 3) {
      Tensor up = data.x.clone(), down = data.x.clone();
      up.view(-1)[e] += kStep;
      down.view(-1)[e] -= kStep;
      EXPECT_NEAR(at.dx.view(-1)[e].item<double>(),
                  (loss(data.f, up) - loss(data.f, down)) / (2 * kStep), 1e-8);
    }
  }
}

TEST(Generated, EqualBitsForAnyNumberOfThreads) {
  const int before = threads();
  std::vector<int64_t> sizes(120, 21);
  sizes.insert(sizes.end(), {260, 5, 1, 0, 40, 230});
  const Data data(sizes, 32, 20);
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const Tensor f = data.f.to(type), x = data.x.to(type);
    std::vector<Outcome> each;
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      each.push_back(outcome(f, x, fused(data.offsets, true, true)));
    }
    for (int k = 1; k < 3; ++k) {
      EXPECT_TRUE(torch::equal(each[k].y, each[0].y));
      EXPECT_TRUE(torch::equal(each[k].kl, each[0].kl));
      EXPECT_TRUE(torch::equal(each[k].df, each[0].df));
      EXPECT_TRUE(torch::equal(each[k].dx, each[0].dx));
    }
  }
  set_threads(before);
}

TEST(Generated, PartsGiveTheBitsOfTheWhole) {
  for (const auto& sizes : {kSizes, kLarge}) {
    const Data data(sizes, 12, 10);
    const ops::GeneratedTiles tiles = ops::generated_tiles(data.offsets);
    const Tensor f = data.f.clone().requires_grad_(), x = data.x.clone().requires_grad_();
    const auto [y, kl] = ops::generated_product_and_kl(tiles, f, x, true, kTheta, true);
    EXPECT_TRUE(torch::equal(y, ops::generated_product(tiles, f, x, true)));
    EXPECT_TRUE(torch::equal(kl, ops::generated_kl(tiles, f, kTheta, true)));
    // The gradient of one output alone, and with respect to one input alone.
    const auto gradients = [&](const Tensor& loss) {
      f.mutable_grad() = Tensor();
      x.mutable_grad() = Tensor();
      loss.backward({}, /*retain_graph=*/true);
      return std::make_pair(f.grad(), x.grad());
    };
    const auto [f_of_y, x_of_y] = gradients(y.square().sum());
    const auto [f_of_kl, x_of_kl] = gradients(kl.sum());
    EXPECT_FALSE(x_of_kl.defined());
    const auto alone = gradients(ops::generated_product(tiles, f, x.detach(), true).square().sum());
    EXPECT_TRUE(torch::equal(alone.first, f_of_y));
    const auto other = gradients(ops::generated_product(tiles, f.detach(), x, true).square().sum());
    EXPECT_FALSE(other.first.defined());
    EXPECT_TRUE(torch::equal(other.second, x_of_y));
    EXPECT_TRUE(
        torch::equal(gradients(ops::generated_kl(tiles, f, kTheta, true).sum()).first, f_of_kl));
  }
}

TEST(Generated, StridedInputsGiveTheSameBits) {
  const Data data({6, 9}, 5, 4);
  const Call call = fused(data.offsets, true, true);
  const auto strided = [](const Tensor& t) { return t.t().contiguous().t(); };
  const auto [y, kl] = call(data.f, data.x);
  const auto [z, divergence] = call(strided(data.f), strided(data.x));
  EXPECT_TRUE(torch::equal(y, z));
  EXPECT_TRUE(torch::equal(kl, divergence));
}

TEST(Generated, LargeLogitsStayFinite) {
  // Logits up to 30 pairs of +-1e30: weights of exactly 0 and 1, divergences up to 1e60.
  for (const double size : {8.0, 40.0, 1e15}) {
    for (const auto type : {torch::kFloat32, torch::kFloat64}) {
      Tensor f = torch::ones({30, 2}, type) * size;
      f.narrow(0, 0, 15).neg_();
      const Tensor x = normal("x", {30, 3}, type);
      const Outcome is = outcome(f, x, fused(offsets_of({30}), true, true));
      for (const Tensor& t : {is.y, is.kl, is.df, is.dx}) {
        EXPECT_TRUE(t.isfinite().all().item<bool>()) << size;
      }
      // Two groups that do not see each other, and a weight of 1 inside each.
      EXPECT_LE((is.y[0] - x.narrow(0, 0, 15).mean(0)).abs().max().item<double>(), 1e-5);
      const double expected = -(std::log(kTheta) + std::log(1 - kTheta)) / 2;
      EXPECT_NEAR(is.kl.item<double>(), expected, 1e-5);
    }
  }
}

TEST(Generated, OverflowingLogitsGiveNoNan) {
  const Tensor f = torch::full({4, 2}, 3e38, torch::kFloat32);
  const Outcome is =
      outcome(f, normal("x", {4, 2}, torch::kFloat32), fused(offsets_of({4}), true, true));
  EXPECT_TRUE(is.y.isfinite().all().item<bool>());
  EXPECT_TRUE(is.kl.isfinite().all().item<bool>());
}

TEST(Generated, NoGraphsAndNoColumnsAreFine) {
  const Outcome none = outcome(torch::empty({0, 4}), torch::empty({0, 3}),
                               fused(torch::zeros({1}, torch::kInt64), true, true));
  EXPECT_EQ(none.y.numel(), 0);
  EXPECT_EQ(none.kl.numel(), 0);
  // No columns of f: all logits are 0. No columns of x: nothing but the divergence.
  const Tensor x = normal("x", {5, 3}, torch::kFloat64);
  const Outcome flat =
      outcome(torch::empty({5, 0}, torch::kFloat64), x, fused(offsets_of({5}), true, true));
  expect_near(flat.y, x.mean(0).expand_as(x), 1e-14, "y");
  const Tensor f = normal("f", {5, 3}, torch::kFloat64);
  const Outcome thin =
      outcome(f, torch::empty({5, 0}, torch::kFloat64), fused(offsets_of({5}), true, true));
  expect_near(thin.kl, outcome(f, x, fused(offsets_of({5}), true, true)).kl, 0, "kl");
}

TEST(Generated, MistakesAreNamed) {
  const Data data({3, 2}, 4, 2);
  const ops::GeneratedTiles tiles = ops::generated_tiles(data.offsets);
  const auto message = [](ErrorKind kind, const std::function<void()>& call) {
    return error_of(kind, call);
  };
  using testing::HasSubstr;
  EXPECT_THAT(message(ErrorKind::shape,
                      [&] { ops::generated_product(tiles, data.f, data.x.slice(0, 1), true); }),
              HasSubstr("x is [4, 2]"));
  EXPECT_THAT(
      message(ErrorKind::shape, [&] { ops::generated_kl(tiles, data.f.slice(0, 1), 0.5, true); }),
      HasSubstr("from 0 to 4 was expected"));
  EXPECT_THAT(message(ErrorKind::config, [&] { ops::generated_kl(tiles, data.f, 1.0, true); }),
              HasSubstr("theta is 1"));
  EXPECT_THAT(message(ErrorKind::shape,
                      [&] {
                        ops::generated_tiles(torch::tensor({0, 3, 2}, torch::kInt64));
                      }),
              HasSubstr("fall from 3 to 2"));
  const Tensor f = data.f.clone().requires_grad_();
  const Tensor y = ops::generated_product(tiles, f, data.x, true).square().sum();
  EXPECT_THROW(torch::autograd::grad({y}, {f}, {}, true, true), InternalError);
}

}  // namespace
}  // namespace grm::test::generated_tests
