#pragma once

#include "grm/nn/layers.h"

namespace grm {

/// A graph whose pairs are flipped at every step, where nobody may ask how many are left: operators
/// of flipped(edges, flips) on a pattern of a fixed size, whose weights say which pairs there are.
/// For edges that carry nothing.
class EditedGraph {
 public:
  EditedGraph(nn::Conv conv, const AdjacencyPtr& edges, torch::Dtype dtype,
              const torch::Device& device);
  /// flips: as in editors.h, on the device. Equal to make_propagation(conv, flipped(edges, flips)).
  nn::Propagation flipped(const torch::Tensor& flips) const;

 private:
  bool loops_;
  torch::Dtype dtype_;
  AdjacencyPtr pairs_;              // with self-pairs where the operator has them
  int64_t longest_;                 // row of it
  torch::Tensor in_row_, out_row_;  // [nnz] int32 on the device: the row of each entry
};

}  // namespace grm
