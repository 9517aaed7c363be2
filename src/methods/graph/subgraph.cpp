#include "methods/graph/subgraph.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/place.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"
#include "methods/kernels.h"
#include "ops/sparse.h"

namespace grm::graph_level {
namespace {

constexpr int64_t kGraphsSorted = 16;  // graphs that one thread sorts at a time
constexpr double kRounding = 1e-9;     // 0.1 * 30 counts as 3, whatever the last bit says

// One direction of the pattern with the kept entries and nodes. `kept_edge(k)` tells whether entry
// k stays; its new position is handed to moved(k, position).
template <class Kept, class Moved>
Csr filter(const Csr& from, const std::vector<int64_t>& new_row, const torch::Tensor& nodes,
           int64_t edges, const Kept& kept_edge, const Moved& moved) {
  const int64_t n = nodes.numel();
  const int64_t* node = nodes.data_ptr<int64_t>();
  Csr to;
  to.rows = to.cols = n;
  to.offsets = torch::zeros({n + 1}, torch::kInt64);
  to.indices = torch::empty({edges}, torch::kInt32);
  int64_t* offset = to.offsets.data_ptr<int64_t>();
  int32_t* index = to.indices.data_ptr<int32_t>();
  const int64_t* old_offset = from.offset();
  const int32_t* old_index = from.index();
  int64_t position = 0;
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t k = old_offset[node[r]]; k < old_offset[node[r] + 1]; ++k) {
      if (!kept_edge(k)) continue;
      index[position] = static_cast<int32_t>(new_row[old_index[k]]);
      moved(k, position++);
    }
    offset[r + 1] = position;
  }
  return to;
}

}  // namespace

torch::Tensor top_edges(const torch::Tensor& scores, const AdjacencyPtr& edges,
                        const torch::Tensor& node_offsets, double share, bool round_up) {
  if (scores.dim() != 1 || scores.numel() != edges->nnz()) {
    fail(ErrorKind::shape, "top_edges: {} scores came for {} edges", scores.numel(), edges->nnz());
  }
  if (!(share >= 0.0 && share <= 1.0)) {
    fail(ErrorKind::config, "top_edges: the share of edges is {}, 0 to 1 was expected", share);
  }
  if (!edges->in.offsets.device().is_cpu()) {
    return top_edges_there(scores, *edges, node_offsets, share, round_up, 0);
  }
  const torch::Tensor values = scores.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  torch::Tensor keep = torch::zeros({edges->nnz()}, torch::kBool);
  const double* score = values.data_ptr<double>();
  bool* kept = keep.data_ptr<bool>();
  const int64_t* part = node_offsets.data_ptr<int64_t>();
  const int64_t* row = edges->in.offset();
  // Not a number sorts below everything, so that a failed model still has an order.
  const auto before = [&](int64_t a, int64_t b) {
    const double x = std::isnan(score[a]) ? -INFINITY : score[a];
    const double y = std::isnan(score[b]) ? -INFINITY : score[b];
    return x != y ? x > y : a < b;
  };
  parallel_chunks(node_offsets.numel() - 1, kGraphsSorted, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> ids;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = row[part[b]], count = row[part[b + 1]] - first;
      const double exact = share * static_cast<double>(count);
      const double rounded =
          round_up ? std::ceil(exact - kRounding) : std::floor(exact + kRounding);
      const int64_t k = std::min(count, static_cast<int64_t>(rounded));
      ids.resize(count);
      std::iota(ids.begin(), ids.end(), first);
      if (k < count) std::nth_element(ids.begin(), ids.begin() + k, ids.end(), before);
      for (int64_t t = 0; t < k; ++t) kept[ids[t]] = true;
    }
  });
  return keep;
}

torch::Tensor top_edges_there(const torch::Tensor& scores, const Adjacency& edges,
                              const torch::Tensor& node_offsets, double share, bool round_up,
                              int64_t least) {
  const torch::Tensor values = scores.detach().contiguous();
  const torch::Tensor ends = edges.in.offsets.index_select(0, node_offsets);
  torch::Tensor keep = torch::empty({edges.nnz()}, values.options().dtype(torch::kBool));
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "top_edges", [&] {
    on_gpu<kernels::top_entries<scalar_t>>(place_of(values), values.data_ptr<scalar_t>(),
                                           ends.data_ptr<int64_t>(), ends.numel() - 1, edges.nnz(),
                                           share, round_up, least, keep.data_ptr<bool>());
  });
  return keep;
}

