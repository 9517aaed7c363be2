#pragma once

#include <map>
#include <memory>

#include "grm/graph/batch.h"
#include "grm/methods/grm/options.h"
#include "grm/nn/layers.h"

namespace grm {

/// Means over the influential nodes V_i^D of rows that belong to the nodes of a domain graph.
/// Small sets are a sparse pattern; where the sets cover most of the graph (Twitch, social
/// graphs) a dense averaging matrix is both smaller and faster.
class InfluencePool {
 public:
  InfluencePool(const Adjacency& edges, const GrmOptions& options, torch::Dtype dtype);
  /// [n, d] -> [n, d]: row i is the mean of the rows of V_i^D.
  torch::Tensor mean(const torch::Tensor& rows) const;
  const InfluenceSets& sets() const { return sets_; }

 private:
  InfluenceSets sets_;
  AdjacencyPtr pattern_;     // sparse form
  torch::Tensor weights_;    // [nnz], 1 / |V_i^D|
  torch::Tensor averaging_;  // dense form [n, n]
};

/// Whether exact sets are used for a graph of n nodes under these options.
bool uses_exact_influence(const GrmOptions& options, int64_t nodes);

/// What GRM derives from a domain graph once: operators, influence, encoder features.
class DomainCache {
 public:
  DomainCache(const GrmOptions& options, torch::Dtype dtype);

  nn::Propagation propagation(const AdjacencyPtr& edges) { return propagation_.get(edges); }
  const InfluencePool& influence(const AdjacencyPtr& edges);
  /// Observed pairs and self-pairs.
  AdjacencyPtr self_paired(const AdjacencyPtr& edges);
  /// The features that the encoder (or the input GCNs) read: centred if the options say so.
  Features features(const Graph& graph);

 private:
  GrmOptions options_;
  torch::Dtype dtype_;
  nn::PropagationCache propagation_;
  std::map<AdjacencyPtr, std::unique_ptr<InfluencePool>> influence_;
  std::map<AdjacencyPtr, AdjacencyPtr> self_paired_;
};

}  // namespace grm
