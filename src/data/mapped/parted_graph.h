#pragma once

#include <memory>
#include <vector>

#include "dist/group.h"
#include "graph/parted.h"

namespace grm::mapped {

/// The rows of a part. What the graph has not is undefined.
struct PartRows {
  Csr in;  // columns are nodes of the whole graph
  torch::Tensor edge_weights, edge_x;
  torch::Tensor x;
  Csr sparse;
  torch::Tensor sparse_values;
};

/// What a graph in parts is made of, as one process has it. Part p is held by rank p % world.
struct PartsOfGraph {
  int64_t nodes = 0, edges = 0;
  int64_t dense = 0, sparse = 0, edge_features = 0;  // columns
  bool weighted = false, sparse_valued = false;
  torch::Tensor where;          // [nodes] int64: part << 32 | row there
  std::vector<PartRows> parts;  // all of them; those of others are empty
  torch::Tensor shift;
};

/// Nodes are asked of whoever holds them by messages to and from all processes.
std::shared_ptr<const PartedGraph> parted_graph(PartsOfGraph parts,
                                                std::shared_ptr<dist::Group> group,
                                                int64_t cache_bytes);

}  // namespace grm::mapped
