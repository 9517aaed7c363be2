#pragma once

#include <string>
#include <vector>

#include "train/evaluate.h"

namespace grm {

/// What an answer scores that never looks at a graph. 50 for ROC-AUC, whatever the answer.
struct ConstantAnswer {
  std::string key;    // in JSON: "constant" or "constant_own"
  std::string name;   // for the head of a column: "train majority"
  std::string about;  // "always training's majority class"
  std::vector<DomainScore> scores;
};

/// Scores of answering always the most frequent class of the training labels, on the groups of one
/// role.
std::vector<DomainScore> constant_scores(const Task& task, Role role);
/// Scores of answering always the most frequent class among the labels that are scored, in each
/// group its own. No model can know it before the labels are there; a score below it says little.
std::vector<DomainScore> own_constant_scores(const Task& task, Role role);

/// The answers that a table shows, of these scores under a metric ("accuracy"): those that have
/// scores, and one for ROC-AUC, which does not tell them apart.
std::vector<ConstantAnswer> constant_answers(const std::string& metric,
                                             const std::vector<DomainScore>& training,
                                             const std::vector<DomainScore>& own);
std::vector<ConstantAnswer> constant_answers(const Task& task, Role role);

/// "train majority: always training's majority class; own majority: ..."; "" for none.
std::string constants_note(const std::vector<ConstantAnswer>& answers);

}  // namespace grm
