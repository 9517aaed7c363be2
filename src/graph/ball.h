#pragma once

#include "grm/graph/graph.h"

namespace grm {

/// What lies around a node, as a graph of its own.
struct Ball {
  Graph graph;
  torch::Tensor nodes;  // [k] int64: ids in the whole graph, ascending
  int64_t centre = 0;   // row of the node
};

/// The nodes within `hops` edges of a node, whichever way these point, and all edges among them with
/// what they carry, in the order of the whole graph.
Ball ball_around(const Graph& graph, int64_t node, int64_t hops);

}  // namespace grm