namespace {

Subgraph cut_padded(const nn::GraphInput& batch, const torch::Tensor& keep) {
  const PaddedPart kept = padded_part(*batch.edges, batch.counted, keep);
  Subgraph part;
  part.nodes = kept.nodes;
  part.edge_ids = kept.edge_ids;
  part.row_place = kept.row_place;
  part.edge_place = kept.edge_place;
  part.input.edges = kept.edges;
  part.input.counted = kept.counted;
  part.input.node_offsets = kept.new_row.index_select(0, batch.node_offsets);
  part.input.graph_of_node = batch.graph_of_node.index_select(0, kept.nodes);
  if (batch.rows.defined()) {
    part.input.rows = part.of_nodes(batch.rows);
  } else {
    part.input.x = pick_dense_rows(batch.x, kept.nodes);
  }
  if (batch.edge_x.dense.defined())
    part.input.edge_x = pick_dense_rows(batch.edge_x, kept.edge_ids);
  if (batch.edge_weights.defined()) {
    part.input.edge_weights = batch.edge_weights.index_select(0, kept.edge_ids);
  }
  return part;
}

}  // namespace

torch::Tensor Subgraph::of_edges(const torch::Tensor& values) const {
  return edge_place.defined() ? ops::take_rows(values, edge_ids, edge_place)
                              : select_rows(values, edge_ids);
}

torch::Tensor Subgraph::of_nodes(const torch::Tensor& rows) const {
  return row_place.defined() ? ops::take_rows(rows, nodes, row_place)
                             : ops::gather_rows(rows, nodes);
}

Subgraph cut(const nn::GraphInput& batch, const torch::Tensor& keep) {
  if (batch.counted.defined()) return cut_padded(batch, keep);
  const Adjacency& edges = *batch.edges;
  if (keep.scalar_type() != torch::kBool || keep.dim() != 1 || keep.numel() != edges.nnz()) {
    fail(ErrorKind::shape, "cut: {} marks came for {} edges, a bool for each was expected",
         keep.numel(), edges.nnz());
  }
  const torch::Tensor marks = keep.contiguous();
  const bool* kept = marks.data_ptr<bool>();
  const int64_t n = edges.rows();
  std::vector<int64_t> new_row(n, -1), new_edge(edges.nnz(), -1);
  int64_t edge_count = 0, node_count = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = edges.in.offset()[i]; k < edges.in.offset()[i + 1]; ++k) {
      if (!kept[k]) continue;
      new_row[i] = new_row[edges.in.index()[k]] = 0;
      ++edge_count;
    }
  }
  for (int64_t& row : new_row) row = row < 0 ? -1 : node_count++;

  Subgraph part;
  part.nodes = torch::empty({node_count}, torch::kInt64);
  part.edge_ids = torch::empty({edge_count}, torch::kInt64);
  int64_t* node = part.nodes.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    if (new_row[i] >= 0) node[new_row[i]] = i;
  }
  int64_t* edge_id = part.edge_ids.data_ptr<int64_t>();
  auto pattern = std::make_shared<Adjacency>();
  pattern->out_edge = torch::empty({edge_count}, torch::kInt64);
  int64_t* out_edge = pattern->out_edge.data_ptr<int64_t>();
  const int64_t* old_out_edge = edges.out_edge.data_ptr<int64_t>();
  pattern->in = filter(
      edges.in, new_row, part.nodes, edge_count, [&](int64_t k) { return kept[k]; },
      [&](int64_t k, int64_t position) {
        edge_id[position] = k;
        new_edge[k] = position;
      });
  pattern->out = filter(
      edges.out, new_row, part.nodes, edge_count, [&](int64_t k) { return kept[old_out_edge[k]]; },
      [&](int64_t k, int64_t position) { out_edge[position] = new_edge[old_out_edge[k]]; });

  part.input.edges = std::move(pattern);
  part.input.node_offsets = torch::searchsorted(part.nodes, batch.node_offsets);
  if (batch.rows.defined()) {
    part.input.rows = part.of_nodes(batch.rows);
  } else {
    part.input.x = pick_rows(batch.x, part.nodes);
  }
  if (batch.edge_x.sparse || batch.edge_x.dense.defined()) {
    part.input.edge_x = pick_rows(batch.edge_x, part.edge_ids);
  }
  if (batch.edge_weights.defined()) {
    part.input.edge_weights = batch.edge_weights.index_select(0, part.edge_ids);
  }
  return part;
}

}  // namespace grm::graph_level
