#include "grm/train/shapes.h"

#include <torch/types.h>

#include <algorithm>
#include <cstdlib>

namespace grm {

GraphShape shape_of(const Graph& graph) {
  GraphShape shape;
  shape.nodes = static_cast<double>(graph.nodes());
  shape.edges = static_cast<double>(graph.edges->nnz());
  shape.features = static_cast<double>(graph.x.width());
  shape.items = static_cast<double>(graph.items());
  if (graph.x.sparse) shape.sparse = static_cast<double>(graph.x.sparse->nnz());
  if (graph.x.dense.defined()) shape.dense = static_cast<double>(graph.x.dense.size(1));
  return shape;
}

BatchShape operator+(const BatchShape& a, const BatchShape& b) {
  return {a.graphs + b.graphs, a.rows + b.rows, a.edges + b.edges, a.pairs + b.pairs,
          a.half_pairs + b.half_pairs};
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

BatchShape ego_shape(const Domain& domain, const std::vector<int64_t>& fanout, int64_t count,
                     int64_t drawn) {
  const int64_t all = domain.labels.loss.numel();
  const int64_t wanted = std::min({count, drawn, all});
  if (wanted == 0) return {};
  const Rng rng(0);
  const std::vector<int64_t> chosen = rng.stream("shape-targets").choose(all, wanted);
  const torch::Tensor targets =
      domain.labels.loss.index_select(0, torch::tensor(chosen, torch::kInt64));
  const GraphBatch batch =
      ego_batch(*domain.graph.edges, targets, fanout, rng.stream("shape-neighbours"));
  return shape_of(batch) * (static_cast<double>(count) / static_cast<double>(wanted));
}

const Option* OptionValues::find(const std::string& key) const {
  for (const Option& option : list_.options()) {
    if (option.key == key) return &option;
  }
  return nullptr;
}

bool OptionValues::has(const std::string& key) const {
  return find(key) != nullptr;
}

double OptionValues::number(const std::string& key, double otherwise) const {
  const Option* option = find(key);
  return option ? std::strtod(option->get().c_str(), nullptr) : otherwise;
}

bool OptionValues::flag(const std::string& key, bool otherwise) const {
  const Option* option = find(key);
  return option ? option->get() == "true" : otherwise;
}

std::string OptionValues::text(const std::string& key, const std::string& otherwise) const {
  const Option* option = find(key);
  if (!option) return otherwise;
  std::string value = option->get();  // as TOML writes it; words of choices need no escapes
  if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
  return value;
}

GrmOptions grm_options(const OptionList& list, bool graph_level) {
  GrmOptions options = graph_level ? graph_level_options() : GrmOptions{};
  OptionList own;
  if (graph_level) {
    options.declare_graph_level(own);
  } else {
    options.declare(own);
  }
  for (const Option& option : list.options()) own.set("method", option.key, option.get());
  return options;
}

int64_t grm_steps(const GrmOptions& options, const std::vector<Domain>& training) {
  if (options.scope == Scope::whole) return 1;
  if (options.steps > 0) return options.steps;
  int64_t largest = 1;
  for (const Domain& domain : training) largest = std::max(largest, domain.labels.loss.numel());
  return (largest + options.batch - 1) / options.batch;
}

double grm_targets(const GrmOptions& options, const Domain& domain, int64_t steps) {
  const int64_t all = domain.labels.loss.numel();
  if (options.scope == Scope::whole || options.steps == 0) return static_cast<double>(all);
  return static_cast<double>(steps * std::min(options.batch, all));
}

}  // namespace grm
