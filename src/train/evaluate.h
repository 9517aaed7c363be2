#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grm/data/task.h"
#include "grm/methods/method.h"

namespace grm {

/// The metric of one scored group (usually one domain): percent, or an error in the units of the
/// targets.
struct DomainScore {
  std::string domain;
  double value;
  bool error = false;  // less is better
};

/// The logits of the scored items of one group (of a regression: in the units of the targets), and
/// their labels.
struct GroupLogits {
  std::string name;
  torch::Tensor logits, y;
};
/// Of all groups of one role, in order of first appearance. Error(config) for logits that are no
/// numbers. Processes of a run share the domains, all get all logits.
std::vector<GroupLogits> group_logits(Method& method, const Task& task, Role role,
                                      const std::shared_ptr<dist::Group>& processes = nullptr);
/// All of them as one group, named "all".
GroupLogits joined_groups(const std::vector<GroupLogits>& groups);
/// Not a number where the metric is undefined, as ROC-AUC is where a group has one class.
double score_or_nan(MetricKind metric, const GroupLogits& group);
std::vector<DomainScore> scores_of(MetricKind metric, const std::vector<GroupLogits>& groups);

/// The mean over groups of the mean loss of a group's items, in double.
double mean_loss(LossKind loss, const std::vector<GroupLogits>& groups);

/// Scores of all groups of one role, in order of first appearance.
std::vector<DomainScore> evaluate(Method& method, const Task& task, Role role,
                                  const std::shared_ptr<dist::Group>& processes = nullptr);
std::vector<DomainScore> evaluate(const Predictor& predict, const Task& task, Role role,
                                  const std::shared_ptr<dist::Group>& processes = nullptr);
/// The same of logits for the items that count in a domain.
using LogitsOf = std::function<torch::Tensor(const Domain&)>;
std::vector<DomainScore> evaluate_logits(const Task& task, Role role, const LogitsOf& logits_of);

double mean_score(const std::vector<DomainScore>& scores);
/// The worst of them: the smallest, of errors the largest.
double min_score(const std::vector<DomainScore>& scores);

}  // namespace grm
