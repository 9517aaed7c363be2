// The latent sample, distances and the sparse product with bias and activation, against plain
// libtorch operators and their gradients.
#include "ops/latent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "harness.h"
#include "ops/propagate.h"
#include "ops/sparse.h"
#include "support/expect_error.h"

namespace grm::test::latent_tests {
namespace {

using testing::HasSubstr;
using torch::Tensor;
using Op = std::function<Tensors(const Tensors&)>;

struct Outcome {
  Tensors outputs, gradients;
};

Outcome outcome(const Tensors& inputs, const Op& op) {
  return [&] {
    const Result result = run({inputs, op, {}});
    return Outcome{result.outputs, result.gradients};
  }();
}

void expect_near(const Tensors& is, const Tensors& expected, double tolerance) {
  ASSERT_EQ(is.size(), expected.size());
  for (size_t k = 0; k < is.size(); ++k) {
    ASSERT_EQ(is[k].sizes(), expected[k].sizes());
    if (is[k].numel() == 0) continue;
    const Tensor wide = expected[k].to(torch::kFloat64);
    const double scale = std::max(1.0, wide.abs().max().item<double>());
    EXPECT_LE((is[k].to(torch::kFloat64) - wide).abs().max().item<double>(), tolerance * scale)
        << "tensor " << k;
  }
}

void expect_equal(const Outcome& is, const Outcome& expected) {
  for (size_t k = 0; k < is.outputs.size(); ++k) {
    EXPECT_TRUE(torch::equal(is.outputs[k], expected.outputs[k])) << "output " << k;
  }
  for (size_t k = 0; k < is.gradients.size(); ++k) {
    EXPECT_TRUE(torch::equal(is.gradients[k], expected.gradients[k])) << "gradient " << k;
  }
}

Tensors in_double(const Tensors& inputs) {
  Tensors wide;
  for (const Tensor& t : inputs) wide.push_back(t.to(torch::kFloat64));
  return wide;
}

// Same bits on 1, 2 and 3 threads; close to `plain`, values and gradients, in float and double.
void check(const Tensors& inputs, const Op& op, const Op& plain) {
  const int before = threads();
  const Outcome expected = outcome(in_double(inputs), plain);
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    Tensors given;
    for (const Tensor& t : inputs) given.push_back(t.to(type));
    std::vector<Outcome> each;
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      each.push_back(outcome(given, op));
    }
    const double tolerance = type == torch::kFloat32 ? 1e-5 : 1e-13;
    expect_near(each[0].outputs, expected.outputs, tolerance);
    expect_near(each[0].gradients, expected.gradients, tolerance);
    expect_equal(each[1], each[0]);
    expect_equal(each[2], each[0]);
  }
  set_threads(before);
}

constexpr double kShift = -1.5;

Tensors plain_latent(const Tensor& heads, const Tensor& eps) {
  const Tensor mu = heads.narrow(1, 0, heads.size(1) / 2);
  const Tensor log_sigma =
      (heads.narrow(1, heads.size(1) / 2, heads.size(1) / 2) + kShift).clamp(-10, 4);
  const Tensor kl = ((2 * log_sigma).exp() + mu * mu - 1) / 2 - log_sigma;
  return {eps.defined() ? mu + log_sigma.exp() * eps.to(mu.scalar_type()) : mu, kl.sum(1)};
}

TEST(LatentSample, EqualsThePlainFormulasAndTheirGradients) {
  for (const int64_t k : {1, 5, 16, 33, 128}) {
    const Tensor eps = normal("eps", {300, k}, torch::kFloat32);
    // Some log sigmas lie beyond either bound.
    Tensor heads = normal("heads", {300, 2 * k}, torch::kFloat32);
    heads.narrow(0, 0, 10).mul_(20);
    check(
        {heads},
        [&](const Tensors& in) {
          const auto [z, kl] = ops::latent_sample(in[0], kShift, eps.to(in[0].scalar_type()));
          return Tensors{z, kl * 0.01};
        },
        [&](const Tensors& in) {
          const Tensors both = plain_latent(in[0], eps);
          return Tensors{both[0], both[1] * 0.01};
        });
  }
}

TEST(LatentSample, WithoutNoiseIsTheMean) {
  const Tensor heads = normal("heads", {7, 6}, torch::kFloat64);
  check(
      {heads},
      [&](const Tensors& in) {
        const auto [z, kl] = ops::latent_sample(in[0], kShift, {});
        return Tensors{z, kl};
      },
      [&](const Tensors& in) { return plain_latent(in[0], Tensor()); });
}

