#pragma once

#include <torch/types.h>

#include "grm/data/task.h"

// Metrics of the protocol, all in percent. logits: [N, C], y: [N] int64, N > 0.
namespace grm {

/// Share of rows whose largest logit is at y; ties go to the smallest class.
double accuracy(const torch::Tensor& logits, const torch::Tensor& y);

/// Mann-Whitney statistic of scores (higher means class 1), ties counted one half. Error(data) if
/// only one class occurs.
double roc_auc_of_scores(const torch::Tensor& scores, const torch::Tensor& y);
/// Ranks by logit 1 minus logit 0, taken in double.
double roc_auc(const torch::Tensor& logits, const torch::Tensor& y);

struct F1Scores {
  double macro;     // mean over the classes present in truth or prediction
  double weighted;  // mean over classes weighted by their share of the truth
  double positive;  // of class 1
};
F1Scores f1_scores(const torch::Tensor& predicted, const torch::Tensor& y, int64_t classes);

/// Of any target: y is [N] int64, or [N, tasks] (target_metrics.h), where outputs of a regression are
/// in the units of the targets.
double score(MetricKind metric, const torch::Tensor& logits, const torch::Tensor& y);

inline double score(LossKind /*loss*/, MetricKind metric, const torch::Tensor& outputs,
                    const torch::Tensor& y) {
  return score(metric, outputs, y);
}

/// Smallest index of the largest entry of each row: [N] int64.
torch::Tensor predicted_class(const torch::Tensor& logits);

}  // namespace grm
