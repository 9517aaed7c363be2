#pragma once

#include <torch/types.h>

#include "grm/graph/adjacency.h"

// Differentiable operators of networks on whole graphs. As in sparse.h: one thread adds each row in
// a fixed order, float and double, Error(shape) for wrong shapes, no second derivatives.
namespace grm::ops {

/// y_i = sum over pairs j -> i of w_ji relu(x_j + e_ji).   x: [cols, d], e: [nnz, d] or undefined
/// (zeros), w: [nnz] or undefined (ones), y: [rows, d]. With m_ji = x_j + e_ji and where m_ji > 0:
/// de_ji = w_ji dy_i, dx_j = sum_i de_ji; dw_ji = <dy_i, relu(m_ji)>.
torch::Tensor relu_messages(const AdjacencyPtr& a, const torch::Tensor& w, const torch::Tensor& x,
                            const torch::Tensor& e);

/// s_ji = <v, relu(p_j + q_i)> for every pair j -> i.   p: [cols, d], q: [rows, d], v: [d],
/// s: [nnz]. The score of a two-layer perceptron on [h_j ; h_i] without a row for each pair.
torch::Tensor pair_scores(const AdjacencyPtr& a, const torch::Tensor& p, const torch::Tensor& q,
                          const torch::Tensor& v);

/// The largest entry of each column over consecutive rows, 0 for no rows.   offsets: [k + 1] int64,
/// from 0 to n, x: [n, d] -> [k, d]. The gradient goes to the first of equal entries.
torch::Tensor segment_max(const torch::Tensor& offsets, const torch::Tensor& x);

}  // namespace grm::ops
