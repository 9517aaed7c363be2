#include "train/evaluate.h"

#include <torch/types.h>

#include <algorithm>
#include <limits>

#include "dist/group.h"
#include "grm/core/error.h"
#include "nn/losses.h"
#include "train/divergence.h"
#include "train/metrics.h"

namespace grm {
namespace {

// The logits of a domain from the process that computes them: domain after domain, in turn.
class SharedLogits {
 public:
  SharedLogits(const Task& task, const LogitsOf& logits_of,
               const std::shared_ptr<dist::Group>& processes)
      : task_(task), logits_of_(logits_of), group_(dist::group_or_alone(processes)) {}

  torch::Tensor of(const Domain& domain) {
    if (domain.graph.parted) return logits_of_(domain);  // all of them compute it together
    const auto turn = static_cast<int>(next_++ % group_.world());
    if (group_.world() == 1) return logits_of_(domain);
    const int64_t items = domain.labels.evaluate.numel();
    torch::Tensor logits;
    if (turn == group_.rank()) {
      logits = logits_of_(domain).contiguous();
      ensure(logits.scalar_type() == torch::kFloat32 && logits.dim() == 2 &&
                 logits.size(0) == items && logits.size(1) == task_.classes,
             "logits to be shared are of another shape than the task says");
    } else {
      logits = torch::empty({items, task_.classes}, torch::kFloat32);
    }
    group_.broadcast(logits, turn);
    return logits;
  }

 private:
  const Task& task_;
  const LogitsOf& logits_of_;
  dist::Group& group_;
  int64_t next_ = 0;
};

std::vector<GroupLogits> collect(const Task& task, Role role, const LogitsOf& logits_of,
                                 const std::shared_ptr<dist::Group>& processes = nullptr) {
  SharedLogits shared(task, logits_of, processes);
  struct Parts {
    std::string name;
    std::vector<torch::Tensor> logits, y;
  };
  std::vector<Parts> all;
  for (const Domain& domain : task.domains(role)) {
    auto parts = std::find_if(all.begin(), all.end(),
                              [&](const Parts& p) { return p.name == domain.group; });
    if (parts == all.end()) parts = all.insert(all.end(), {domain.group, {}, {}});
    parts->logits.push_back(shared.of(domain));
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

GroupLogits joined_groups(const std::vector<GroupLogits>& groups) {
  std::vector<torch::Tensor> logits, y;
  for (const GroupLogits& group : groups) {
    logits.push_back(group.logits);
    y.push_back(group.y);
  }
  return {"all", torch::cat(logits), torch::cat(y)};
}

double score_or_nan(MetricKind metric, const GroupLogits& group) {
  try {
    return score(metric, group.logits, group.y);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    return std::numeric_limits<double>::quiet_NaN();
  }
}

std::vector<GroupLogits> group_logits(Method& method, const Task& task, Role role,
                                      const std::shared_ptr<dist::Group>& processes) {
  return collect(
      task, role,
      [&](const Domain& domain) {
        return method.logits(domain.graph, domain.labels.evaluate).cpu();
      },
      processes);
}

std::vector<DomainScore> evaluate_logits(const Task& task, Role role, const LogitsOf& logits_of) {
  return scores_of(task.metric, collect(task, role, logits_of));
}

std::vector<DomainScore> evaluate(const Predictor& predict, const Task& task, Role role,
                                  const std::shared_ptr<dist::Group>& processes) {
  const LogitsOf logits = [&](const Domain& domain) {
    return predict(domain.graph, domain.labels.evaluate).cpu();
  };
  return scores_of(task.metric, collect(task, role, logits, processes));
}

std::vector<DomainScore> evaluate(Method& method, const Task& task, Role role,
                                  const std::shared_ptr<dist::Group>& processes) {
  return scores_of(task.metric, group_logits(method, task, role, processes));
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
