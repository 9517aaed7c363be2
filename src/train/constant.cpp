// Answers that never look at a graph: what a score has to be compared with.
#include "train/constant.h"

#include <torch/types.h>

#include <map>

#include "train/metrics.h"

namespace grm {
namespace {

// What would be answered after seeing some labels, [1, outputs]: the class of most of them, the
// answers of most of them to each task, or their mean. ROC-AUC and average precision rank items,
// and an answer that is the same for all of them ranks none.
torch::Tensor answer_of(const Task& task, const std::vector<torch::Tensor>& labels) {
  const torch::Tensor y = torch::cat(labels);
  const bool ranks =
      task.metric == MetricKind::roc_auc || task.metric == MetricKind::average_precision;
  torch::Tensor row = torch::zeros({1, task.classes});
  if (ranks) return row;
  if (target_of(task.loss) == Target::classes) {
    row[0][torch::bincount(y, {}, task.classes).argmax().item<int64_t>()] = 1.0;
    return row;
  }
  const torch::Tensor mean = torch::nanmean(y.to(torch::kFloat64), 0, /*keepdim=*/true);
  if (target_of(task.loss) == Target::multi_label) return mean.gt(0.5).to(torch::kFloat32) - 0.5;
  return task.target_scale.scaled(torch::nan_to_num(mean)).to(torch::kFloat32);
}

// The metric of each group if its items are all answered alike.
std::vector<DomainScore> answered(const Task& task, Role role,
                                  const std::function<torch::Tensor(const Domain&)>& answer) {
  return evaluate_logits(task, role, [&](const Domain& domain) {
    return answer(domain).expand({domain.labels.evaluate.numel(), task.classes});
  });
}

}  // namespace

std::vector<DomainScore> constant_scores(const Task& task, Role role) {
  std::vector<torch::Tensor> labels;
  for (const Domain& domain : task.training) {
    labels.push_back(domain.labels.y.index_select(0, domain.labels.loss));
  }
  const torch::Tensor answer = answer_of(task, labels);
  return answered(task, role, [&](const Domain&) { return answer; });
}

std::vector<DomainScore> own_constant_scores(const Task& task, Role role) {
  std::map<std::string, std::vector<torch::Tensor>> labels;  // by group
  for (const Domain& domain : task.domains(role)) {
    labels[domain.group].push_back(domain.labels.y.index_select(0, domain.labels.evaluate));
  }
  return answered(task, role,
                  [&](const Domain& domain) { return answer_of(task, labels.at(domain.group)); });
}

std::vector<ConstantAnswer> constant_answers(const std::string& metric,
                                             const std::vector<DomainScore>& training,
                                             const std::vector<DomainScore>& own) {
  std::vector<ConstantAnswer> answers;
  const auto kind = value_of<MetricKind>(metric);
  const bool alike = kind == MetricKind::roc_auc || kind == MetricKind::average_precision;
  const bool numbers =
      kind == MetricKind::rmse || kind == MetricKind::mae || kind == MetricKind::r2;
  if (alike && !training.empty()) {
    answers.push_back(
        {"constant", "constant", "the same answer for all, whichever it is", training});
  } else if (numbers && !training.empty()) {
    answers.push_back({"constant", "train mean", "always the mean of training", training});
    answers.push_back({"constant_own", "own mean", "always the test domain's own mean", own});
    return answers;
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
