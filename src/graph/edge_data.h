#pragma once

#include "grm/graph/graph.h"

namespace grm {

/// What edges carry besides their ends.
struct EdgeData {
  torch::Tensor weights;  // [nnz] float; undefined: all ones
  Features x;             // a row for each; empty: nothing
};

/// What the edges of a graph carry, for other edges between the same nodes (an edited or thinned
/// copy): a pair that the graph has keeps its own, a new one gets the mean of the graph's.
/// No `edges`: the graph's own.
EdgeData edge_data(const Graph& graph, const AdjacencyPtr& edges = nullptr);

}  // namespace grm
