#pragma once

#include "grm/nn/layers.h"

namespace grm::nn {

/// Operators of the graphs in use, with the weights that belong to their data.
class DataPropagation {
 public:
  DataPropagation(Conv conv, torch::Dtype dtype, const torch::Device& device)
      : plain_(conv, dtype, device), weighted_(conv, dtype, device) {}
  Propagation get(const Graph& graph) {
    return graph.edge_weights.defined() ? weighted_.get(graph.edges, graph.edge_weights)
                                        : plain_.get(graph.edges);
  }

 private:
  PropagationCache plain_;
  WeightedPropagation weighted_;
};

}  // namespace grm::nn
