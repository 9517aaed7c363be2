#include "data/graph_sets.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "io/csv.h"

namespace grm {
namespace {

torch::Tensor plain(const torch::Tensor& ids) {
  return ids.to(torch::kInt64).contiguous();
}

bool is_empty(const Features& x) {
  return !x.sparse && !x.dense.defined();
}

// The graphs follow each other, so a pair stays inside one if both ends have the same last start.
void check_pairs(const torch::Tensor& parts, const torch::Tensor& source,
                 const torch::Tensor& target) {
  const int64_t* part = parts.data_ptr<int64_t>();
  const int64_t graphs = parts.numel() - 1, nodes = part[graphs];
  const int64_t* s = source.data_ptr<int64_t>();
  const int64_t* t = target.data_ptr<int64_t>();
  for (int64_t k = 0; k < source.numel(); ++k) {
    if (std::min(s[k], t[k]) < 0 || std::max(s[k], t[k]) >= nodes) {
      fail(ErrorKind::data, "edge {} is {} -> {}, but the nodes of the set are 0..{}", k, s[k],
           t[k], nodes - 1);
    }
    const int64_t graph = std::upper_bound(part, part + graphs + 1, s[k]) - part - 1;
    if (t[k] < part[graph] || t[k] >= part[graph + 1]) {
      fail(ErrorKind::data, "edge {} is {} -> {}, which leaves graph {} with its nodes {}..{}", k,
           s[k], t[k], graph, part[graph], part[graph + 1] - 1);
    }
  }
}

}  // namespace

torch::Tensor parts_of(const std::vector<int64_t>& nodes) {
  torch::Tensor parts = torch::zeros({static_cast<int64_t>(nodes.size()) + 1}, torch::kInt64);
  int64_t* part = parts.data_ptr<int64_t>();
  for (size_t g = 0; g < nodes.size(); ++g) part[g + 1] = part[g] + nodes[g];
  return parts;
}

PackedEdges pack_edges(const torch::Tensor& parts, const torch::Tensor& source,
                       const torch::Tensor& target) {
  const torch::Tensor from = plain(source), to = plain(target);
  if (from.numel() != to.numel()) {
    fail(ErrorKind::shape, "{} sources but {} targets of edges", from.numel(), to.numel());
  }
  check_pairs(parts, from, to);
  const int64_t nodes = parts[-1].item<int64_t>(), pairs = from.numel();
  if (nodes > INT32_MAX) {
    fail(ErrorKind::data, "a set of {} nodes is beyond the limit of {}", nodes, INT32_MAX);
  }
  const int64_t* s = from.data_ptr<int64_t>();
  const int64_t* t = to.data_ptr<int64_t>();
  std::vector<int64_t> first(nodes + 1, 0);
  for (int64_t k = 0; k < pairs; ++k) ++first[t[k] + 1];
  for (int64_t i = 0; i < nodes; ++i) first[i + 1] += first[i];
  std::vector<int64_t> order(pairs), next(first.begin(), first.end() - 1);
  for (int64_t k = 0; k < pairs; ++k) order[next[t[k]]++] = k;  // by target, then as given

  Csr in;
  in.rows = in.cols = nodes;
  in.offsets = torch::zeros({nodes + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  int64_t kept = 0;
  for (int64_t i = 0; i < nodes; ++i) {
    const auto begin = order.begin() + first[i], end = order.begin() + first[i + 1];
    std::stable_sort(begin, end, [&](int64_t a, int64_t b) { return s[a] < s[b]; });
    const auto last = std::unique(begin, end, [&](int64_t a, int64_t b) { return s[a] == s[b]; });
    kept = std::copy(begin, last, order.begin() + kept) - order.begin();
    offset[i + 1] = kept;
  }
  order.resize(kept);
  PackedEdges packed;
  packed.pair = torch::tensor(order, torch::kInt64);
  in.indices = from.index_select(0, packed.pair).to(torch::kInt32);
  packed.edges = with_transpose(std::move(in));
  return packed;
}

PackedEdges pack_both_ways(const torch::Tensor& parts, const torch::Tensor& source,
                           const torch::Tensor& target) {
  PackedEdges packed =
      pack_edges(parts, torch::cat({source, target}), torch::cat({target, source}));
  if (source.numel() > 0) packed.pair = packed.pair.remainder(source.numel());
  return packed;
}

Graph as_set(const GraphBatch& batch, const std::string& name) {
  Graph set;
  set.name = name;
  set.edges = batch.edges;
  set.parts = batch.node_offsets;
  return set;
}

Graph pick_set(const Graph& set, const torch::Tensor& ids, const std::string& name) {
  const GraphBatch batch = pick_graphs(set, ids);
  Graph picked = as_set(batch, name);
  picked.x = pick_rows(set.x, batch.nodes);
  if (!is_empty(set.edge_x)) picked.edge_x = pick_rows(set.edge_x, batch.edge_ids);
  if (set.edge_weights.defined()) {
    picked.edge_weights = set.edge_weights.index_select(0, batch.edge_ids);
  }
  return picked;
}

double quantile_of(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

torch::Tensor read_split(const std::string& path, std::vector<bool>& taken) {
  const auto graphs = static_cast<int64_t>(taken.size());
  std::vector<int64_t> ids;
  io::read_csv(path, [&](const io::CsvRow& row) {
    row.expect_size(1);
    const int64_t id = row.parse_int(0);
    if (id < 0 || id >= graphs) {
      fail(ErrorKind::data, "{}:{}: graph {} of a set of {}", path, row.line, id, graphs);
    }
    if (taken[id]) {
      fail(ErrorKind::data, "{}:{}: graph {} came before, here or in another split", path, row.line,
           id);
    }
    taken[id] = true;
    ids.push_back(id);
  });
  return torch::tensor(ids, torch::kInt64);
}

void add_reverse_edges(Domain& domain) {
  Graph& set = domain.graph;
  const torch::Tensor parts = set.level() == Level::graph
                                  ? set.parts
                                  : torch::tensor({int64_t{0}, set.nodes()}, torch::kInt64);
  const auto [source, target] = edge_list(*set.edges);
  const PackedEdges both = pack_both_ways(parts, source, target);
  set.edges = both.edges;
  if (!is_empty(set.edge_x)) set.edge_x = pick_rows(set.edge_x, both.pair);
  if (set.edge_weights.defined()) set.edge_weights = set.edge_weights.index_select(0, both.pair);
  torch::Tensor& truth = domain.labels.edge_truth;
  if (truth.defined()) truth = truth.index_select(0, both.pair);
}

void Treatment::operator()(Domain& domain) {
  Graph& graph = domain.graph;
  const bool carry = graph.edge_weights.defined() || !is_empty(graph.edge_x);
  if (symmetrise_ && (graph.level() == Level::graph || carry)) {
    add_reverse_edges(domain);
  } else if (symmetrise_) {
    AdjacencyPtr& both = done_[graph.edges.get()];
    if (!both) both = symmetrised(*graph.edges);
    graph.edges = both;
  }
  if (centre_ == Centring::domain) graph.x = graph.x.centred();
}

}  // namespace grm
