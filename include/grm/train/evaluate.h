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

/// Scores of all groups of one role, in order of first appearance.
std::vector<DomainScore> evaluate(Method& method, const Task& task, Role role);
std::vector<DomainScore> evaluate(const Predictor& predict, const Task& task, Role role);

/// Scores of the constant answer: the most frequent class of the training labels. 50 for ROC-AUC.
std::vector<DomainScore> constant_scores(const Task& task, Role role);

double mean_score(const std::vector<DomainScore>& scores);
double min_score(const std::vector<DomainScore>& scores);

}  // namespace grm
