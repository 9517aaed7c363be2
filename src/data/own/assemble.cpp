#include <torch/types.h>

#include "grm/data/graph_sets.h"
#include "preprocessing.h"

namespace grm::own {
namespace {

bool is_empty(const Features& x) {
  return !x.sparse && !x.dense.defined();
}

void tell_unknown(const std::string& domain, const std::vector<Unknown>& unknown,
                  std::vector<std::string>& notes) {
  for (const Unknown& each : unknown) {
    notes.push_back(fmt::format(
        "domain {}: {} cells of column '{}' hold a category that training has not, as '{}'; they "
        "are zero in all of its features",
        domain, each.count, each.column, shown(each.first)));
  }
}

// Rows of a table by the rules, or arrays as they are with rules for their dense part.
Features features_of(const Features& arrays, const std::shared_ptr<const Columns>& columns,
                     const torch::Tensor& rows, const std::vector<ColumnRule>& rules,
                     const std::string& name, std::vector<Unknown>& unknown) {
  if (columns) return apply_rules(rules, {columns.get(), rows}, unknown);
  if (rules.empty() || !arrays.dense.defined()) return arrays;
  const std::shared_ptr<const Columns> table = columns_of(arrays.dense, name);
  Features x = arrays;
  x.dense =
      apply_rules(rules, {table.get(), torch::arange(table->rows, torch::kInt64)}, unknown).dense;
  const int64_t added = x.dense.size(1) - arrays.dense.size(1);
  if (x.shift.defined() && added > 0) {  // the flags of missing values come last
    x.shift = torch::cat({x.shift, torch::zeros({added})});
  }
  return x;
}

}  // namespace

std::shared_ptr<const Columns> columns_of(const torch::Tensor& dense, const std::string& name) {
  auto columns = std::make_shared<Columns>();
  columns->rows = dense.size(0);
  const float* value = dense.data_ptr<float>();
  const int64_t width = dense.size(1);
  for (int64_t k = 0; k < width; ++k) {
    Column column;
    column.name = fmt::format("{}[{}]", name, k);
    column.numbers.resize(columns->rows);
    for (int64_t i = 0; i < columns->rows; ++i) column.numbers[i] = value[i * width + k];
    columns->list.push_back(std::move(column));
  }
  return columns;
}

Domain assemble(const RawDomain& raw, const Preprocessing& preprocessing,
                std::vector<std::string>& notes) {
  Domain domain;
  domain.name = domain.group = domain.graph.name = raw.name;
  domain.item_names = raw.item_names;
  Graph& graph = domain.graph;
  std::vector<Unknown> unknown;
  graph.x = features_of(raw.x, raw.columns, raw.rows, preprocessing.columns, "x", unknown);
  if (!raw.parts.defined()) {
    graph.edges = make_adjacency(raw.nodes, raw.nodes, raw.source, raw.target);
    if (preprocessing.undirected) graph.edges = symmetrised(*graph.edges);
    tell_unknown(raw.name, unknown, notes);
    return domain;
  }
  graph.parts = raw.parts;
  const PackedEdges packed = preprocessing.undirected
                                 ? pack_both_ways(raw.parts, raw.source, raw.target)
                                 : pack_edges(raw.parts, raw.source, raw.target);
  graph.edges = packed.edges;
  const Features edge_x = features_of(raw.edge_x, raw.edge_columns, raw.edge_rows,
                                      preprocessing.edge_columns, "edge_attr", unknown);
  if (!is_empty(edge_x)) graph.edge_x = pick_rows(edge_x, packed.pair);
  if (raw.weights.defined()) graph.edge_weights = raw.weights.index_select(0, packed.pair);
  if (raw.truth.defined()) domain.labels.edge_truth = raw.truth.index_select(0, packed.pair);
  tell_unknown(raw.name, unknown, notes);
  return domain;
}

}  // namespace grm::own
