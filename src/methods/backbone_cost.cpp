#include "methods/backbone_cost.h"

#include <torch/types.h>

namespace grm {

void Held::add(const PassCost& pass, double times) {
  kept += pass.kept * times;
  passing = std::max(passing, pass.passing);
}

void Held::together(const Held& other) {
  kept += other.kept;
  topology += other.topology;
  besides += other.besides;
  passing = std::max(passing, other.passing);
}

void Held::in_turn(const Held& other) {
  kept = std::max(kept, other.kept);
  topology = std::max(topology, other.topology);
  besides += other.besides;
  passing = std::max(passing, other.passing);
}

Held one_after_the_other(const nn::BackboneOptions& options, const RunShape& run) {
  Held all;
  for (const DomainShape& g : run.training) {
    Held one;
    one.add(nn::backbone_cost(options, g, run.classes));
    all.in_turn(one);
  }
  return all;
}

MemoryUses backbone_memory(const nn::BackboneOptions& options, const RunShape& run,
                           const Held& held, const std::string& besides, double models) {
  double evaluation = 0;
  for (const DomainShape& g : run.evaluated) {
    evaluation = std::max(evaluation, nn::backbone_cost(options, g, run.classes).passing);
  }
  const double operators = run.over_topologies(true, [&](const DomainShape& g) {
    return cost::convolution(options.conv, g.nodes, g.edges);
  });
  GraphShape no_nodes;
  no_nodes.features = run.features;
  const double parameters = nn::backbone_cost(options, no_nodes, run.classes).parameters;
  return {{"operators", operators + held.topology, MemoryPlace::topology},
          {"activations", std::max(held.kept + held.passing, evaluation), MemoryPlace::numbers},
          {"model", models * cost::model(parameters), MemoryPlace::numbers},
          {besides, held.besides, MemoryPlace::host}};
}

WorkCount backbone_work(const nn::BackboneOptions& options, const RunShape& run, double passes) {
  WorkCount all;
  for (const DomainShape& g : run.training) {
    all.add(nn::backbone_cost(options, g, run.classes).work, passes);
  }
  return all;
}

std::vector<Saving> backbone_savings(const nn::BackboneOptions& options, std::vector<Saving> own) {
  own.push_back(smaller("heads", options.heads, 1));
  own.push_back(smaller("hidden", options.hidden, 16));
  own.push_back(smaller("layers", options.layers, 2));
  return own;
}

}  // namespace grm
