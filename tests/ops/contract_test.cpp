// What the headers promise beyond values and gradients: errors, extremes, special weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <cmath>
#include <limits>

#include "grm/core/error.h"
#include "harness.h"
#include "ops/generate.h"
#include "ops/sparse.h"

namespace grm::test {
namespace {

using testing::HasSubstr;
using torch::Tensor;

template <class Call>
void expect_error(ErrorKind kind, const std::vector<std::string>& parts, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error that mentions " << parts[0];
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const std::string& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

template <class Call>
void expect_shape_error(const std::vector<std::string>& parts, const Call& call) {
  expect_error(ErrorKind::shape, parts, call);
}

Tensor zeros(std::vector<int64_t> sizes) {
  return torch::zeros(sizes, torch::kFloat32);
}

TEST(OpErrors, ProductsNameTheArgumentAndBothShapes) {
  const AdjacencyPtr a = make_adjacency(3, 4, torch::tensor({0, 3}), torch::tensor({1, 2}));
  expect_shape_error({"spmm", "x", "[5, 2]", "[4, any]"}, [&] {
    ops::spmm(a, Tensor(), zeros({5, 2}));
  });
  expect_shape_error({"spmm", "x", "[4]"}, [&] { ops::spmm(a, Tensor(), zeros({4})); });
  expect_shape_error({"spmm", "w", "[3]", "[2]"}, [&] { ops::spmm(a, zeros({3}), zeros({4, 2})); });
  expect_shape_error({"spmm", "w", "Double", "x", "Float"}, [&] {
    ops::spmm(a, torch::zeros({2}, torch::kFloat64), zeros({4, 2}));
  });
  expect_shape_error({"spmm", "x", "Long"}, [&] {
    ops::spmm(a, Tensor(), torch::zeros({4, 2}, torch::kInt64));
  });
  expect_shape_error({"spmm", "x", "undefined"}, [&] { ops::spmm(a, Tensor(), Tensor()); });
  expect_shape_error({"spmm", "null"}, [&] { ops::spmm(nullptr, Tensor(), zeros({4, 2})); });
  expect_shape_error({"sddmm", "p", "[4, 2]", "[3, any]"}, [&] {
    ops::sddmm(a, zeros({4, 2}), zeros({4, 2}));
  });
  expect_shape_error({"sddmm", "q", "[4, 3]", "[4, 2]"}, [&] {
    ops::sddmm(a, zeros({3, 2}), zeros({4, 3}));
  });
}

TEST(OpErrors, EdgeReductionsNameTheArgumentAndBothShapes) {
  const AdjacencyPtr a = make_adjacency(3, 4, torch::tensor({0, 3}), torch::tensor({1, 2}));
  expect_shape_error({"row_sum", "w", "[3]", "[2]"}, [&] { ops::row_sum(a, zeros({3})); });
  expect_shape_error({"normalise", "[3, 4]", "square"}, [&] { ops::normalise(a, zeros({2})); });
  expect_shape_error({"row_softmax", "s", "[2]", "[2, any]"},
                     [&] { ops::row_softmax(a, zeros({2})); });
}

TEST(OpErrors, SegmentsAndIndicesMustFit) {
  const auto offsets = [](std::vector<int64_t> at) { return torch::tensor(at, torch::kInt64); };
  expect_shape_error({"segment_sum", "offsets", "0 to 5"}, [&] {
    ops::segment_sum(offsets({0, 4}), zeros({5, 2}));
  });
  expect_shape_error({"segment_mean", "fall from 3 to 2"}, [&] {
    ops::segment_mean(offsets({0, 3, 2, 5}), zeros({5, 2}));
  });
  expect_shape_error({"segment_sum", "offsets", "Float"}, [&] {
    ops::segment_sum(zeros({2}), zeros({5, 2}));
  });
  expect_shape_error({"segment_sum", "offsets of 0"}, [&] {
    ops::segment_sum(offsets({}), zeros({0, 2}));
  });
  expect_shape_error({"gather_rows", "index[1] is 5", "[5, 2]"}, [&] {
    ops::gather_rows(zeros({5, 2}), offsets({0, 5}));
  });
  expect_shape_error({"gather_rows", "index[0] is -1"}, [&] {
    ops::gather_rows(zeros({5, 2}), offsets({-1}));
  });
}

TEST(OpErrors, FeaturesMustFitTheWeights) {
  const AdjacencyPtr a = make_adjacency(3, 4, torch::tensor({0, 3}), torch::tensor({1, 2}));
  Features x;
  expect_shape_error({"feature_linear", "neither"}, [&] { ops::feature_linear(x, zeros({4, 2})); });
  x.sparse = a;
  expect_shape_error({"feature_linear", "w", "[5, 2]", "[4, any]"}, [&] {
    ops::feature_linear(x, zeros({5, 2}));
  });
  x.shift = zeros({3});
  expect_shape_error({"feature_linear", "x.shift", "[3]", "[4]"}, [&] {
    ops::feature_linear(x, zeros({4, 2}));
  });
  x.shift = Tensor();
  x.sparse_values = zeros({3});
  expect_shape_error({"feature_linear", "x.sparse_values", "[3]", "[2]"}, [&] {
    ops::feature_linear(x, zeros({4, 2}));
  });
  x.sparse_values = Tensor();
  x.dense = zeros({2, 1});
  expect_shape_error({"feature_linear", "x.dense", "[2, 1]", "[3, any]"}, [&] {
    ops::feature_linear(x, zeros({5, 2}));
  });
}

TEST(OpErrors, DivergencesCheckShapesAndTheta) {
  expect_shape_error({"gaussian_kl", "log_sigma", "[3, 2]", "[2, 3]"}, [&] {
    ops::gaussian_kl(zeros({2, 3}), zeros({3, 2}));
  });
  expect_error(ErrorKind::config, {"edge_kl", "theta is 1"},
               [&] { ops::edge_kl(zeros({2}), 1.0); });
  expect_error(ErrorKind::config, {"generate_edges", "theta is 0"},
               [&] { ops::generate_edges(zeros({2}), 0.0); });
}

TEST(OpErrors, SecondDerivativesAreRefusedRatherThanWrong) {
  const AdjacencyPtr a = power_law(5, 5, 12);
  const Tensor x = normal("x", {5, 3}, torch::kFloat64).requires_grad_();
  const Tensor y = ops::spmm(a, Tensor(), x).square().sum();
  EXPECT_THROW(torch::autograd::grad({y}, {x}, {}, true, true), InternalError);
}

TEST(Normalise, DegreesThatAreNotPositiveGiveZero) {
  // Degrees: 0 has 0 (weights cancel), 1 has -1, 2 has 4.
  const AdjacencyPtr a =
      make_adjacency(3, 3, torch::tensor({0, 1, 2, 0, 1, 2}), torch::tensor({0, 0, 1, 2, 2, 2}));
  const Tensor w = torch::tensor({2.0, -2.0, -1.0, 1.0, 1.0, 2.0}, torch::kFloat64);
  const Tensor y = ops::normalise(a, w.requires_grad_());
  EXPECT_TRUE(torch::equal(y, torch::tensor({0.0, 0.0, 0.0, 0.0, 0.0, 0.5}, torch::kFloat64)));
  y.sum().backward();
  EXPECT_TRUE(w.grad().isfinite().all().item<bool>());
  EXPECT_EQ(w.grad().narrow(0, 0, 3).abs().sum().item<double>(), 0.0);
}

TEST(UndefinedWeights, MeanAllOnes) {
  const AdjacencyPtr a = with_self_loops(*power_law(20, 20, 80));
  const Tensor ones = torch::ones({a->nnz()}, torch::kFloat32);
  EXPECT_TRUE(torch::equal(ops::row_sum(a, Tensor()), ops::row_sum(a, ones)));
  EXPECT_TRUE(torch::equal(ops::normalise(a, Tensor()), ops::normalise(a, ones)));
  const Tensor x = normal("x", {20, 9}, torch::kFloat32);
  EXPECT_TRUE(torch::equal(ops::spmm(a, Tensor(), x), ops::spmm(a, ones, x)));
}

TEST(RowSoftmax, LargeScoresNeitherOverflowNorLoseTheirRow) {
  const AdjacencyPtr a = make_adjacency(1, 3, torch::tensor({0, 1, 2}), torch::tensor({0, 0, 0}));
  const double infinity = std::numeric_limits<double>::infinity();
  for (torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    const Tensor s = torch::tensor({3e4, 3e4, -infinity}, torch::kFloat64).to(type).view({3, 1});
    const Tensor expected = torch::tensor({0.5, 0.5, 0.0}, torch::kFloat64).to(type).view({3, 1});
    EXPECT_TRUE(torch::equal(ops::row_softmax(a, s), expected));
  }
}

TEST(GatherRows, RepeatedRowsAddUpInIndexOrder) {
  // In float, (2^24 + 1) - 2^24 is 0 but (2^24 - 2^24) + 1 is 1: only one order gives 0.
  const Tensor x = zeros({2, 1}).requires_grad_();
  const Tensor y = ops::gather_rows(x, torch::tensor({1, 1, 1}));
  y.backward(torch::tensor({16777216.0F, 1.0F, -16777216.0F}).view({3, 1}));
  EXPECT_EQ(x.grad()[1][0].item<float>(), 0.0F);
}

TEST(FeatureLinear, FloatFeaturesMeetDoubleWeights) {
  const AdjacencyPtr a = power_law(12, 10, 40);
  const Features x{a, normal("v", {a->nnz()}, torch::kFloat32),
                   normal("d", {12, 3}, torch::kFloat32), normal("s", {13}, torch::kFloat32)};
  const Tensor w = normal("w", {13, 5}, torch::kFloat64);
  const Tensor y = ops::feature_linear(x, w);
  Features wide = x;
  wide.sparse_values = x.sparse_values.to(torch::kFloat64);
  wide.dense = x.dense.to(torch::kFloat64);
  wide.shift = x.shift.to(torch::kFloat64);
  EXPECT_EQ(y.scalar_type(), torch::kFloat64);
  EXPECT_TRUE(torch::equal(y, ops::feature_linear(wide, w)));
}

// KL_e from logits with softplus, in libtorch's double arithmetic.
Tensor kl_by_softplus(const Tensor& s, double theta) {
  const Tensor e = torch::sigmoid(s);
  return e * (-torch::softplus(-s, 1, 1e9) - std::log(theta)) +
         (1 - e) * (-torch::softplus(s, 1, 1e9) - std::log(1 - theta));
}

TEST(EdgeKl, ExtremeLogitsStayFiniteAndRight) {
  const Tensor logits =
      torch::tensor({-80.0, -40.0, -20.0, 0.0, 20.0, 40.0, 80.0}, torch::kFloat64);
  for (double theta : {1e-3, 0.5, 0.9}) {
    const Tensor expected = kl_by_softplus(logits, theta);
    const Tensor wide = ops::edge_kl(logits, theta);
    EXPECT_LE((wide - expected).abs().max().item<double>(), 1e-13);
    const Tensor narrow = ops::edge_kl(logits.to(torch::kFloat32), theta).to(torch::kFloat64);
    EXPECT_LE((narrow - expected).abs().max().item<double>(), 2e-6);
  }
}

TEST(EdgeKl, EveryFloatGivesAFiniteDivergenceAndGradient) {
  using Limit = std::numeric_limits<float>;
  const Tensor logits = torch::tensor({0.0F, -0.0F, Limit::denorm_min(), Limit::min(), 87.0F, 88.0F,
                                       89.0F, 104.0F, 1e4F, Limit::max(), Limit::infinity()});
  for (const Tensor& side : {logits, -logits}) {
    const Tensor s = side.clone().requires_grad_();
    const ops::GeneratedEdges edges = ops::generate_edges(s, 0.3);
    (edges.kl.sum() + edges.weights.sum()).backward();
    EXPECT_TRUE(edges.kl.isfinite().all().item<bool>()) << edges.kl;
    EXPECT_TRUE(edges.weights.isfinite().all().item<bool>()) << edges.weights;
    EXPECT_TRUE(s.grad().isfinite().all().item<bool>()) << s.grad();
  }
}

TEST(EdgeKl, FiniteDifferencesHoldAtExtremeLogits) {
  constexpr double kStep = 1e-4, kPrior = 0.3;
  const Tensor s =
      torch::tensor({-80.0, -30.0, -12.0, -1.0, 1.0, 12.0, 30.0, 80.0}, torch::kFloat64);
  const Tensor leaf = s.clone().requires_grad_();
  ops::edge_kl(leaf, kPrior).sum().backward();
  const Tensor expected =
      (ops::edge_kl(s + kStep, kPrior) - ops::edge_kl(s - kStep, kPrior)) / (2 * kStep);
  EXPECT_LE((leaf.grad() - expected).abs().max().item<double>(), 1e-8);
}

TEST(EdgeKl, IsZeroAtThetaAndNeverNegative) {
  const double theta = 0.3;
  const double logit = std::log(theta / (1 - theta));
  const Tensor near = logit + 1e-3 * torch::arange(-50, 51, torch::kFloat32);
  const Tensor kl = ops::edge_kl(near, theta);
  EXPECT_GE(kl.min().item<float>(), 0.0F);
  EXPECT_LE(kl[50].item<float>(), 1e-6F);
}

TEST(GenerateEdges, GradientOfOneOutputIgnoresTheOther) {
  const Tensor s = normal("s", {30}, torch::kFloat64);
  const Tensor a = s.clone().requires_grad_(), b = s.clone().requires_grad_();
  ops::generate_edges(a, 0.4).kl.sum().backward();
  ops::edge_kl(b, 0.4).sum().backward();
  EXPECT_TRUE(torch::equal(a.grad(), b.grad()));
  const Tensor c = s.clone().requires_grad_(), d = s.clone().requires_grad_();
  ops::generate_edges(c, 0.4).weights.sum().backward();
  torch::sigmoid(d).sum().backward();
  EXPECT_LE((c.grad() - d.grad()).abs().max().item<double>(), 1e-15);
}

}  // namespace
}  // namespace grm::test
