#pragma once

#include <vector>

#include "grm/graph/batch.h"

namespace grm {

/// Ego-nets drawn on a GPU: those that ego_batch draws for the same targets and stream. The host
/// does not wait for them, so that a training step can be recorded: a batch has as many rows as the
/// fan-out allows, and GraphBatch::counted says how many of them belong to a graph.
class DeviceNets {
 public:
  /// Whether ego-nets of this fan-out are small enough.
  static bool fit(const std::vector<int64_t>& fanout);

  /// `targets`: int64, on the device.
  DeviceNets(const Adjacency& edges, const torch::Tensor& targets,
             const std::vector<int64_t>& fanout, const Stream& draws);

  /// The batch without its edges.
  GraphBatch batch() const;
  /// The observed pairs inside the nets, with a self-pair for every node where `loops`. Where asked
  /// for, `kipf` receives the weights 1 / sqrt(deg_i deg_j) of the pairs.
  AdjacencyPtr pattern(bool loops, torch::Dtype dtype, torch::Tensor* kipf = nullptr) const;

 private:
  int64_t graphs_, capacity_;
  torch::Tensor nodes_, mask_;                             // [graphs, capacity] int32, int64
  torch::Tensor node_offset_, edge_offset_, loop_offset_;  // [graphs + 1] int64
};

}  // namespace grm
