#include "nn/convolutions.h"

#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "ops/bias.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace grm::nn {
namespace {

constexpr double kGcniiAlpha = 0.1;

}  // namespace

SageLayer::SageLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out)
    : neighbours(set, name + ".neighbours", in, out), self(set, name + ".self", in, out, false) {}

// The mean is linear, so W_l may come first: sparse features then never become dense rows.
torch::Tensor SageLayer::forward(const torch::Tensor& x, const Propagation& mean) const {
  return mean.apply(torch::mm(x, neighbours.weight)) + neighbours.bias +
         first_rows(self.forward(x), mean.pattern->rows());
}

torch::Tensor SageLayer::forward(const Features& x, const Propagation& mean) const {
  return mean.apply(ops::feature_linear(x, neighbours.weight)) + neighbours.bias +
         first_rows(self.forward(x), mean.pattern->rows());
}

GinConv::GinConv(ParameterSet& set, const std::string& name, int64_t in, int64_t width, int64_t out,
                 int64_t edge_width, bool batch_norm)
    : eps(set.constant(name + ".eps", {1}, 0.0)),
      first(set, name + ".first", in, width),
      second(set, name + ".second", width, out) {
  if (edge_width > 0) table = set.glorot(name + ".edges", edge_width, in);
  if (batch_norm) norm = BatchNorm(set, name + ".norm", width);
}

torch::Tensor GinConv::forward(const torch::Tensor& x, const GinEdges& edges, const Pass& pass) {
  if (!table.defined()) {
    const torch::Tensor u = torch::mm(x, first.weight);
    return finish(received(u, edges), pass);
  }
  if (!edges.edge_x.sparse && !edges.edge_x.dense.defined()) {
    fail(ErrorKind::shape, "gin: edges without features came, {} columns were expected",
         table.size(0));
  }
  const torch::Tensor messages =
      ops::relu_messages(edges.edges, edges.weights, x, ops::feature_linear(edges.edge_x, table));
  const torch::Tensor own = first_rows(x, edges.edges->rows());
  return finish(first.forward(torch::addcmul(own + messages, own, eps)), pass);
}

torch::Tensor GinConv::received(const torch::Tensor& u, const GinEdges& edges) const {
  const torch::Tensor own = first_rows(u, edges.edges->rows());
  const torch::Tensor sum = own + ops::spmm(edges.edges, edges.weights, u);
  return ops::add_bias(torch::addcmul(sum, own, eps), first.bias);
}

torch::Tensor GinConv::forward(const Features& x, const GinEdges& edges, const Pass& pass) {
  ensure(!table.defined(), "GinConv: features of edges need dense rows of nodes");
  const torch::Tensor u = ops::feature_linear(x, first.weight);
  return finish(received(u, edges), pass);
}

torch::Tensor GinConv::finish(const torch::Tensor& mapped, const Pass& pass) {
  const torch::Tensor rows = norm.gamma.defined() ? norm.forward(mapped, pass) : mapped;
  return second.forward(torch::relu(rows));
}

GcniiLayer::GcniiLayer(ParameterSet& set, const std::string& name, int64_t width, int64_t layer)
    : weight(set.uniform(name + ".weight", {width, width},
                         1.0 / std::sqrt(static_cast<double>(width)))),
      theta(std::log1p(1.0 / static_cast<double>(layer))) {}

torch::Tensor GcniiLayer::forward(const torch::Tensor& h, const torch::Tensor& h0,
                                  const Propagation& p) const {
  const torch::Tensor s = (1.0 - kGcniiAlpha) * p.apply(h) + kGcniiAlpha * h0;
  return torch::addmm(s, s, weight, 1.0 - theta, theta);
}

torch::Tensor generalised_pagerank(const Propagation& p, const torch::Tensor& h,
                                   const torch::Tensor& coefficients) {
  torch::Tensor power = h;
  torch::Tensor sum = coefficients.select(0, 0) * power;
  for (int64_t k = 1; k < coefficients.numel(); ++k) {
    power = p.apply(power);
    sum = sum + coefficients.select(0, k) * power;
  }
  return sum;
}

torch::Tensor pagerank_coefficients(int64_t steps, double alpha, torch::Dtype dtype) {
  std::vector<double> values;
  for (int64_t k = 0; k < steps; ++k) values.push_back(alpha * std::pow(1.0 - alpha, k));
  values.push_back(std::pow(1.0 - alpha, steps));
  return torch::tensor(values, torch::dtype(torch::kFloat64)).to(dtype);
}

}  // namespace grm::nn
