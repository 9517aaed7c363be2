#pragma once

#include <torch/types.h>

#include "grm/graph/graph.h"

namespace grm {

/// Whether two domains see one and the same graph: edges, weights and features of one place, so that
/// a pass over it serves both.
inline bool same_graph(const Graph& a, const Graph& b) {
  return a.edges == b.edges && a.edge_weights.is_same(b.edge_weights) &&
         a.edge_x.sparse == b.edge_x.sparse && a.edge_x.dense.is_same(b.edge_x.dense) &&
         a.x.sparse == b.x.sparse && a.x.sparse_values.is_same(b.x.sparse_values) &&
         a.x.dense.is_same(b.x.dense) && a.x.shift.is_same(b.x.shift);
}

}  // namespace grm
