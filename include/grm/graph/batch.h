#pragma once

#include <cstdint>
#include <vector>

#include "grm/core/rng.h"
#include "grm/graph/graph.h"

namespace grm {

/// Many small graphs packed back to back. Nodes of graph b occupy rows node_offsets[b] ..
/// node_offsets[b + 1) of the batch; `edges` is block-diagonal over these rows. Ego-nets of target
/// nodes and (later) whole molecules are the same thing from here on.
struct GraphBatch {
  int64_t graphs = 0;
  torch::Tensor node_offsets;   // [graphs + 1] int64; the first node of an ego-net is its target
  torch::Tensor nodes;          // [N] int64: each row's node in the domain graph
  torch::Tensor graph_of_node;  // [N] int64
  AdjacencyPtr edges;           // [N, N] observed pairs inside each graph
  torch::Tensor edge_ids;       // [nnz] int64, edge id in the set; defined by pick_graphs alone
  // Batches made on a GPU: the host does not know how many nodes there are, and the rows behind the
  // last one belong to no graph.
  torch::Tensor counted;  // [1] int64 on the device: rows that belong to a graph; undefined: all
  int64_t most = -1;      // nodes of the largest graph, at most; -1: see node_offsets

  int64_t rows() const { return nodes.numel(); }
};

/// The ego-nets of `targets` (int64 ids): the target, up to fanout[0] of its in-neighbours drawn
/// without replacement, up to fanout[1] in-neighbours of each of those, and so on; every node
/// once. Edges are all stored pairs between members. The draw for targets[k] depends on `draws`,
/// its node id and nothing else, so it is the same in any batch and for any thread count.
GraphBatch ego_batch(const Adjacency& edges, const torch::Tensor& targets,
                     const std::vector<int64_t>& fanout, const Stream& draws);

/// The whole domain graph as a batch of one.
GraphBatch whole_batch(const AdjacencyPtr& edges);

/// The graphs `ids` (int64) of a packed set, whole and in this order, without per-graph
/// allocations.
GraphBatch pick_graphs(const Graph& set, const torch::Tensor& ids);

/// One graph per row of `members` (node ids, ascending), each with all stored pairs between them.
GraphBatch induced_batch(const Adjacency& edges, const Csr& members);

/// All ordered pairs (i = j included) inside each graph of the batch.
AdjacencyPtr all_pairs(const GraphBatch& batch);

}  // namespace grm
