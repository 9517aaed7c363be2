// From node rows to graphs: every pooling against its formula, one graph at a time, and by finite
// differences; the readout with its gate and with either order of head and pooling.
#include "nn/readout.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "checks.h"
#include "nn/graph_encoder.h"
#include "support/golden.h"

namespace grm::nn::readout_tests {
namespace {

using test::expect_close;
using torch::Tensor;

Tensor ints(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

TEST(GraphPool, AgreesWithPytorchGeometric) {
  const test::Golden golden("layers.npz");
  const torch::Tensor batch = golden.at("pool__batch").to(torch::kInt64);
  const torch::Tensor offsets =
      torch::searchsorted(batch, torch::arange(batch.max().item<int64_t>() + 2));
  const torch::Tensor x = golden.at("graph__x");
  expect_close(pool(Pooling::mean, offsets, x), golden.at("pool__mean"), 1e-12);
  expect_close(pool(Pooling::max, offsets, x), golden.at("pool__max"), 1e-12);
}

TEST(GraphPool, GraphsWithoutRowsGiveZeroAndTiesGoToTheFirstRow) {
  const torch::Tensor offsets = ints({0, 0, 3, 3});
  const torch::Tensor x =
      torch::tensor({{-1.0, 2.0}, {-1.0, 5.0}, {-3.0, 5.0}}, torch::kFloat64).requires_grad_(true);
  const auto rows = [](double a, double b) {
    return torch::tensor({{0.0, 0.0}, {a, b}, {0.0, 0.0}}, torch::kFloat64);
  };
  expect_close(pool(Pooling::sum, offsets, x), rows(-5, 12), 0);
  expect_close(pool(Pooling::mean, offsets, x), rows(-5.0 / 3, 4), 1e-15);
  const torch::Tensor largest = pool(Pooling::max, offsets, x);
  expect_close(largest, rows(-1, 5), 0);
  (largest * rows(2, 3)).sum().backward();
  expect_close(x.grad(), torch::tensor({{2.0, 0.0}, {0.0, 3.0}, {0.0, 0.0}}, torch::kFloat64), 0);
}

// Column by column in plain loops: p_i x_i pooled over the rows begin .. end.
double naive(Pooling kind, const Tensor& x, const Tensor& p, int64_t column, int64_t begin,
             int64_t end) {
  double sum = 0, gates = 0, largest = -INFINITY, exponentials = 0;
  for (int64_t i = begin; i < end; ++i) {
    const double v = p[i].item<double>() * x[i][column].item<double>();
    sum += v;
    gates += p[i].item<double>();
    largest = std::max(largest, v);
    exponentials += std::exp(v);
  }
  const auto n = static_cast<double>(end - begin);
  switch (kind) {
    case Pooling::mean:
      return sum / n;
    case Pooling::sum:
      return sum;
    case Pooling::max:
      return largest;
    case Pooling::weighted:
      return sum / (gates + 1e-6);
    case Pooling::log_mean_exp:
      return std::log(exponentials / n);
  }
  return NAN;
}

TEST(GraphPool, EveryKindEqualsItsFormulaAndFiniteDifferences) {
  const Tensor offsets = ints({0, 3, 3, 4, 9});
  Tensor x = test::uniform({9, 2}, 3, -2, 2).requires_grad_(true);
  Tensor p = test::uniform({9}, 4, 0.1, 0.9).requires_grad_(true);
  const Tensor direction = test::uniform({4, 2}, 5);
  for (const Pooling kind : all_values<Pooling>()) {
    const Tensor got = pool(kind, offsets, x, p);
    for (int64_t g = 0; g < 4; ++g) {
      const int64_t begin = offsets[g].item<int64_t>(), end = offsets[g + 1].item<int64_t>();
      for (int64_t c = 0; c < 2; ++c) {
        const double expected = begin == end ? 0.0 : naive(kind, x, p, c, begin, end);
        EXPECT_NEAR(got[g][c].item<double>(), expected, 1e-12) << to_string(kind) << " " << g;
      }
    }
    test::expect_gradients([&] { return (pool(kind, offsets, x, p) * direction).sum(); },
                           {{"x", x}, {"p", p}}, 1e-7);
  }
}

TEST(GraphPool, LogMeanExpIsFiniteForLargeValues) {
  const Tensor offsets = ints({0, 2, 4});
  Tensor x = torch::tensor({{1000.0}, {999.0}, {-1000.0}, {-1000.0}}, torch::kFloat64);
  x.requires_grad_(true);
  const Tensor y = pool(Pooling::log_mean_exp, offsets, x);
  // log((e^0 + e^-1) / 2) below the larger of the two, and the common value of two equal ones.
  expect_close(
      y, torch::tensor({{1000.0 + std::log((1 + std::exp(-1.0)) / 2)}, {-1000.0}}, torch::kFloat64),
      1e-12);
  y.sum().backward();
  const double share = 1 / (1 + std::exp(-1.0));
  expect_close(x.grad(), torch::tensor({{share}, {1 - share}, {0.5}, {0.5}}, torch::kFloat64),
               1e-12);
}

TEST(GraphReadout, PoolsRowsOrLogits) {
  const Tensor offsets = ints({0, 3, 5}), rows = test::uniform({5, 3}, 6);
  for (const Pooling kind : all_values<Pooling>()) {
    for (const Pooled what : all_values<Pooled>()) {
      ParameterSet set(Rng(1), torch::kFloat64);
      const GraphReadout readout(set, "readout", {kind, what}, 3);
      const Mlp head(set, "head", {3, 4, 2});
      const NodeRows nodes = readout.read(offsets, rows);
      ASSERT_EQ(nodes.gate.defined(), kind == Pooling::weighted);
      if (nodes.gate.defined()) {
        Tensor w, b;
        for (const auto& [name, value] : set.parameters()) {
          if (name == "readout.gate.weight") w = value;
          if (name == "readout.gate.bias") b = value;
        }
        expect_close(nodes.gate, 1 / (1 + torch::exp(-(rows.matmul(w).squeeze(1) + b))), 1e-12);
      }
      const Tensor expected = what == Pooled::rows
                                  ? head.forward(pool(kind, offsets, rows, nodes.gate))
                                  : pool(kind, offsets, head.forward(rows), nodes.gate);
      expect_close(readout.logits(nodes, head), expected, 1e-12, to_string(kind));
    }
  }
}

}  // namespace
}  // namespace grm::nn::readout_tests
