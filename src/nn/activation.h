#pragma once

#include "grm/nn/layers.h"

namespace grm::nn {

/// dropout(relu(norm(x + bias))) with few passes over the rows.   x: [n, width], bias: [width].
/// In training the bias drops out of the normalised rows, so its gradient is exactly 0; it moves
/// the running mean only. Without a norm (an empty one): dropout(relu(x + bias)). `counted`: as in
/// BatchNorm::forward.
torch::Tensor norm_relu_dropout(BatchNorm& norm, const torch::Tensor& x, const torch::Tensor& bias,
                                double rate, Pass& pass, const torch::Tensor& counted = {});

}  // namespace grm::nn
