#include "grm/methods/cost.h"

#include <torch/types.h>

namespace grm {
namespace {

DomainShape domain_shape(const Graph& graph, const torch::Tensor& counted) {
  return {shape_of(graph), graph.edges, counted};
}

}  // namespace

std::vector<DomainShape> shapes_of(const std::vector<Domain>& training) {
  std::vector<DomainShape> shapes;
  for (const Domain& d : training) shapes.push_back(domain_shape(d.graph, d.labels.loss));
  return shapes;
}

RunShape::RunShape(const Task& task, int64_t run_epochs, Sampling steps_on)
    : training(shapes_of(task.training)),
      classes(static_cast<double>(task.classes)),
      features(static_cast<double>(task.features())),
      epochs(static_cast<double>(run_epochs)),
      sampling(std::move(steps_on)),
      kept_(std::make_shared<std::map<std::string, std::shared_ptr<void>>>()) {
  for (const Role role : {Role::validation, Role::test}) {
    for (const Domain& d : task.domains(role)) {
      evaluated.push_back(domain_shape(d.graph, d.labels.evaluate));
    }
  }
}

double RunShape::over_topologies(bool with_evaluated,
                                 const std::function<double(const DomainShape&)>& of) const {
  std::vector<const Adjacency*> seen;
  double sum = 0;
  const auto add = [&](const std::vector<DomainShape>& domains) {
    for (const DomainShape& domain : domains) {
      const Adjacency* edges = domain.edges_of.get();
      if (std::find(seen.begin(), seen.end(), edges) != seen.end()) continue;
      seen.push_back(edges);
      sum += of(domain);
    }
  };
  add(training);
  if (with_evaluated) add(evaluated);
  return sum;
}

Saving saving(const std::string& key, const std::string& value) {
  return {{{key, value}}};
}

Saving smaller(const std::string& key, int64_t value, int64_t least) {
  Saving all;
  for (int k = 0; k < 3 && value > least; ++k) {
    value = std::max(least, value / 2);
    all.push_back({{key, std::to_string(value)}});
  }
  return all;
}

}  // namespace grm
