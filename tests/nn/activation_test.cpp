// norm_relu_dropout against the layers that it stands for.
#include "nn/activation.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/core/threads.h"

namespace grm::nn {
namespace {

using torch::Tensor;

Tensor normal(const std::string& name, std::vector<int64_t> sizes, torch::ScalarType type) {
  Tensor t = torch::empty(sizes, torch::kFloat64);
  Rng(3).stream(name).fill_normal(t.data_ptr<double>(), t.numel());
  return t.to(type);
}

struct Layer {
  Layer(torch::Dtype type, int64_t width)
      : set(Rng(1), type),
        norm(set, "norm", width),
        bias(set.parameter("bias", normal("bias", {width}, type))) {
    const at::NoGradGuard no_grad;
    norm.gamma.copy_(normal("gamma", {width}, type));
    norm.beta.copy_(normal("beta", {width}, type));
  }
  ParameterSet set;
  BatchNorm norm;
  Tensor bias;
};

struct Outcome {
  Tensor y, dx, dgamma, dbeta, dbias, mean, variance;
};

template <class Call>
Outcome outcome(torch::Dtype type, const Tensor& x, const Call& call) {
  Layer layer(type, x.size(1));
  const Tensor leaf = x.to(type).clone().requires_grad_();
  Pass pass = Pass::train(Stream(17));
  const Tensor y = call(layer, leaf, pass);
  (y * normal("dy", y.sizes().vec(), type)).sum().backward();
  return {y.detach(),        leaf.grad(),     layer.norm.gamma.grad(), layer.norm.beta.grad(),
          layer.bias.grad(), layer.norm.mean, layer.norm.variance};
}

void expect_near(const Tensor& is, const Tensor& expected, double tolerance, const char* what) {
  const Tensor wide = expected.to(torch::kFloat64);
  const double scale = std::max(1.0, wide.abs().max().item<double>());
  EXPECT_LE((is.to(torch::kFloat64) - wide).abs().max().item<double>(), tolerance * scale) << what;
}

TEST(NormReluDropout, EqualsTheLayersItStandsFor) {
  for (const auto& [rows, width] :
       std::vector<std::pair<int64_t, int64_t>>{{1000, 128}, {257, 7}, {40, 33}, {12, 1}}) {
    const Tensor x = normal("x", {rows, width}, torch::kFloat32) + 3;
    for (const double rate : {0.0, 0.3}) {
      const auto plain = [&](Layer& layer, const Tensor& in, Pass& pass) {
        return pass.dropout(torch::relu(layer.norm.forward(in + layer.bias, pass)), rate);
      };
      const auto fused = [&](Layer& layer, const Tensor& in, Pass& pass) {
        return norm_relu_dropout(layer.norm, in, layer.bias, rate, pass);
      };
      const Outcome expected = outcome(torch::kFloat64, x, plain);
      for (const auto type : {torch::kFloat64, torch::kFloat32}) {
        const Outcome is = outcome(type, x, fused);
        const double tolerance = type == torch::kFloat64 ? 1e-12 : 2e-5;
        expect_near(is.y, expected.y, tolerance, "y");
        expect_near(is.dx, expected.dx, tolerance, "dx");
        expect_near(is.dgamma, expected.dgamma, tolerance, "dgamma");
        expect_near(is.dbeta, expected.dbeta, tolerance, "dbeta");
        expect_near(is.mean, expected.mean, tolerance, "running mean");
        expect_near(is.variance, expected.variance, tolerance, "running variance");
        EXPECT_EQ(is.dbias.abs().max().item<double>(), 0.0);
        EXPECT_LE(expected.dbias.abs().max().item<double>(), 1e-9);
      }
    }
  }
}

TEST(NormReluDropout, EqualBitsForAnyNumberOfThreads) {
  const int before = threads();
  const Tensor x = normal("x", {2000, 33}, torch::kFloat32);
  std::vector<Outcome> each;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    each.push_back(outcome(torch::kFloat32, x, [](Layer& layer, const Tensor& in, Pass& pass) {
      return norm_relu_dropout(layer.norm, in, layer.bias, 0.4, pass);
    }));
  }
  set_threads(before);
  for (int k = 1; k < 3; ++k) {
    EXPECT_TRUE(torch::equal(each[k].y, each[0].y));
    EXPECT_TRUE(torch::equal(each[k].dx, each[0].dx));
    EXPECT_TRUE(torch::equal(each[k].dgamma, each[0].dgamma));
  }
}

TEST(NormReluDropout, EvaluatesWithTheRunningStatisticsAndWithoutMask) {
  Layer layer(torch::kFloat64, 5);
  Pass pass = Pass::evaluate();
  const Tensor x = normal("x", {6, 5}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(norm_relu_dropout(layer.norm, x, layer.bias, 0.5, pass),
                           torch::relu(layer.norm.forward(x + layer.bias, pass))));
}

TEST(NormReluDropout, DrawsTheMaskThatDropoutWouldDraw) {
  Layer layer(torch::kFloat32, 9);
  const Tensor x = normal("x", {100, 9}, torch::kFloat32);
  Pass first = Pass::train(Stream(4)), second = Pass::train(Stream(4));
  // The second mask of each pass: both kinds of call count.
  norm_relu_dropout(layer.norm, x, layer.bias, 0.3, first);
  second.dropout(x, 0.3);
  const Tensor fused = norm_relu_dropout(layer.norm, x, layer.bias, 0.3, first);
  const Tensor ones = second.dropout(torch::ones_like(x), 0.3);
  EXPECT_EQ(fused.gt(0).logical_and(ones.eq(0)).sum().item<int64_t>(), 0);
  EXPECT_GT(fused.gt(0).sum().item<int64_t>(), 200);
}

}  // namespace
}  // namespace grm::nn
