#pragma once

#include <torch/types.h>

namespace grm {

/// One step of group DRO's weights: log q_g += eta l_g, then q is brought back to sum 1. Returns q,
/// the weights that the losses of the same step are multiplied with.  log_q, losses, q: [D] double
torch::Tensor update_group_weights(const torch::Tensor& log_q, const torch::Tensor& losses,
                                   double eta);

}  // namespace grm
