#pragma once

#include <functional>

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

/// Whether a graph is so large that no pass goes over all of it at once.
bool needs_layer_wise(const Graph& graph);

}  // namespace grm
