#pragma once

#include <torch/types.h>

#include "grm/data/task.h"

// The one place where predictions become a loss: all methods train on these functions. Logits are
// [N, C]; y is [N] int64 for classes, [N, C] float for multi-label targets and regression, where
// NaN is unknown; on any device.
namespace grm::nn {

/// The loss of each row, [N]; their mean is supervised_loss.
///   softmax      w_y (1 - p)^gamma (-log p),  p = softmax(o)_y
///   binary_pair  w_y (1/2) sum_c (1 - p_c)^gamma (-log p_c),  p_c = sigmoid(o_c) or 1 - sigmoid(o_c)
///   multi_label  (N / K) sum over known c of v_c (1 - p_c)^gamma (-log p_c), K known labels in all
///                rows, v_c = w_c for a yes and 1 for a no
///   squared      (N / K) sum over known c of (o_c - y_c)^2
/// Of rows that are a part of a batch N / K is that of the batch, where TrainLoss::known says it.
torch::Tensor row_losses(const TrainLoss& loss, const torch::Tensor& logits,
                         const torch::Tensor& y);

/// Mean loss of the rows. Without weights and gamma: softmax cross-entropy, or the 2-output BCE
/// (1 / 2N) sum_ic [softplus(o_ic) - t_ic o_ic].
torch::Tensor supervised_loss(const TrainLoss& loss, const torch::Tensor& logits,
                              const torch::Tensor& y);

/// Known labels of a row, on average: what TrainLoss::known of a part of these rows is. 0 where labels
/// are classes.
double known_labels(const TrainLoss& loss, const torch::Tensor& y);

/// The derivative of each row's loss by its logits, [N, C]; itself differentiable.
torch::Tensor loss_residuals(const TrainLoss& loss, const torch::Tensor& logits,
                             const torch::Tensor& y);

/// What a model says of single samples, to be averaged: class probabilities (softmax over the
/// logits, whatever the loss: the metrics rank by softmax), probabilities of yes, or the numbers.
torch::Tensor class_probabilities(const torch::Tensor& logits);
torch::Tensor output_means(LossKind kind, const torch::Tensor& logits);

/// Logarithm of the mean of sampled class probabilities [S, k, C], summed in order: [k, C].
torch::Tensor log_mean(const torch::Tensor& sampled);
/// The logits whose output_means are the mean of the samples [S, k, C], summed in order.
torch::Tensor logits_of_samples(LossKind kind, const torch::Tensor& sampled);

}  // namespace grm::nn
