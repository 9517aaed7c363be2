#include <cmath>

#include "checks.h"
#include "grm/core/threads.h"
#include "grm/nn/layers.h"

namespace grm::nn {
namespace {

using test::expect_close;
using test::numbers;
using test::uniform;

TEST(BatchNorm, OneTrainingPassGivesTheHandComputedRowsAndStatistics) {
  ParameterSet set(Rng(1), torch::kFloat64);
  BatchNorm norm(set, "norm", 1);
  // Column 1, 2, 3, 6: mean 3, biased variance 3.5, unbiased variance 14/3.
  const torch::Tensor x = numbers({1, 2, 3, 6}).view({4, 1});
  const torch::Tensor y = norm.forward(x, Pass::train(Stream(0)));
  const double r = 1 / std::sqrt(3.5 + 1e-5);
  expect_close(y, numbers({-2 * r, -r, 0, 3 * r}).view({4, 1}), 1e-14);
  expect_close(norm.mean, numbers({0.3}), 1e-15);
  expect_close(norm.variance, numbers({0.9 + 0.1 * 14.0 / 3.0}), 1e-15);
}

TEST(BatchNorm, EveryTrainingPassMovesTheRunningStatistics) {
  ParameterSet set(Rng(1), torch::kFloat64);
  BatchNorm norm(set, "norm", 3);
  at::NoGradGuard no_grad;
  double decay = 1.0;
  const torch::Tensor x = uniform({600, 3}, 11, 1.0, 2.0);
  for (int k = 0; k < 4; ++k) {
    norm.forward(x, Pass::train(Stream(0)));
    decay *= 0.9;
  }
  expect_close(norm.mean, (1 - decay) * x.mean(0), 1e-13);
  expect_close(norm.variance, decay + (1 - decay) * x.var(0, true), 1e-13);
}

TEST(BatchNorm, EvaluationUsesAndKeepsTheRunningStatistics) {
  ParameterSet set(Rng(1), torch::kFloat64);
  BatchNorm norm(set, "norm", 2);
  {
    at::NoGradGuard no_grad;
    norm.mean.copy_(numbers({1, -2}));
    norm.variance.copy_(numbers({4, 9}));
    norm.gamma.copy_(numbers({2, 3}));
    norm.beta.copy_(numbers({0.5, 0.25}));
  }
  const torch::Tensor x = numbers({3, 1, 5, -2}).view({2, 2});
  const torch::Tensor y = norm.forward(x, Pass::evaluate());
  const double a = 2 / std::sqrt(4 + 1e-5), b = 3 / std::sqrt(9 + 1e-5);
  expect_close(y, numbers({0.5 + 2 * a, 0.25 + 3 * b, 0.5 + 4 * a, 0.25}).view({2, 2}), 1e-14);
  expect_close(norm.mean, numbers({1, -2}), 0);
  expect_close(norm.variance, numbers({4, 9}), 0);
}

TEST(BatchNorm, OneRowAloneGivesBetaAndStaysFinite) {
  ParameterSet set{Rng(1)};
  BatchNorm norm(set, "norm", 2);
  const torch::Tensor x = torch::tensor({{3.0f, -4.0f}}).set_requires_grad(true);
  const torch::Tensor y = norm.forward(x, Pass::train(Stream(0)));
  y.sum().backward();
  expect_close(y, torch::zeros({1, 2}), 0);
  expect_close(x.grad(), torch::zeros({1, 2}), 0);
  expect_close(norm.mean, torch::tensor({0.3f, -0.4f}), 1e-7);
  expect_close(norm.variance, torch::ones({2}), 0);
}

TEST(BatchNorm, GradientsAgreeWithFiniteDifferences) {
  ParameterSet set(Rng(1), torch::kFloat64);
  BatchNorm norm(set, "norm", 3);
  const torch::Tensor x = set.parameter("x", uniform({9, 3}, 12));
  {
    at::NoGradGuard no_grad;
    norm.gamma.copy_(numbers({0.7, -1.3, 2.0}));
    norm.beta.copy_(numbers({0.1, 0.2, -0.4}));
  }
  const torch::Tensor r = uniform({9, 3}, 13);
  test::expect_gradients([&] { return (norm.forward(x, Pass::train(Stream(0))) * r).sum(); },
                         set.parameters());
}

TEST(BatchNorm, FloatAndDoubleAgreeWithTorchInDoubleOverManyRows) {
  for (const torch::Dtype dtype : {torch::kFloat32, torch::kFloat64}) {
    const double tolerance = dtype == torch::kFloat32 ? 1e-5 : 1e-11;
    ParameterSet set(Rng(1), dtype);
    BatchNorm norm(set, "norm", 17);
    const torch::Tensor x = uniform({1500, 17}, 14, 2.0, 3.0).to(dtype).set_requires_grad(true);
    const torch::Tensor r = uniform({1500, 17}, 15).to(dtype);
    const torch::Tensor y = norm.forward(x, Pass::train(Stream(0)));
    (y * r).sum().backward();
    const auto wide = torch::dtype(torch::kFloat64);
    const torch::Tensor x2 = x.detach().to(torch::kFloat64).clone().set_requires_grad(true);
    const torch::Tensor gamma = torch::ones({17}, wide).set_requires_grad(true);
    const torch::Tensor beta = torch::zeros({17}, wide).set_requires_grad(true);
    torch::Tensor mean = torch::zeros({17}, wide), variance = torch::ones({17}, wide);
    const torch::Tensor y2 =
        torch::batch_norm(x2, gamma, beta, mean, variance, true, 0.1, 1e-5, false);
    (y2 * r.to(torch::kFloat64)).sum().backward();
    expect_close(y, y2, tolerance, "rows");
    expect_close(x.grad(), x2.grad(), tolerance, "gradient of x");
    expect_close(norm.gamma.grad(), gamma.grad(), tolerance, "gradient of gamma");
    expect_close(norm.beta.grad(), beta.grad(), tolerance, "gradient of beta");
    expect_close(norm.mean, mean, tolerance, "running mean");
    expect_close(norm.variance, variance, tolerance, "running variance");
  }
}

TEST(BatchNorm, BitsDoNotDependOnTheThreadCount) {
  const int before = threads();
  const torch::Tensor r = uniform({3001, 5}, 17).to(torch::kFloat32);
  std::vector<torch::Tensor> outputs, gradients;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    ParameterSet set{Rng(1)};
    BatchNorm norm(set, "norm", 5);
    const torch::Tensor x = uniform({3001, 5}, 16).to(torch::kFloat32).set_requires_grad(true);
    const torch::Tensor y = norm.forward(x, Pass::train(Stream(0)));
    y.backward(r);
    outputs.push_back(y.detach());
    gradients.push_back(x.grad());
  }
  set_threads(before);
  for (int k : {1, 2}) {
    EXPECT_TRUE(torch::equal(outputs[0], outputs[k]));
    EXPECT_TRUE(torch::equal(gradients[0], gradients[k]));
  }
}

}  // namespace
}  // namespace grm::nn
