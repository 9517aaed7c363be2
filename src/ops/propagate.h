#pragma once

#include <torch/types.h>

#include "grm/graph/adjacency.h"

// A layer's sparse product with what follows it. As in sparse.h: results do not depend on the
// number of threads, float and double, Error(shape) for wrong shapes, no second derivatives.
namespace grm::ops {

enum class Activation { none, relu };

/// y = activation(A x + 1 bias^T), A the pattern with the weights w: spmm, sum and activation with
/// one pass over y.   w: [nnz] or undefined (all ones), x: [cols, d], bias: [d], y: [rows, d].
torch::Tensor propagate(const AdjacencyPtr& a, const torch::Tensor& w, const torch::Tensor& x,
                        const torch::Tensor& bias, Activation activation);

}  // namespace grm::ops
