#pragma once

#include <torch/types.h>

// The parts of GIL's objective over a batch of B graphs with environments e_i (int64 [B]). Only
// environments that have members in the batch count, K' of them.
namespace grm::graph_level::gil {

/// Row e weighs the members of environment e by 1 / their number: [K', B], of the given type.
torch::Tensor environment_weights(const torch::Tensor& environments, torch::Dtype dtype);

/// The same with a row for each of `count` environments; those without members have zeros. No number
/// has to be known on the host. present() says which rows have members, 1 or 0.
torch::Tensor weights_of_all(const torch::Tensor& environments, int64_t count, torch::Dtype dtype);
torch::Tensor present(const torch::Tensor& weights);

/// G_e = mean_{i in e} residual_i [input_i ; 1]^T, the gradient of R_e with respect to a last layer
/// logits = input W + b: [K', C, d + 1].   weights: [K', B], residuals (nn::loss_residuals):
/// [B, C], inputs: [B, d], or [B, C, d + 1] where each class has its own [input_i ; 1]
torch::Tensor head_gradients(const torch::Tensor& weights, const torch::Tensor& residuals,
                             const torch::Tensor& inputs);

/// trace Var_e(G_e) = (1 / K') sum_e ||G_e - mean_e G_e||^2, a scalar. `present` [K]: 1 for the rows
/// that count; undefined: all.
torch::Tensor gradient_variance(const torch::Tensor& gradients, const torch::Tensor& present = {});

}  // namespace grm::graph_level::gil
