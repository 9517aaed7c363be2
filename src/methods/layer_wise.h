#pragma once

#include <functional>
#include <vector>

#include "grm/graph/graph.h"

namespace grm {

/// Predicts one layer after the other, some rows at a time: beside the rows of two layers, one
/// chunk's activations are held, and of the graph only what the nodes' predictions rest on is read.
/// `run` gives the rows of a layer (from 0) for a sample of one layer, whose features are those of
/// the graph at first and then the rows of the layer before. Every neighbour is there, so that the
/// result is that of one pass over the whole graph. `hops` 0: `run` is asked once, for layer 0 on
/// graphs without edges. Returns rows for `nodes` (int64).
torch::Tensor layer_wise(const Graph& graph, const torch::Tensor& nodes, int64_t hops,
                         const std::function<torch::Tensor(int64_t layer, const Graph& part)>& run,
                         int64_t chunk_rows = 16384);

/// The same of a graph in parts, by all its processes together: each computes some chunks, and all have
/// the result.
torch::Tensor layer_wise_parted(
    const Graph& graph, const torch::Tensor& nodes, int64_t hops,
    const std::function<torch::Tensor(int64_t layer, const Graph& part)>& run, int64_t chunk_rows,
    int64_t chunk_edges);

/// Ends of the chunks of a list of nodes that is told one after the other: a chunk has no more rows
/// and edges than given, but for a single node.
class ChunkEnds {
 public:
  ChunkEnds(int64_t most_rows, int64_t most_edges)
      : most_rows_(most_rows), most_edges_(most_edges) {}
  void add(int64_t degree);
  std::vector<int64_t> finish();

 private:
  int64_t most_rows_, most_edges_;
  int64_t rows_ = 0, edges_ = 0, all_ = 0;
  std::vector<int64_t> ends_;
};

/// Whether a graph is so large that no pass goes over all of it at once.
bool needs_layer_wise(const Graph& graph);

}  // namespace grm
