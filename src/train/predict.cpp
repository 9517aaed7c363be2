#include "grm/train/predict.h"

#include <torch/types.h>

#include <algorithm>

#include "data/graph_sets.h"
#include "grm/core/error.h"
#include "nn/losses.h"
#include "train/calibration.h"
#include "train/metrics.h"

namespace grm {
namespace {

bool is_integer(const torch::Tensor& tensor) {
  return torch::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

// First node of each graph from the graph of each node.
torch::Tensor parts_from_graphs(const torch::Tensor& graph, int64_t nodes) {
  if (graph.dim() != 1 || graph.size(0) != nodes || !is_integer(graph)) {
    fail(ErrorKind::shape, "make_graph: graph must be [{}] integers, the graph of each node",
         nodes);
  }
  const torch::Tensor ids = graph.to(torch::kInt64).contiguous();
  const int64_t* id = ids.data_ptr<int64_t>();
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < nodes; ++i) {
    const auto last = static_cast<int64_t>(sizes.size()) - 1;
    if (id[i] == last + 1) {
      sizes.push_back(1);
    } else if (id[i] == last && last >= 0) {
      ++sizes.back();
    } else {
      fail(ErrorKind::data,
           "make_graph: node {} is of graph {} after graph {}; graphs must be numbered from 0 and "
           "follow each other without a gap",
           i, id[i], last);
    }
  }
  return parts_of(sizes);
}

bool has_columns(const Features& x) {
  return x.sparse || x.dense.defined();
}

bool finite(const Features& x) {
  const auto all = [](const torch::Tensor& t) {
    return !t.defined() || torch::isfinite(t).all().item<bool>();
  };
  return all(x.dense) && all(x.sparse_values) && all(x.shift);
}

}  // namespace

Model::Model(ModelFile file)
    : file_(std::move(file)),
      temperature_(file_.about.temperature),
      method_(restore_method(file_)) {
  file_.weights.clear();  // the method has its own copies
}

Model load(const std::string& path) {
  return Model(read_model(path));
}

std::string Model::label(int64_t c) const {
  const std::vector<std::string>& names = about().label_names;
  return names.empty() ? std::to_string(c) : names.at(static_cast<size_t>(c));
}

Graph Model::prepared(const Graph& graph) const {
  const bool sets = about().level == Level::graph;
  if (!graph.edges || !has_columns(graph.x) || graph.x.rows() != graph.nodes()) {
    fail(ErrorKind::shape, "{}: a graph needs edges and a row of features for each node",
         graph.name);
  }
  if (!sets && graph.level() == Level::graph) {
    fail(ErrorKind::shape, "{}: the model classifies nodes of one graph, this is a set of graphs",
         graph.name);
  }
  if (graph.x.width() != features()) {
    fail(ErrorKind::shape, "{}: {} features came, the model was trained on {}", graph.name,
         graph.x.width(), features());
  }
  const int64_t edge_features = has_columns(graph.edge_x) ? graph.edge_x.width() : 0;
  if (edge_features != about().edge_features && (sets || about().edge_features > 0)) {
    fail(ErrorKind::shape, "{}: {} features of edges came, the model was trained on {}", graph.name,
         edge_features, about().edge_features);
  }
  if (!finite(graph.x)) fail(ErrorKind::data, "{}: a feature is not a finite number", graph.name);
  Domain domain;
  domain.graph = graph;
  if (sets && graph.level() == Level::node) {
    domain.graph.parts = torch::tensor({int64_t{0}, graph.nodes()}, torch::kInt64);
  }
  Treatment(about().symmetrise, about().centre)(domain);
  return domain.graph;
}

Prediction Model::predict_prepared(const Graph& graph, const torch::Tensor& items) {
  const at::NoGradGuard no_grad;
  Prediction p;
  torch::Tensor sampled;
  if (items.numel() == 0) {
    p.logits = torch::empty({0, classes()}, torch::kFloat32);
  } else {
    sampled = method_->sampled_probabilities(graph, items);
    if (sampled.defined()) sampled = sampled.cpu();
    p.logits = sampled.defined() ? nn::logits_of_samples(about().loss, sampled)
                                 : method_->logits(graph, items).cpu();
  }
  const Target target = target_of(about().loss);
  if (target == Target::classes) {
    p.classes = predicted_class(p.logits);
    p.probabilities = tempered_probabilities(p.logits, temperature_);
  } else if (target == Target::multi_label) {
    p.probabilities = torch::sigmoid(p.logits);
  } else {
    p.values = about().target_scale.restored(p.logits);
  }
  if (!torch::isfinite(p.values.defined() ? p.values : p.probabilities).all().item<bool>()) {
    fail(ErrorKind::data,
         "{}: its predictions for {} are not numbers: weights or features are too large",
         file_.path, graph.name);
  }
  if (target == Target::regression) return p;
  if (target == Target::multi_label) {
    const torch::Tensor yes = p.probabilities.to(torch::kFloat64);
    p.entropy =
        (torch::special_entr(yes) + torch::special_entr(1.0 - yes)).sum(1).to(torch::kFloat32);
    return p;
  }
  p.entropy = torch::special_entr(p.probabilities.to(torch::kFloat64)).sum(1).to(torch::kFloat32);
  if (sampled.defined()) {
    if (temperature_ != 1.0) {
      sampled = tempered_probabilities(torch::log(sampled.clamp_min(1e-30)), temperature_);
    }
    const torch::Tensor at = p.classes.view({1, -1, 1}).expand({sampled.size(0), -1, 1});
    p.spread = sampled.gather(2, at)
                   .squeeze(2)
                   .to(torch::kFloat64)
                   .std(0, /*unbiased=*/false)
                   .to(torch::kFloat32);
  }
  return p;
}

Prediction Model::predict(const Graph& graph, const torch::Tensor& items) {
  const Graph ready = prepared(graph);
  const torch::Tensor ids = items.to(torch::kInt64).contiguous();
  if (ids.numel() > 0 && (ids.dim() != 1 || ids.min().item<int64_t>() < 0 ||
                          ids.max().item<int64_t>() >= ready.items())) {
    fail(ErrorKind::shape, "{}: items must be a list of numbers in 0..{}", graph.name,
         ready.items() - 1);
  }
  Prediction p = predict_prepared(ready, ids);
  forget_graphs();
  return p;
}

Prediction Model::predict(const Graph& graph) {
  const Graph ready = prepared(graph);
  Prediction p = predict_prepared(ready, torch::arange(ready.items(), torch::kInt64));
  forget_graphs();
  return p;
}

Graph make_graph(const torch::Tensor& edge_index, const torch::Tensor& x,
                 const torch::Tensor& graph, const torch::Tensor& edge_attr) {
  if (edge_index.dim() != 2 || edge_index.size(0) != 2 || !is_integer(edge_index)) {
    fail(ErrorKind::shape, "make_graph: edge_index must be [2, m] integers, sources and targets");
  }
  if (x.dim() != 2 || x.size(0) == 0 || x.size(1) == 0) {
    fail(ErrorKind::shape, "make_graph: x must be [n, d], a row of features for each node");
  }
  const int64_t nodes = x.size(0), pairs = edge_index.size(1);
  Graph result;
  if (graph.defined()) result.parts = parts_from_graphs(graph, nodes);
  const torch::Tensor whole = torch::tensor({int64_t{0}, nodes}, torch::kInt64);
  const PackedEdges packed =
      pack_edges(graph.defined() ? result.parts : whole, edge_index[0], edge_index[1]);
  result.edges = packed.edges;
  result.x.dense = x.to(torch::kFloat32).contiguous();
  if (edge_attr.defined()) {
    if (edge_attr.dim() != 2 || edge_attr.size(0) != pairs) {
      fail(ErrorKind::shape, "make_graph: edge_attr must be [{}, k], a row for each pair", pairs);
    }
    result.edge_x.dense = edge_attr.to(torch::kFloat32).index_select(0, packed.pair);
  }
  return result;
}

}  // namespace grm
