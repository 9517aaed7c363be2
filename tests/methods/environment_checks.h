#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <functional>
#include <vector>

#include "grm/core/rng.h"

// What the tests of the rivals over environments share.
namespace grm::environment_tests {

inline torch::Tensor normal(int64_t rows, int64_t cols, uint64_t seed) {
  const torch::Tensor t = torch::empty({rows, cols}, torch::kFloat64);
  Rng(seed).stream("rows").fill_normal(t.data_ptr<double>(), t.numel());
  return t;
}

// The gradients of a scalar by each entry of some double tensors, which it reads in place, against
// central differences.
inline void check_gradients(const std::vector<torch::Tensor>& inputs,
                            const std::function<torch::Tensor()>& value, double tolerance = 1e-6) {
  for (const torch::Tensor& x : inputs) x.set_requires_grad(true);
  value().backward();
  const at::NoGradGuard no_grad;
  for (const torch::Tensor& x : inputs) {
    double* at = x.data_ptr<double>();
    for (int64_t k = 0; k < x.numel(); ++k) {
      const double before = at[k], h = 1e-5;
      at[k] = before + h;
      const double up = value().item<double>();
      at[k] = before - h;
      const double down = value().item<double>();
      at[k] = before;
      const double expected = (up - down) / (2 * h);
      EXPECT_NEAR(x.grad().view({-1})[k].item<double>(), expected,
                  tolerance * (1 + std::abs(expected)))
          << "entry " << k;
    }
  }
  for (const torch::Tensor& x : inputs) {
    x.mutable_grad() = torch::Tensor();
    x.set_requires_grad(false);
  }
}

}  // namespace grm::environment_tests
