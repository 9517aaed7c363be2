#pragma once

#include <cstdint>
#include <vector>

#include "grm/core/rng.h"
#include "grm/graph/graph.h"

namespace grm {

/// A graph drawn around some nodes of a larger one.
struct SampledGraph {
  Graph graph;          // with `sample`; its first rows are the nodes that were asked for
  torch::Tensor nodes;  // [n] int64: each row's node in the larger graph
};

/// Draws the surroundings of `targets` (distinct int64 ids) for a network of fanout.size() layers:
/// up to fanout[0] in-neighbours of each target, without replacement, up to fanout[1] of each node
/// that is new, and so on; 0: all of them. A stored self-pair is kept and not counted. What a node
/// draws depends on `draws`, its id and its hop alone. Touches the rows of the nodes in it, nothing
/// else: graphs may be larger than memory.
SampledGraph sample_graph(const Graph& graph, const torch::Tensor& targets,
                          const std::vector<int64_t>& fanout, const Stream& draws);
/// The same without features of nodes.
SampledGraph sample_edges(const Graph& graph, const torch::Tensor& targets,
                          const std::vector<int64_t>& fanout, const Stream& draws);

}  // namespace grm
