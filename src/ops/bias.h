#pragma once

#include <torch/types.h>

// A row that is added to all rows. libtorch's own gradient of it on a GPU, a sum over tall and narrow
// matrices, takes as long as the product beside it.
namespace grm::ops {

/// y = x + 1 bias^T.   x: [n, d], bias: [d].
torch::Tensor add_bias(const torch::Tensor& x, const torch::Tensor& bias);

/// y = x W + 1 bias^T.   x: [n, in], w: [in, out], bias: [out].
torch::Tensor affine(const torch::Tensor& x, const torch::Tensor& w, const torch::Tensor& bias);

}  // namespace grm::ops
