#pragma once

#include <torch/types.h>

#include "grm/data/task.h"

// Metrics of multi-label targets and of regression. y: [N, tasks] float, NaN: unknown, left out. A
// metric is computed for each task and averaged over the tasks that have it.
namespace grm {

/// Area under the curve of precision over recall as scikit-learn has it: the mean over the yeses of
/// the precision at the threshold that finds them, in percent. scores: [n], y: [n] of 0 and 1.
/// Error(data) where there is no yes.
double average_precision_of_scores(const torch::Tensor& scores, const torch::Tensor& y);

/// Percent. outputs: [N, tasks], above 0 means yes. roc_auc leaves out tasks where all known labels
/// are alike, average_precision those without a yes; Error(data) if none is left. An F1 without
/// any yes, true or said, is 0.
double multi_label_score(MetricKind metric, const torch::Tensor& outputs, const torch::Tensor& y);

/// rmse and mae in the units of the targets; r2 in percent, at most 100. Error(data) for the r2 of
/// targets that are all alike.
double regression_score(MetricKind metric, const torch::Tensor& outputs, const torch::Tensor& y);

}  // namespace grm
