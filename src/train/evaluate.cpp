#include "grm/train/evaluate.h"

#include <torch/types.h>

#include <algorithm>
#include <functional>

#include "grm/core/error.h"
#include "grm/train/metrics.h"

namespace grm {
namespace {

using LogitsOf = std::function<torch::Tensor(const Domain&)>;

std::vector<DomainScore> score_groups(const Task& task, Role role, const LogitsOf& logits_of) {
  struct Group {
    std::string name;
    std::vector<torch::Tensor> logits, y;
  };
  std::vector<Group> groups;
  for (const Domain& domain : task.domains(role)) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.name == domain.group; });
    if (group == groups.end()) group = groups.insert(groups.end(), {domain.group, {}, {}});
    group->logits.push_back(logits_of(domain));
    group->y.push_back(domain.labels.y.index_select(0, domain.labels.evaluate));
  }
  std::vector<DomainScore> scores;
  for (const Group& group : groups) {
    const torch::Tensor logits = torch::cat(group.logits);
    if (torch::isnan(logits).any().item<bool>()) {
      fail(ErrorKind::config,
           "the predictions for {} are not numbers: training has diverged; a smaller method.lr "
           "usually helps",
           group.name);
    }
    scores.push_back({group.name, score(task.metric, logits, torch::cat(group.y))});
  }
  return scores;
}

}  // namespace

std::vector<DomainScore> evaluate(const Predictor& predict, const Task& task, Role role) {
  return score_groups(task, role, [&](const Domain& domain) {
    return predict(domain.graph, domain.labels.evaluate).cpu();
  });
}

std::vector<DomainScore> evaluate(Method& method, const Task& task, Role role) {
  return evaluate(
      [&](const Graph& graph, const torch::Tensor& nodes) { return method.logits(graph, nodes); },
      task, role);
}

std::vector<DomainScore> constant_scores(const Task& task, Role role) {
  torch::Tensor counts = torch::zeros({task.classes}, torch::kInt64);
  for (const Domain& domain : task.training) {
    counts +=
        torch::bincount(domain.labels.y.index_select(0, domain.labels.loss), {}, task.classes);
  }
  torch::Tensor row = torch::zeros({1, task.classes});
  row[0][counts.argmax().item<int64_t>()] = 1.0;
  if (task.metric == MetricKind::roc_auc) row.zero_();
  return score_groups(task, role, [&](const Domain& domain) {
    return row.expand({domain.labels.evaluate.numel(), task.classes});
  });
}

double mean_score(const std::vector<DomainScore>& scores) {
  double sum = 0.0;
  for (const DomainScore& s : scores) sum += s.value;
  return scores.empty() ? 0.0 : sum / static_cast<double>(scores.size());
}

double min_score(const std::vector<DomainScore>& scores) {
  if (scores.empty()) return 0.0;
  return std::min_element(
             scores.begin(), scores.end(),
             [](const DomainScore& a, const DomainScore& b) { return a.value < b.value; })
      ->value;
}

}  // namespace grm
