#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "nn/graph_layers.h"
#include "ops/sparse.h"

namespace grm::nn {
namespace {

torch::Tensor checked(const torch::Tensor& weights, const char* what, const Adjacency& edges,
                      torch::Dtype dtype, const torch::Device& device) {
  if (!weights.defined()) return {};
  if (weights.dim() != 1 || weights.numel() != edges.nnz()) {
    fail(ErrorKind::shape, "graph encoder: {} of {} numbers came for {} edges", what,
         weights.numel(), edges.nnz());
  }
  return on_device(weights, device).to(dtype);
}

torch::Tensor product(const torch::Tensor& a, const torch::Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a * b : a;
}

// The same for a pattern that was made on a GPU.
void source_normalisation_there(const Adjacency& edges, torch::Tensor& by_edge,
                                torch::Tensor& by_node) {
  const auto [source, target] = edge_list(edges);
  const torch::Tensor inverse = 1.0 / (edges.out.offsets.diff() + 1).to(torch::kFloat64);
  by_edge = torch::sqrt(inverse.index_select(0, target) * inverse.index_select(0, source));
  by_node = inverse.unsqueeze(1);
}

// 1 / sqrt(d_i d_j) of every pair and 1 / d_i, d one more than the number of pairs leaving a node.
void source_normalisation(const Adjacency& edges, torch::Tensor& by_edge, torch::Tensor& by_node) {
  if (!edges.out.offsets.device().is_cpu()) {
    source_normalisation_there(edges, by_edge, by_node);
    return;
  }
  const int64_t n = edges.rows();
  by_edge = torch::empty({edges.nnz()}, torch::kFloat64);
  by_node = torch::empty({n, 1}, torch::kFloat64);
  double* inverse = by_node.data_ptr<double>();
  double* weight = by_edge.data_ptr<double>();
  const int64_t *out = edges.out.offset(), *in = edges.in.offset();
  for (int64_t i = 0; i < n; ++i) inverse[i] = 1.0 / static_cast<double>(out[i + 1] - out[i] + 1);
  if (edges.nnz() == 0) return;
  const int32_t* source = edges.in.index();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = in[i]; k < in[i + 1]; ++k) {
      weight[k] = std::sqrt(inverse[i] * inverse[source[k]]);
    }
  }
}

}  // namespace

Messages make_messages(GraphLayerKind kind, const GraphInput& input, torch::Dtype dtype,
                       const torch::Device& device) {
  const Adjacency& edges = *input.edges;
  Messages messages;
  messages.edges = input.edges;
  messages.counted = input.counted;
  if (input.edge_x.sparse || input.edge_x.dense.defined()) messages.edge_x = &input.edge_x;
  const torch::Tensor mask = checked(input.mask, "a mask", edges, dtype, device);
  const torch::Tensor data = checked(input.edge_weights, "edge weights", edges, dtype, device);
  if (kind == GraphLayerKind::gin) {
    messages.weights = mask;
  } else if (kind == GraphLayerKind::gcn) {
    torch::Tensor by_edge, by_node;
    source_normalisation(edges, by_edge, by_node);
    messages.weights = product(on_device(by_edge.to(dtype), device), mask);
    messages.inverse_degree = on_device(by_node.to(dtype), device);
  } else if (kind == GraphLayerKind::arma) {
    const torch::Tensor ones = torch::ones({edges.nnz()}, torch::dtype(dtype).device(device));
    messages.weights = product(ops::normalise(input.edges, data.defined() ? data : ones), mask);
  } else {
    messages.weights = product(data, mask);
    if (kind == GraphLayerKind::le) {
      const torch::Tensor sums = ops::row_sum(input.edges, messages.weights).to(dtype);
      messages.sums = on_device(sums, device).unsqueeze(1);
    }
  }
  return messages;
}

}  // namespace grm::nn
