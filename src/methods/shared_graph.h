#pragma once

#include <torch/types.h>

#include <vector>

#include "grm/data/task.h"

namespace grm {

/// Whether two domains see one and the same graph: edges, weights and features of one place, so that
/// a pass over it serves both.
inline bool same_graph(const Graph& a, const Graph& b) {
  return a.edges == b.edges && a.edge_weights.is_same(b.edge_weights) &&
         a.edge_x.sparse == b.edge_x.sparse && a.edge_x.dense.is_same(b.edge_x.dense) &&
         a.x.sparse == b.x.sparse && a.x.sparse_values.is_same(b.x.sparse_values) &&
         a.x.dense.is_same(b.x.dense) && a.x.shift.is_same(b.x.shift);
}

/// Nodes of a domain's graph that no domain of this graph trains on, ascending.
inline torch::Tensor unlabelled_nodes(const std::vector<Domain>& domains, size_t of) {
  torch::Tensor free = torch::ones({domains[of].graph.nodes()}, torch::kBool);
  for (const Domain& domain : domains) {
    if (same_graph(domain.graph, domains[of].graph)) {
      free = free.index_fill(0, domain.labels.loss, 0);
    }
  }
  return free.nonzero().squeeze(1);
}

}  // namespace grm
