#include <algorithm>
#include <cstring>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/graph/batch.h"

namespace grm {
namespace {

constexpr int64_t kRows = 256;          // rows that one thread copies at a time
constexpr int64_t kGraphsPerTask = 16;  // graphs that one thread copies at a time

// The pattern's rows in the given order; `entries` receives the old position of every entry.
AdjacencyPtr pick_pattern(const Adjacency& pattern, const torch::Tensor& rows,
                          torch::Tensor& entries) {
  const int64_t n = rows.numel();
  const int64_t* row = rows.data_ptr<int64_t>();
  const int64_t* from = pattern.in.offset();
  Csr in;
  in.rows = n;
  in.cols = pattern.cols();
  in.offsets = torch::zeros({n + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  for (int64_t k = 0; k < n; ++k) offset[k + 1] = offset[k] + from[row[k] + 1] - from[row[k]];
  in.indices = torch::empty({offset[n]}, torch::kInt32);
  entries = torch::empty({offset[n]}, torch::kInt64);
  int32_t* index = in.indices.data_ptr<int32_t>();
  int64_t* entry = entries.data_ptr<int64_t>();
  const int32_t* old = pattern.in.index();
  parallel_chunks(n, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      for (int64_t a = 0; a < offset[k + 1] - offset[k]; ++a) {
        index[offset[k] + a] = old[from[row[k]] + a];
        entry[offset[k] + a] = from[row[k]] + a;
      }
    }
  });
  return with_transpose(std::move(in));
}

}  // namespace

Features pick_rows(const Features& x, const torch::Tensor& rows) {
  Features picked;
  const torch::Tensor ids = rows.contiguous();
  if (x.sparse) {
    torch::Tensor entries;
    picked.sparse = pick_pattern(*x.sparse, ids, entries);
    if (x.sparse_values.defined()) picked.sparse_values = x.sparse_values.index_select(0, entries);
  }
  if (x.dense.defined()) picked.dense = x.dense.index_select(0, ids);
  picked.shift = x.shift;
  return picked;
}

GraphBatch pick_graphs(const Graph& set, const torch::Tensor& ids) {
  ensure(set.level() == Level::graph, "pick_graphs: not a set of graphs");
  const torch::Tensor chosen = ids.contiguous();
  const int64_t* id = chosen.data_ptr<int64_t>();
  const int64_t* part = set.parts.data_ptr<int64_t>();
  const int64_t* row = set.edges->in.offset();
  const int64_t* out_row = set.edges->out.offset();
  const int64_t graphs = chosen.numel();
  GraphBatch batch;
  batch.graphs = graphs;
  batch.node_offsets = torch::zeros({graphs + 1}, torch::kInt64);
  int64_t* first = batch.node_offsets.data_ptr<int64_t>();
  std::vector<int64_t> first_edge(graphs + 1, 0);
  for (int64_t b = 0; b < graphs; ++b) {
    if (id[b] < 0 || id[b] >= set.items()) {
      fail(ErrorKind::shape, "pick_graphs: graph {} of a set of {}", id[b], set.items());
    }
    const int64_t begin = part[id[b]], end = part[id[b] + 1];
    first[b + 1] = first[b] + end - begin;
    first_edge[b + 1] = first_edge[b] + row[end] - row[begin];
  }
  const int64_t nodes = first[graphs], edges = first_edge[graphs];
  batch.nodes = torch::empty({nodes}, torch::kInt64);
  batch.graph_of_node = torch::empty({nodes}, torch::kInt64);
  batch.edge_ids = torch::empty({edges}, torch::kInt64);
  auto adjacency = std::make_shared<Adjacency>();
  for (Csr* csr : {&adjacency->in, &adjacency->out}) {
    csr->rows = csr->cols = nodes;
    csr->offsets = torch::zeros({nodes + 1}, torch::kInt64);
    csr->indices = torch::empty({edges}, torch::kInt32);
  }
  adjacency->out_edge = torch::empty({edges}, torch::kInt64);
  // All edges of a graph lie together, in both directions, so blocks are copied with a constant
  // subtracted; the transpose needs no sorting.
  int64_t* node = batch.nodes.data_ptr<int64_t>();
  int64_t* owner = batch.graph_of_node.data_ptr<int64_t>();
  int64_t* edge_id = batch.edge_ids.data_ptr<int64_t>();
  int64_t* in_offset = adjacency->in.offsets.data_ptr<int64_t>();
  int64_t* out_offset = adjacency->out.offsets.data_ptr<int64_t>();
  int32_t* in_index = adjacency->in.indices.data_ptr<int32_t>();
  int32_t* out_index = adjacency->out.indices.data_ptr<int32_t>();
  int64_t* out_edge = adjacency->out_edge.data_ptr<int64_t>();
  const int32_t* set_in = set.edges->in.index();
  const int32_t* set_out = set.edges->out.index();
  const int64_t* set_edge = set.edges->out_edge.data_ptr<int64_t>();
  parallel_chunks(graphs, kGraphsPerTask, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t from = part[id[b]], count = first[b + 1] - first[b];
      const int64_t edge_from = row[from], out_from = out_row[from];
      const auto moved = static_cast<int32_t>(first[b] - from);
      for (int64_t k = 0; k < count; ++k) {
        node[first[b] + k] = from + k;
        owner[first[b] + k] = b;
        in_offset[first[b] + k + 1] = first_edge[b] + row[from + k + 1] - edge_from;
        out_offset[first[b] + k + 1] = first_edge[b] + out_row[from + k + 1] - out_from;
      }
      for (int64_t e = 0; e < first_edge[b + 1] - first_edge[b]; ++e) {
        edge_id[first_edge[b] + e] = edge_from + e;
        in_index[first_edge[b] + e] = set_in[edge_from + e] + moved;
        out_index[first_edge[b] + e] = set_out[out_from + e] + moved;
        out_edge[first_edge[b] + e] = set_edge[out_from + e] - edge_from + first_edge[b];
      }
    }
  });
  batch.edges = std::move(adjacency);
  return batch;
}

}  // namespace grm
