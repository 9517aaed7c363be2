#pragma once

#include <torch/types.h>

#include <cstdint>

// The terms of IS-GIB over a batch of b nodes: z [b, h] the hidden rows, a [b, w] the input rows,
// y [b] int64 labels. All are sums over nodes or ordered pairs. The two terms over pairs are
// computed `block` rows at a time, value and gradient, so that no b x b matrix is ever held.
namespace grm::isgib {

/// {L_same, L_diff}: [2], with u_ij = z_i . z_j.
///   L_same = sum over y_i = y_j of softplus(-u_ij)    (i = j included)
///   L_diff = sum over y_i != y_j of softplus(u_ij)
torch::Tensor label_relation(const torch::Tensor& z, const torch::Tensor& y, int64_t block);

/// L_ind = sum_i softplus(c_i . z_i), c = a W_c: [b, h] the critic's rows. A scalar.
torch::Tensor individual(const torch::Tensor& critic, const torch::Tensor& z);

/// L_2nd = || a a^T - z z^T ||_F, a scalar; its derivative is taken as 0 where it vanishes.
torch::Tensor second_order(const torch::Tensor& a, const torch::Tensor& z, int64_t block);

}  // namespace grm::isgib
