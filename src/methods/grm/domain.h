#pragma once

#include <map>
#include <memory>

#include "graph/local_influence.h"
#include "graph/packed_influence.h"
#include "graph/padded.h"
#include "grm/graph/batch.h"
#include "grm/nn/layers.h"
#include "methods/grm/options.h"

namespace grm {

/// Means over the influential nodes V_i^D of rows that belong to the nodes of a domain graph.
/// Small sets are a sparse pattern; where the sets cover most of the graph (Twitch, social
/// graphs) a dense averaging matrix is both smaller and faster.
class InfluencePool {
 public:
  InfluencePool(const Adjacency& edges, const GrmOptions& options, torch::Dtype dtype,
                const torch::Device& device = torch::kCPU);
  /// From sets that are already there: row i of the square pattern lists V_i^D.
  InfluencePool(const AdjacencyPtr& sets, torch::Dtype dtype,
                const torch::Device& device = torch::kCPU);
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
/// Whether sets are found around the nodes of each step: training steps then never touch the whole
/// graph.
bool uses_local_influence(const GrmOptions& options, int64_t nodes);

/// A domain graph as the model reads it. Node level: a whole domain. Graph level: the graphs of a
/// batch side by side, each its own domain, with operators cut out of those of the set.
struct DomainView {
  Graph graph;                                     // edges, encoder features, parts
  nn::Propagation propagation;                     // on its edges; empty if no layer propagates
  std::shared_ptr<const InfluencePool> influence;  // null where nothing asks for V_i^D
  std::shared_ptr<const LocalInfluence> around;    // in its place where sets are found locally
  // Batches with room for more rows than they have (graph/padded.h).
  torch::Tensor counted, graph_of_node;  // as in GraphBatch; undefined: all rows belong to a graph
};

/// The graphs of a batch with room for more, the operators of a set that are cut out for it, and the
/// size of its largest graph.
struct PaddedSet {
  GraphRooms rooms;  // of the patterns below, in their order, as far as they are there
  AdjacencyPtr edges, propagation, pairs, influence;
  torch::Tensor propagation_weights;
};

/// What GRM derives from a domain graph once: operators, influence, encoder features.
class DomainCache {
 public:
  DomainCache(const GrmOptions& options, torch::Dtype dtype,
              const torch::Device& device = torch::kCPU);

  DomainView whole(const Graph& graph, bool with_influence);
  /// The graphs `ids` of a packed set; `batch` is pick_graphs of them.
  DomainView pick(const Graph& set, const torch::Tensor& ids, const GraphBatch& batch,
                  bool with_influence);
  /// Observed pairs and self-pairs of the graphs `ids`.
  AdjacencyPtr pick_self_paired(const Graph& set, const torch::Tensor& ids);
  /// What batches of a set are cut out of on a GPU; null where they are not.
  const PaddedSet* padded(const Graph& set);

  nn::Propagation propagation(const AdjacencyPtr& edges) { return propagation_.get(edges); }
  /// Observed pairs and self-pairs.
  AdjacencyPtr self_paired(const AdjacencyPtr& edges);
  /// The features that the encoder (or the input GCNs) read: centred if the options say so.
  Features features(const Graph& graph);

  /// The view of one step that does not touch the whole graph: features and V_i^D only.
  DomainView part(const Graph& graph);

 private:
  std::shared_ptr<const InfluencePool> influence(const AdjacencyPtr& edges);
  std::shared_ptr<const LocalInfluence> around(const AdjacencyPtr& edges);
  const nn::Propagation& set_propagation(const Graph& set);
  const PackedInfluence& set_influence(const Graph& set);

  GrmOptions options_;
  torch::Dtype dtype_;
  torch::Device device_;
  nn::PropagationCache propagation_;
  std::map<AdjacencyPtr, std::shared_ptr<const InfluencePool>> influence_;
  std::map<AdjacencyPtr, std::shared_ptr<const LocalInfluence>> around_;
  std::map<AdjacencyPtr, Features> centred_;
  std::map<AdjacencyPtr, AdjacencyPtr> self_paired_;
  std::map<AdjacencyPtr, nn::Propagation> set_propagation_;  // weighted by the data's own weights
  std::map<AdjacencyPtr, PackedInfluence> set_influence_;
  std::map<AdjacencyPtr, std::unique_ptr<PaddedSet>> padded_;
};

}  // namespace grm