TEST(LatentSample, GradientOfOneOutputIgnoresTheOther) {
  const Tensor heads = normal("heads", {9, 8}, torch::kFloat64);
  const Tensor eps = normal("eps", {9, 4}, torch::kFloat64);
  for (const size_t which : {0, 1}) {
    check(
        {heads},
        [&](const Tensors& in) {
          const auto [z, kl] = ops::latent_sample(in[0], kShift, eps.to(in[0].scalar_type()));
          return Tensors{which == 0 ? z : kl};
        },
        [&](const Tensors& in) { return Tensors{plain_latent(in[0], eps)[which]}; });
  }
}

TEST(RowDistance, EqualsThePlainFormulaAndItsGradients) {
  const Tensor index = torch::randint(0, 60, {400}, torch::kInt64);
  for (const int64_t k : {1, 7, 16, 128}) {
    const Tensor h = normal("h", {60, k}, torch::kFloat32);
    const Tensor z = normal("z", {400, k}, torch::kFloat32);
    check(
        {h, z}, [&](const Tensors& in) { return Tensors{ops::row_distance(in[0], in[1], index)}; },
        [&](const Tensors& in) {
          const Tensor difference = in[0].index_select(0, index) - in[1];
          return Tensors{torch::sqrt(difference.square().sum(1) + 1e-12)};
        });
    check(
        {z, normal("other", {400, k}, torch::kFloat32)},
        [&](const Tensors& in) { return Tensors{ops::row_distance(in[0], in[1])}; },
        [&](const Tensors& in) {
          return Tensors{torch::sqrt((in[0] - in[1]).square().sum(1) + 1e-12)};
        });
  }
}

TEST(RowDistance, OfEqualPointsHasNoGradient) {
  const Tensor z = normal("z", {5, 3}, torch::kFloat64).requires_grad_();
  ops::row_distance(z.detach(), z).sum().backward();
  EXPECT_EQ(z.grad().abs().max().item<double>(), 0.0);
}

TEST(Propagate, EqualsTheProductTheSumAndTheActivation) {
  for (const AdjacencyPtr& a : {power_law(300, 300, 3000), power_law(40, 90, 300)}) {
    for (const int64_t d : {1, 7, 33, 128}) {
      const Tensor w = positive("w", {a->nnz()}, torch::kFloat32);
      const Tensor x = normal("x", {a->cols(), d}, torch::kFloat32);
      const Tensor bias = normal("bias", {d}, torch::kFloat32);
      for (const bool relu : {false, true}) {
        const auto activation = relu ? ops::Activation::relu : ops::Activation::none;
        const auto plain = [&](const Tensor& y, const Tensor& b) {
          return Tensors{relu ? torch::relu(y + b) : y + b};
        };
        check(
            {w, x, bias},
            [&](const Tensors& in) {
              return Tensors{ops::propagate(a, in[0], in[1], in[2], activation)};
            },
            [&](const Tensors& in) { return plain(ops::spmm(a, in[0], in[1]), in[2]); });
        check(
            {x, bias},
            [&](const Tensors& in) {
              return Tensors{ops::propagate(a, Tensor(), in[0], in[1], activation)};
            },
            [&](const Tensors& in) { return plain(ops::spmm(a, Tensor(), in[0]), in[1]); });
      }
    }
  }
}

TEST(LatentErrors, NameWhatDoesNotFit) {
  const AdjacencyPtr a = power_law(4, 3, 6);
  const auto zeros = [](std::vector<int64_t> sizes) { return torch::zeros(sizes); };
  const auto shape = [](const std::function<void()>& call) {
    return error_of(ErrorKind::shape, call);
  };
  EXPECT_THAT(shape([&] { ops::latent_sample(zeros({3, 5}), 0, {}); }), HasSubstr("even number"));
  EXPECT_THAT(shape([&] {
                ops::latent_sample(zeros({3, 4}), 0, zeros({3, 4}));
              }),
              HasSubstr("eps is [3, 4]"));
  EXPECT_THAT(shape([&] {
                ops::row_distance(zeros({3, 4}), zeros({3, 5}));
              }),
              HasSubstr("h is [3, 4]"));
  EXPECT_THAT(
      shape([&] {
        ops::row_distance(zeros({3, 4}), zeros({2, 4}), torch::tensor({0, 3}, torch::kInt64));
      }),
      HasSubstr("index[1] is 3"));
  EXPECT_THAT(shape([&] {
                ops::propagate(a, Tensor(), zeros({3, 2}), zeros({3}), ops::Activation::none);
              }),
              HasSubstr("bias is [3]"));
  const Tensor x = torch::ones({3, 2}).requires_grad_();
  const Tensor y = ops::propagate(a, Tensor(), x, zeros({2}), ops::Activation::relu).square().sum();
  EXPECT_THROW(torch::autograd::grad({y}, {x}, {}, true, true), InternalError);
}

}  // namespace
}  // namespace grm::test::latent_tests
