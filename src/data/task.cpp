#include "grm/data/task.h"

#include <torch/types.h>

#include "grm/core/error.h"

namespace grm {

TrainView Task::train_view() const {
  TrainView view;
  view.training = training;
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
  domain.labels.loss = domain.labels.evaluate = torch::arange(y.numel(), torch::kInt64);
  domain.labels.y = std::move(y);
  return domain;
}

}  // namespace grm
