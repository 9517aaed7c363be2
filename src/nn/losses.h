#pragma once

#include <torch/types.h>

#include "grm/data/task.h"

namespace grm::nn {

/// Mean loss of the rows: softmax cross-entropy, or the 2-output BCE
/// (1 / 2N) sum_ic [softplus(o_ic) - t_ic o_ic].   logits: [N, C], y: [N] int64, on
/// any device.
torch::Tensor supervised_loss(LossKind kind, const torch::Tensor& logits, const torch::Tensor& y);

/// Class probabilities: softmax over the logits, whatever the loss (the metrics rank by softmax).
torch::Tensor class_probabilities(const torch::Tensor& logits);

/// Logarithm of the mean of sampled class probabilities [S, k, C], summed in order: [k, C].
torch::Tensor log_mean(const torch::Tensor& sampled);

}  // namespace grm::nn
