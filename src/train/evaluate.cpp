#include "train/evaluate.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "nn/losses.h"
#include "train/divergence.h"
#include "train/metrics.h"

namespace grm {
namespace {

std::vector<GroupLogits> collect(const Task& task, Role role, const LogitsOf& logits_of) {
  struct Parts {
    std::string name;
    std::vector<torch::Tensor> logits, y;
  };
  std::vector<Parts> all;
  for (const Domain& domain : task.domains(role)) {
    auto parts = std::find_if(all.begin(), all.end(),
                              [&](const Parts& p) { return p.name == domain.group; });
    if (parts == all.end()) parts = all.insert(all.end(), {domain.group, {}, {}});
    parts->logits.push_back(logits_of(domain));
    parts->y.push_back(domain.labels.y.index_select(0, domain.labels.evaluate));
  }
  std::vector<GroupLogits> groups;
  for (const Parts& parts : all) {
    groups.push_back(
        {parts.name, task.target_scale.restored(torch::cat(parts.logits)), torch::cat(parts.y)});
    if (torch::isnan(groups.back().logits).any().item<bool>()) {
      fail(ErrorKind::config, "the predictions for {} are not numbers: training has diverged; {}",
           parts.name, divergence_advice(task, ""));
    }
  }
  return groups;
}

}  // namespace

std::vector<DomainScore> scores_of(MetricKind metric, const std::vector<GroupLogits>& groups) {
  std::vector<DomainScore> scores;
  for (const GroupLogits& group : groups) {
    scores.push_back({group.name, score(metric, group.logits, group.y), smaller_is_better(metric)});
  }
  return scores;
}

double mean_loss(LossKind loss, const std::vector<GroupLogits>& groups) {
  double sum = 0.0;
  for (const GroupLogits& group : groups) {
    sum += nn::supervised_loss(loss, group.logits.to(torch::kFloat64), group.y).item<double>();
  }
  return groups.empty() ? 0.0 : sum / static_cast<double>(groups.size());
}

std::vector<GroupLogits> group_logits(Method& method, const Task& task, Role role) {
  return collect(task, role, [&](const Domain& domain) {
    return method.logits(domain.graph, domain.labels.evaluate).cpu();
  });
}

std::vector<DomainScore> evaluate_logits(const Task& task, Role role, const LogitsOf& logits_of) {
  return scores_of(task.metric, collect(task, role, logits_of));
}

std::vector<DomainScore> evaluate(const Predictor& predict, const Task& task, Role role) {
  return evaluate_logits(task, role, [&](const Domain& domain) {
    return predict(domain.graph, domain.labels.evaluate).cpu();
  });
}

std::vector<DomainScore> evaluate(Method& method, const Task& task, Role role) {
  return scores_of(task.metric, group_logits(method, task, role));
}

double mean_score(const std::vector<DomainScore>& scores) {
  double sum = 0.0;
  for (const DomainScore& s : scores) sum += s.value;
  return scores.empty() ? 0.0 : sum / static_cast<double>(scores.size());
}

double min_score(const std::vector<DomainScore>& scores) {
  if (scores.empty()) return 0.0;
  if (scores.front().error) {
    double worst = scores.front().value;
    for (const DomainScore& s : scores) worst = std::max(worst, s.value);
    return worst;
  }
  return std::min_element(
             scores.begin(), scores.end(),
             [](const DomainScore& a, const DomainScore& b) { return a.value < b.value; })
      ->value;
}

}  // namespace grm
