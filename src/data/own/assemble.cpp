#include <torch/types.h>

#include "data/graph_sets.h"
#include "data/own/preprocessing.h"
#include "data/own/sparse_rows.h"

namespace grm::own {
namespace {

bool is_empty(const Features& x) {
  return !x.sparse && !x.dense.defined();
}

void tell_unknown(const std::string& domain, const std::vector<Unknown>& unknown,
                  std::vector<std::string>& notes) {
  for (const Unknown& each : unknown) {
    notes.push_back(
        fmt::format("domain {}: {} cells of column '{}' hold a category that training does not "
                    "have, such as '{}'; they "
                    "are zero in all of its features",
                    domain, each.count, each.column, shown(each.first)));
  }
}

// The shift that the file gives, with zeros for the flags of missing values.
torch::Tensor shift_of_arrays(const Features& arrays, int64_t given,
                              const std::vector<ColumnRule>& rules) {
  const float* from = arrays.shift.data_ptr<float>();
  std::vector<float> shift(from, from + given);
  for (size_t k = 0; k < rules.size(); ++k) {
    shift.push_back(from[given + static_cast<int64_t>(k)]);
    if (rules[k].flag) shift.push_back(0.0F);
  }
  return torch::tensor(shift, torch::kFloat32);
}

// Arrays as they are, with rules for the columns from `given` on, which the file holds dense.
Features ruled_arrays(const Features& arrays, int64_t given, const std::vector<ColumnRule>& rules,
                      const std::string& name, bool may_be_sparse, std::vector<Unknown>& unknown) {
  if (rules.empty() || arrays.width() == given) return arrays;
  const std::shared_ptr<const Columns> table = columns_of(arrays, given, name);
  const Features ruled = apply_rules(
      rules, {table.get(), torch::arange(table->rows, torch::kInt64)}, may_be_sparse, unknown);
  Features left;
  if (arrays.dense.defined()) {
    left.sparse = arrays.sparse;
    left.sparse_values = arrays.sparse_values;
  } else if (given > 0) {
    left = sparse_columns(arrays, 0, given);
  }
  Features x = side_by_side(left, ruled);
  if (arrays.shift.defined()) {
    const torch::Tensor shift = shift_of_arrays(arrays, given, rules);
    x.shift = x.shift.defined() ? x.shift + shift : shift;
  }
  return x;
}

}  // namespace

std::shared_ptr<const Columns> columns_of(const Features& x, int64_t first,
                                          const std::string& name) {
  auto columns = std::make_shared<Columns>();
  columns->rows = x.rows();
  const int64_t width = x.width() - first;
  const float* dense = x.dense.defined() ? x.dense.data_ptr<float>() : nullptr;
  const float* value = x.sparse_values.defined() ? x.sparse_values.data_ptr<float>() : nullptr;
  for (int64_t k = 0; k < width; ++k) {
    Column column;
    column.name = fmt::format("{}[{}]", name, k);
    if (dense) {
      for (int64_t i = 0; i < columns->rows; ++i) column.numbers.add(dense[i * width + k]);
    } else {
      const Csr& by_column = x.sparse->out;
      for (int64_t e = by_column.offset()[first + k]; e < by_column.offset()[first + k + 1]; ++e) {
        column.numbers.add_zeros(by_column.index()[e] - column.numbers.size());
        const int64_t entry = x.sparse->out_edge.data_ptr<int64_t>()[e];
        column.numbers.add(value ? value[entry] : 1.0F);
      }
      column.numbers.add_zeros(columns->rows - column.numbers.size());
    }
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
  const bool may_be_sparse = raw.level() == Level::node;  // encoders of graphs may need dense rows
  graph.x = raw.columns ? apply_rules(preprocessing.columns, {raw.columns.get(), raw.rows},
                                      may_be_sparse, unknown)
                        : ruled_arrays(raw.x, raw.x_sparse, preprocessing.columns, "x",
                                       may_be_sparse, unknown);
  const bool carry =
      raw.edge_columns || !is_empty(raw.edge_x) || raw.weights.defined() || raw.truth.defined();
  if (raw.level() == Level::node && !carry) {
    graph.edges = make_adjacency(raw.nodes, raw.nodes, raw.source, raw.target);
    if (preprocessing.undirected) graph.edges = symmetrised(*graph.edges);
    tell_unknown(raw.name, unknown, notes);
    return domain;
  }
  graph.parts = raw.parts;
  const torch::Tensor parts = raw.level() == Level::graph
                                  ? raw.parts
                                  : torch::tensor({int64_t{0}, raw.nodes}, torch::kInt64);
  const PackedEdges packed = preprocessing.undirected
                                 ? pack_both_ways(parts, raw.source, raw.target)
                                 : pack_edges(parts, raw.source, raw.target);
  graph.edges = packed.edges;
  const std::vector<ColumnRule>& edge_rules = preprocessing.edge_columns;
  const Features edge_x =
      raw.edge_columns
          ? apply_rules(edge_rules, {raw.edge_columns.get(), raw.edge_rows}, false, unknown)
      : is_empty(raw.edge_x) ? raw.edge_x
                             : ruled_arrays(raw.edge_x, raw.edge_x.sparse_width(), edge_rules,
                                            "edge_attr", false, unknown);
  if (!is_empty(edge_x)) graph.edge_x = pick_rows(edge_x, packed.pair);
  if (raw.weights.defined()) graph.edge_weights = raw.weights.index_select(0, packed.pair);
  if (raw.truth.defined()) domain.labels.edge_truth = raw.truth.index_select(0, packed.pair);
  tell_unknown(raw.name, unknown, notes);
  return domain;
}

}  // namespace grm::own
