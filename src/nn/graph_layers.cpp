#include "nn/graph_layers.h"

#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "ops/bias.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace grm::nn {
namespace {

// What edges add to messages, [nnz, width]: for one-hot columns the sum of their table rows.
torch::Tensor edge_rows(const torch::Tensor& table, const Messages& messages) {
  if (!table.defined()) return {};
  if (!messages.edge_x) {
    fail(ErrorKind::shape, "graph encoder: edges without features came, {} columns were expected",
         table.size(0));
  }
  return ops::feature_linear(*messages.edge_x, table);
}

torch::Tensor make_edge_table(ParameterSet& set, const std::string& name, int64_t edge_width,
                              int64_t width) {
  if (edge_width == 0) return {};
  return set.glorot(name + ".edges", edge_width, width);
}

}  // namespace

LeLayer::LeLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out)
    : source(set, name + ".source", in, out),
      target(set, name + ".target", in, out, false),
      self(set, name + ".self", in, out) {}

torch::Tensor LeLayer::forward(const torch::Tensor& rows, const Messages& messages, const Pass&) {
  const torch::Tensor received = ops::spmm(messages.edges, messages.weights, source.forward(rows));
  return self.forward(rows) + received - messages.sums * target.forward(rows);
}

SumLayer::SumLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out)
    : neighbours(set, name + ".neighbours", in, out), self(set, name + ".self", in, out, false) {}

torch::Tensor SumLayer::forward(const torch::Tensor& rows, const Messages& messages, const Pass&) {
  const torch::Tensor received = ops::spmm(messages.edges, messages.weights, rows);
  return torch::addmm(neighbours.forward(received), rows, self.weight);
}

ArmaLayer::ArmaLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out)
    : weight(set.glorot(name + ".weight", in, out)),
      root(set.glorot(name + ".root", in, out)),
      bias(set.constant(name + ".bias", {out}, 0.0)) {}

torch::Tensor ArmaLayer::forward(const torch::Tensor& rows, const Messages& messages, const Pass&) {
  const torch::Tensor received =
      ops::spmm(messages.edges, messages.weights, torch::mm(rows, weight));
  return torch::relu(received + ops::affine(rows, root, bias));
}

GinLayer::GinLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out,
                   int64_t edge_width)
    : edge_table(make_edge_table(set, name, edge_width, in)),
      eps(set.constant(name + ".eps", {1}, 0.0)),
      first(set, name + ".first", in, 2 * out),
      second(set, name + ".second", 2 * out, out),
      norm(set, name + ".norm", 2 * out) {}

torch::Tensor GinLayer::forward(const torch::Tensor& rows, const Messages& messages,
                                const Pass& pass) {
  const torch::Tensor received =
      ops::relu_messages(messages.edges, messages.weights, rows, edge_rows(edge_table, messages));
  const torch::Tensor sum = torch::addcmul(rows + received, rows, eps);
  return second.forward(torch::relu(norm.forward(first.forward(sum), pass, messages.counted)));
}

OgbGcnLayer::OgbGcnLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out,
                         int64_t edge_width)
    : edge_table(make_edge_table(set, name, edge_width, out)),
      root(set.uniform(name + ".root", {out}, std::sqrt(3.0))),
      linear(set, name + ".linear", in, out) {}

torch::Tensor OgbGcnLayer::forward(const torch::Tensor& rows, const Messages& messages,
                                   const Pass&) {
  const torch::Tensor u = linear.forward(rows);
  const torch::Tensor received =
      ops::relu_messages(messages.edges, messages.weights, u, edge_rows(edge_table, messages));
  return torch::addcmul(received, torch::relu(u + root), messages.inverse_degree);
}

std::unique_ptr<GraphLayer> make_graph_layer(ParameterSet& set, GraphLayerKind kind,
                                             const std::string& name, int64_t in, int64_t out,
                                             int64_t edge_width) {
  switch (kind) {
    case GraphLayerKind::gin:
      return std::make_unique<GinLayer>(set, name, in, out, edge_width);
    case GraphLayerKind::gcn:
      return std::make_unique<OgbGcnLayer>(set, name, in, out, edge_width);
    case GraphLayerKind::le:
      return std::make_unique<LeLayer>(set, name, in, out);
    case GraphLayerKind::graph:
      return std::make_unique<SumLayer>(set, name, in, out);
    case GraphLayerKind::arma:
      return std::make_unique<ArmaLayer>(set, name, in, out);
    case GraphLayerKind::own:
      break;  // no layers
  }
  throw InternalError("make_graph_layer: unknown kind");
}

std::vector<std::pair<double, double>> graph_layer_maps(GraphLayerKind kind, double in,
                                                        double out) {
  if (kind == GraphLayerKind::gin) return {{in, 2 * out}, {2 * out, out}};
  if (kind == GraphLayerKind::gcn) return {{in, out}};
  if (kind == GraphLayerKind::le) return {{in, out}, {in, out}, {in, out}};
  return {{in, out}, {in, out}};  // of the neighbours and of the node itself
}

}  // namespace grm::nn
