#pragma once

#include <torch/types.h>

#include <cstdint>

#include "grm/graph/adjacency.h"
#include "grm/graph/graph.h"

// Differentiable operators on a sparse pattern. Each row is reduced by one thread in a fixed order:
// results are equal to the bit for any number of threads. float and double. Undefined weights mean
// all ones. Wrong shapes are Error(shape); second derivatives are refused.
namespace grm::ops {

/// y_i = sum over pairs j -> i of w_ji x_j.   x: [cols, d], w: [nnz] or undefined (all ones),
/// y: [rows, d]. Gradients: dx_j = sum_i w_ji dy_i (over `out`), dw_ji = <dy_i, x_j>.
torch::Tensor spmm(const AdjacencyPtr& a, const torch::Tensor& w, const torch::Tensor& x);

/// s_ji = <p_i, q_j> for every pair j -> i of the pattern.   p: [rows, d], q: [cols, d], s: [nnz].
/// Gradients: dp_i = sum_j ds_ji q_j, dq_j = sum_i ds_ji p_i.
torch::Tensor sddmm(const AdjacencyPtr& a, const torch::Tensor& p, const torch::Tensor& q);

/// s_i = sum of w over the pairs ending in i: [rows].   The weighted in-degree; float where w is
/// undefined.
torch::Tensor row_sum(const AdjacencyPtr& a, const torch::Tensor& w);

/// Symmetric normalisation a_ji = w_ji / sqrt(deg_i deg_j), deg = row_sum(w), 0 where a degree is
/// not positive. Square patterns. The gradient goes through the degrees as well
/// (gcn_backbone formula: degrees of both ends are in-degrees). Float where w is undefined.
torch::Tensor normalise(const AdjacencyPtr& a, const torch::Tensor& w);

/// Softmax over the pairs ending in each row.   s: [nnz, heads] -> [nnz, heads].
torch::Tensor row_softmax(const AdjacencyPtr& a, const torch::Tensor& s);

/// Sums / means of consecutive rows of x.   offsets: [k + 1] int64, x: [n, ...] or [n] -> [k, ...].
/// offsets ascend from 0 to n. The mean of an empty segment is 0.
torch::Tensor segment_sum(const torch::Tensor& offsets, const torch::Tensor& x);
torch::Tensor segment_mean(const torch::Tensor& offsets, const torch::Tensor& x);

/// rows x[index]; the gradient is summed in index order, without atomics.
/// index: int64 [k], x: [n, d] -> [k, d].
torch::Tensor gather_rows(const torch::Tensor& x, const torch::Tensor& index);

/// rows x[index] where the way back is known: row r of x is row inverse[r] of the result, and in none
/// of it where that is -1. Rows of the result that `inverse` does not name have no gradient.
/// index: int64 [k], inverse: int64 [n], x: [n, ...] -> [k, ...].
torch::Tensor take_rows(const torch::Tensor& x, const torch::Tensor& index,
                        const torch::Tensor& inverse);

/// X W for features that stay sparse: X = [S | D] - 1 shift^T.   w: [width, h] -> [n, h].
/// The features take the type of w. Gradients reach w, the sparse values, D and shift. The D part
/// is libtorch's matrix product, and so as independent of the number of threads as that is.
torch::Tensor feature_linear(const Features& x, const torch::Tensor& w);

}  // namespace grm::ops
