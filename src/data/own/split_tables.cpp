#include <algorithm>

#include "data/graph_sets.h"
#include "data/own/tables.h"

namespace grm::own {
namespace {

torch::Tensor tensor_of(const std::vector<int64_t>& values) {
  torch::Tensor result = torch::empty({static_cast<int64_t>(values.size())}, torch::kInt64);
  std::copy(values.begin(), values.end(), result.data_ptr<int64_t>());
  return result;
}

// Rows of one domain's items, nodes and edges.
struct Share {
  std::vector<int64_t> items, nodes, edges;
  torch::Tensor parts;
};

// Puts the nodes of each graph one after the other: a counting sort by graph. `local` receives the
// new number of every node.
void order_by_graph(const NodeTables& tables, std::vector<Share>& shares,
                    std::vector<int64_t>& local) {
  std::vector<int64_t> size(tables.domain_of_item.size(), 0), next(size);
  for (const int64_t g : tables.graph_of_node) ++size[g];
  for (Share& share : shares) {
    std::vector<int64_t> sizes;
    for (const int64_t g : share.items) sizes.push_back(size[g]);
    share.parts = parts_of(sizes);
    const int64_t* part = share.parts.data_ptr<int64_t>();
    for (size_t k = 0; k < sizes.size(); ++k) next[share.items[k]] = part[k];
    share.nodes.resize(part[sizes.size()]);
  }
  for (size_t v = 0; v < local.size(); ++v) {
    const int64_t g = tables.graph_of_node[v];
    const int64_t k = tables.chosen[tables.domain_of_item[g]];
    if (k < 0) continue;
    local[v] = next[g]++;
    shares[k].nodes[local[v]] = static_cast<int64_t>(v);
  }
}

}  // namespace

std::vector<RawDomain> split_tables(const NodeTables& tables, const EdgeTable& edges,
                                    const std::string& file) {
  std::vector<Share> shares(tables.wanted.size());
  std::vector<int64_t> local(tables.columns->rows, -1);  // number of a node in its domain
  for (size_t i = 0; i < tables.domain_of_item.size(); ++i) {
    const int64_t k = tables.chosen[tables.domain_of_item[i]];
    if (k < 0) continue;
    if (!tables.by_graph) local[i] = static_cast<int64_t>(shares[k].items.size());
    shares[k].items.push_back(static_cast<int64_t>(i));
  }
  if (tables.by_graph) {
    order_by_graph(tables, shares, local);
  } else {
    for (Share& share : shares) share.nodes = share.items;
  }
  for (size_t e = 0; e < edges.source.size(); ++e) {
    const int64_t k = tables.chosen[tables.domain_of_node(edges.source[e])];
    shares[k].edges.push_back(static_cast<int64_t>(e));
  }
  std::vector<RawDomain> result;
  for (size_t k = 0; k < shares.size(); ++k) {
    const Share& share = shares[k];
    if (share.nodes.empty()) continue;  // told when the domain was looked for
    RawDomain raw;
    raw.name = tables.wanted[k];
    raw.file = file;
    raw.nodes = static_cast<int64_t>(share.nodes.size());
    raw.parts = share.parts;
    raw.columns = tables.columns;
    raw.rows = tensor_of(share.nodes);
    raw.edge_rows = tensor_of(share.edges);
    if (!edges.columns->list.empty()) raw.edge_columns = edges.columns;
    std::vector<int64_t> source, target;
    std::vector<float> weights;
    for (const int64_t e : share.edges) {
      source.push_back(local[edges.source[e]]);
      target.push_back(local[edges.target[e]]);
      if (edges.has_weights) weights.push_back(edges.weights[e]);
    }
    raw.source = tensor_of(source);
    raw.target = tensor_of(target);
    if (edges.has_weights) raw.weights = torch::tensor(weights, torch::kFloat32);
    if (tables.tasks > 0) {
      raw.targets = torch::tensor(tables.targets, torch::kFloat32)
                        .view({-1, tables.tasks})
                        .index_select(0, tensor_of(share.items));
    } else {
      raw.label_texts = tables.labels;
    }
    if (!tables.role_of_item.empty()) {
      raw.role = tensor_of(tables.role_of_item).index_select(0, tensor_of(share.items));
    }
    raw.label_rows = tensor_of(share.items);
    const Names& names = tables.by_graph ? tables.graphs : tables.ids;
    for (const int64_t i : share.items) raw.item_names.push_back(names[i]);
    result.push_back(std::move(raw));
  }
  return result;
}

}  // namespace grm::own
