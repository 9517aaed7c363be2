#pragma once

#include <deque>

#include "methods/grm/model.h"

namespace grm {

/// Prepared batches by their graph and nodes: of the first ones, up to kKeptNetRows rows.
class KeptBatches {
 public:
  const PreparedBatch* find(const AdjacencyPtr& edges, const torch::Tensor& nodes) const {
    for (const Kept& kept : kept_) {
      if (kept.edges == edges && torch::equal(kept.nodes, nodes)) return &kept.batch;
    }
    return nullptr;
  }
  /// What is returned is there until the next is added.
  const PreparedBatch& add(const AdjacencyPtr& edges, const torch::Tensor& nodes,
                           PreparedBatch&& batch) {
    if (rows_ + batch.batch.rows() > kKeptNetRows) return passing_ = std::move(batch);
    rows_ += batch.batch.rows();
    kept_.push_back({edges, nodes, std::move(batch)});
    return kept_.back().batch;
  }

 private:
  struct Kept {
    AdjacencyPtr edges;
    torch::Tensor nodes;
    PreparedBatch batch;
  };
  std::deque<Kept> kept_;  // a deque: references stay valid while it grows
  int64_t rows_ = 0;
  PreparedBatch passing_;
};

}  // namespace grm
