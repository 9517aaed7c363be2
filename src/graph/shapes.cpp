#include "grm/graph/shapes.h"

#include <torch/types.h>

#include "graph/parted.h"

namespace grm {

GraphShape shape_of(const Graph& graph) {
  GraphShape shape;
  shape.nodes = static_cast<double>(graph.nodes());
  shape.edges = static_cast<double>(graph.parted ? graph.parted->edges() : graph.edges->nnz());
  shape.features = static_cast<double>(graph.x.width());
  shape.items = static_cast<double>(graph.items());
  const Features& e = graph.edge_x;
  if (e.sparse || e.dense.defined()) shape.edge_features = static_cast<double>(e.width());
  if (graph.x.sparse) shape.sparse = static_cast<double>(graph.x.sparse->nnz());
  if (graph.x.dense.defined()) shape.dense = static_cast<double>(graph.x.dense.size(1));
  return shape;
}

GraphShape share_of(const GraphShape& set, double share) {
  GraphShape part = set;
  for (double* size : {&part.nodes, &part.edges, &part.sparse, &part.items}) *size *= share;
  return part;
}

BatchShape operator*(const BatchShape& a, double factor) {
  return {a.graphs * factor, a.rows * factor, a.edges * factor, a.pairs * factor,
          a.half_pairs * factor};
}

BatchShape shape_of(const GraphBatch& batch) {
  BatchShape shape;
  shape.graphs = static_cast<double>(batch.graphs);
  shape.rows = static_cast<double>(batch.rows());
  shape.edges = static_cast<double>(batch.edges->nnz());
  const int64_t* offset = batch.node_offsets.data_ptr<int64_t>();
  for (int64_t b = 0; b < batch.graphs; ++b) {
    const auto n = static_cast<double>(offset[b + 1] - offset[b]);
    shape.pairs += n * n;
    shape.half_pairs += n * (n + 1) / 2;
  }
  return shape;
}

}  // namespace grm
