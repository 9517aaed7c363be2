#pragma once

#include <torch/types.h>

#include "nn/graph_encoder.h"

// Pieces that the methods which cut a subgraph out of each graph share (DIR, GIL, CIGA, GALA).
namespace grm::graph_level {

/// Edge scores [nnz] from node rows H: an MLP on [H_source ; H_target] of every stored pair, widths
/// {2 d, ..., 1}. The concatenation is never made: W [a ; b] = W_1 a + W_2 b is computed by node.
class EdgeScorer {
 public:
  EdgeScorer() = default;
  EdgeScorer(nn::ParameterSet& set, const std::string& name, const std::vector<int64_t>& widths);
  torch::Tensor forward(const torch::Tensor& rows, const AdjacencyPtr& edges) const;

 private:
  nn::Linear first_;        // [2 d, h]
  torch::Tensor last_;      // [h, 1]: the second map where there are two, to one number
  torch::Tensor constant_;  // [1]: its bias
  nn::Mlp rest_;            // the maps after the first where there are more
  bool deep_ = false;
};

/// Which edges of each graph are among its k highest scores; ties go to the lower edge id.
/// k = floor(r |E|) or ceil(r |E|) per graph. Returns bool [nnz].
torch::Tensor top_edges(const torch::Tensor& scores, const AdjacencyPtr& edges,
                        const torch::Tensor& node_offsets, double share, bool round_up);
/// The same for a pattern that was made on a GPU, and at least `least` edges of a graph that has them.
torch::Tensor top_edges_there(const torch::Tensor& scores, const Adjacency& edges,
                              const torch::Tensor& node_offsets, double share, bool round_up,
                              int64_t least);

/// The part of a batch that some edges span: these edges, and the nodes that touch one. Other nodes
/// vanish; a graph that loses all of them keeps an empty segment.
struct Subgraph {
  nn::GraphInput input;    // mask still to be set; edge_x and edge_weights are those of kept edges
  torch::Tensor nodes;     // [n'] int64: rows of the batch that are kept
  torch::Tensor edge_ids;  // [e'] int64: edges of the batch that are kept
  // Where rows and edges of a padded batch went, -1 for those that did not; undefined elsewhere.
  torch::Tensor row_place, edge_place;

  /// Numbers of the batch's edges, rows of its nodes, for those of the part.
  torch::Tensor of_edges(const torch::Tensor& values) const;
  torch::Tensor of_nodes(const torch::Tensor& rows) const;
};
/// A part of a padded batch has the room of the batch.
Subgraph cut(const nn::GraphInput& batch, const torch::Tensor& keep);

/// k-means from distinct random points; assignments [n] int64. `cosine` compares directions.
/// Stops when the squared total shift of the centres is below 1e-4, or after 100 rounds.
torch::Tensor k_means(const torch::Tensor& points, int64_t clusters, bool cosine, Stream draws);

}  // namespace grm::graph_level
