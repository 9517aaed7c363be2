#pragma once

#include "grm/nn/layers.h"

namespace grm::nn {

/// Operators of the graphs in use, with the weights that belong to their data.
class DataPropagation {
 public:
  DataPropagation(Conv conv, torch::Dtype dtype, const torch::Device& device)
      : conv_(conv),
        dtype_(dtype),
        device_(device),
        plain_(conv, dtype, device),
        weighted_(conv, dtype, device) {}
  /// For a sample of a graph: the operator of layer `l`.
  Propagation get(const Graph& graph, int64_t l = 0) {
    if (graph.sample) {
      return sampled_propagation(conv_, *graph.sample, l, graph.edge_weights, dtype_, device_);
    }
    return graph.edge_weights.defined() ? weighted_.get(graph.edges, graph.edge_weights)
                                        : plain_.get(graph.edges);
  }

 private:
  Conv conv_;
  torch::Dtype dtype_;
  torch::Device device_;
  PropagationCache plain_;
  WeightedPropagation weighted_;
};

}  // namespace grm::nn
