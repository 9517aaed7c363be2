#include "graph/edge_data.h"

#include <torch/types.h>

#include "grm/core/error.h"

namespace grm {
namespace {

// For each pair of `to` its edge id in `from`, or the number of edges there for a new one. Sources
// of a row ascend in both.
torch::Tensor old_ids(const Adjacency& from, const Adjacency& to) {
  torch::Tensor ids = torch::full({to.nnz()}, from.nnz(), torch::kInt64);
  if (to.nnz() == 0 || from.nnz() == 0) return ids;
  int64_t* id = ids.data_ptr<int64_t>();
  const int32_t *known = from.in.index(), *wanted = to.in.index();
  for (int64_t i = 0; i < to.rows(); ++i) {
    int64_t e = from.in.offset()[i];
    const int64_t end = from.in.offset()[i + 1];
    for (int64_t k = to.in.offset()[i]; k < to.in.offset()[i + 1]; ++k) {
      while (e < end && known[e] < wanted[k]) ++e;
      if (e < end && known[e] == wanted[k]) id[k] = e;
    }
  }
  return ids;
}

}  // namespace

EdgeData edge_data(const Graph& graph, const AdjacencyPtr& edges) {
  const bool featured = graph.edge_x.sparse || graph.edge_x.dense.defined();
  const bool same = !edges || edges == graph.edges;
  if (same || (!graph.edge_weights.defined() && !featured)) {
    return {graph.edge_weights, graph.edge_x};
  }
  ensure(edges->rows() == graph.nodes(), "edge_data: edges of other nodes");
  const torch::Tensor ids = old_ids(*graph.edges, *edges);
  const bool none = graph.edges->nnz() == 0;
  EdgeData data;
  if (graph.edge_weights.defined()) {
    const torch::Tensor mean = none ? torch::ones({1}) : graph.edge_weights.mean().view({1});
    data.weights = torch::cat({graph.edge_weights, mean}).index_select(0, ids);
  }
  if (featured) {
    const torch::Tensor rows = graph.edge_x.to_dense();
    const torch::Tensor mean = none ? torch::zeros({1, rows.size(1)}) : rows.mean(0, true);
    data.x.dense = torch::cat({rows, mean}).index_select(0, ids);
  }
  return data;
}

}  // namespace grm
