#include "grm/data/task.h"

#include <torch/types.h>

#include "grm/core/error.h"

namespace grm {

Target target_of(LossKind loss) {
  if (loss == LossKind::multi_label) return Target::multi_label;
  return loss == LossKind::squared ? Target::regression : Target::classes;
}

std::vector<MetricKind> metrics_of(Target target) {
  switch (target) {
    case Target::classes:
      return {MetricKind::accuracy, MetricKind::roc_auc, MetricKind::macro_f1,
              MetricKind::average_precision, MetricKind::matthews};
    case Target::multi_label:
      return {MetricKind::roc_auc, MetricKind::average_precision, MetricKind::macro_f1,
              MetricKind::micro_f1, MetricKind::accuracy};
    case Target::regression:
      return {MetricKind::rmse, MetricKind::mae, MetricKind::r2};
  }
  throw InternalError("metrics_of: unknown target");
}

bool smaller_is_better(MetricKind metric) {
  return metric == MetricKind::rmse || metric == MetricKind::mae;
}

namespace {

torch::Tensor row_of(const std::vector<double>& values, const torch::Tensor& like) {
  return torch::tensor(values, torch::kFloat64).to(like.device());
}

}  // namespace

torch::Tensor TargetScale::restored(const torch::Tensor& outputs) const {
  if (mean.empty()) return outputs;
  const torch::Tensor wide = outputs.to(torch::kFloat64);
  return (wide * row_of(deviation, wide) + row_of(mean, wide)).to(outputs.scalar_type());
}

torch::Tensor TargetScale::scaled(const torch::Tensor& targets) const {
  if (mean.empty()) return targets;
  const torch::Tensor wide = targets.to(torch::kFloat64);
  return ((wide - row_of(mean, wide)) / row_of(deviation, wide)).to(targets.scalar_type());
}

TrainView Task::train_view() const {
  TrainView view;
  view.training = training;
  for (Domain& domain : view.training) domain.labels.y = target_scale.scaled(domain.labels.y);
  view.classes = classes;
  view.features = features();
  view.loss = loss;
  view.level = level;
  const Features& edge_x = training.front().graph.edge_x;
  if (edge_x.sparse || edge_x.dense.defined()) view.edge_features = edge_x.width();
  return view;
}

const std::vector<Domain>& Task::domains(Role role) const {
  switch (role) {
    case Role::train:
      return training;
    case Role::validation:
      return validation;
    case Role::test:
      return test;
  }
  throw InternalError("Task::domains: unknown role");
}

Domain make_domain(Graph graph, torch::Tensor y) {
  Domain domain;
  domain.name = domain.group = graph.name;
  domain.graph = std::move(graph);
  domain.labels.loss = domain.labels.evaluate = torch::arange(y.size(0), torch::kInt64);
  domain.labels.y = std::move(y);
  return domain;
}

}  // namespace grm
