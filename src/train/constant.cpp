// Answers that never look at a graph: what a score has to be compared with.
#include "train/constant.h"

#include <torch/types.h>

#include <map>

#include "train/metrics.h"

namespace grm {
namespace {

torch::Tensor class_counts(const Domain& domain, const torch::Tensor& items, int64_t classes) {
  return torch::bincount(domain.labels.y.index_select(0, items), {}, classes);
}

// The metric of each group if its items are all answered with the class that `counts` has most of.
std::vector<DomainScore> answered(const Task& task, Role role,
                                  const std::function<torch::Tensor(const Domain&)>& counts) {
  return evaluate_logits(task, role, [&](const Domain& domain) {
    torch::Tensor row = torch::zeros({1, task.classes});
    // ROC-AUC ranks items, and an answer that is the same for all of them ranks none.
    if (task.metric != MetricKind::roc_auc) {
      row[0][counts(domain).argmax().item<int64_t>()] = 1.0;
    }
    return row.expand({domain.labels.evaluate.numel(), task.classes});
  });
}

}  // namespace

std::vector<DomainScore> constant_scores(const Task& task, Role role) {
  torch::Tensor counts = torch::zeros({task.classes}, torch::kInt64);
  for (const Domain& domain : task.training) {
    counts += class_counts(domain, domain.labels.loss, task.classes);
  }
  return answered(task, role, [&](const Domain&) { return counts; });
}

std::vector<DomainScore> own_constant_scores(const Task& task, Role role) {
  std::map<std::string, torch::Tensor> counts;  // by group
  for (const Domain& domain : task.domains(role)) {
    const torch::Tensor some = class_counts(domain, domain.labels.evaluate, task.classes);
    torch::Tensor& all = counts[domain.group];
    all = all.defined() ? all + some : some;
  }
  return answered(task, role, [&](const Domain& domain) { return counts.at(domain.group); });
}

std::vector<ConstantAnswer> constant_answers(const std::string& metric,
                                             const std::vector<DomainScore>& training,
                                             const std::vector<DomainScore>& own) {
  std::vector<ConstantAnswer> answers;
  const bool alike = metric == to_string(MetricKind::roc_auc);
  if (alike && !training.empty()) {
    answers.push_back(
        {"constant", "constant", "the same answer for all, whichever it is", training});
  } else if (!training.empty()) {
    answers.push_back({"constant", "train majority", "always training's majority class", training});
  }
  if (!alike && !own.empty()) {
    answers.push_back(
        {"constant_own", "own majority", "always the test domain's own majority class", own});
  }
  return answers;
}

std::vector<ConstantAnswer> constant_answers(const Task& task, Role role) {
  return constant_answers(to_string(task.metric), constant_scores(task, role),
                          own_constant_scores(task, role));
}

std::string constants_note(const std::vector<ConstantAnswer>& answers) {
  std::string text;
  for (const ConstantAnswer& answer : answers) {
    text += (text.empty() ? "" : "; ") + answer.name + ": " + answer.about;
  }
  return text.empty() ? text : text + ".";
}

}  // namespace grm
