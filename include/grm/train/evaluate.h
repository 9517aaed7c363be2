#pragma once

#include <string>
#include <vector>

#include "grm/data/task.h"
#include "grm/methods/method.h"

namespace grm {

/// The metric of one scored group (usually one domain), in percent.
struct DomainScore {
  std::string domain;
  double value;
};

/// The logits of the scored items of one group, and their labels.
struct GroupLogits {
  std::string name;
  torch::Tensor logits, y;
};
/// Of all groups of one role, in order of first appearance. Error(config) for logits that are no
/// numbers.
std::vector<GroupLogits> group_logits(Method& method, const Task& task, Role role);
std::vector<DomainScore> scores_of(MetricKind metric, const std::vector<GroupLogits>& groups);

/// Scores of all groups of one role, in order of first appearance.
std::vector<DomainScore> evaluate(Method& method, const Task& task, Role role);
std::vector<DomainScore> evaluate(const Predictor& predict, const Task& task, Role role);

/// Scores of the constant answer: the most frequent class of the training labels. 50 for ROC-AUC.
std::vector<DomainScore> constant_scores(const Task& task, Role role);

double mean_score(const std::vector<DomainScore>& scores);
double min_score(const std::vector<DomainScore>& scores);

}  // namespace grm
