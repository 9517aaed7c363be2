#include "nn/convolutions.h"

#include <torch/types.h>

#include <cmath>

#include "ops/sparse.h"

namespace grm::nn {
namespace {

constexpr double kGatSlope = 0.2;
constexpr double kGcniiAlpha = 0.1;

}  // namespace

SageLayer::SageLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out)
    : neighbours(set, name + ".neighbours", in, out), self(set, name + ".self", in, out, false) {}

// The mean is linear, so W_l may come first: sparse features then never become dense rows.
torch::Tensor SageLayer::forward(const torch::Tensor& x, const Propagation& mean) const {
  return mean.apply(torch::mm(x, neighbours.weight)) + neighbours.bias + self.forward(x);
}

torch::Tensor SageLayer::forward(const Features& x, const Propagation& mean) const {
  return mean.apply(ops::feature_linear(x, neighbours.weight)) + neighbours.bias + self.forward(x);
}

GatLayer::GatLayer(ParameterSet& set, const std::string& name, int64_t in,
                   int64_t channels_per_head, int64_t head_count, bool concatenate_heads)
    : heads(head_count), channels(channels_per_head), concatenate(concatenate_heads) {
  const double bound = std::sqrt(6.0 / static_cast<double>(heads + channels));
  weight = set.glorot(name + ".weight", in, heads * channels);
  source = set.uniform(name + ".source", {heads, channels}, bound);
  target = set.uniform(name + ".target", {heads, channels}, bound);
  bias = set.constant(name + ".bias", {concatenate ? heads * channels : channels}, 0.0);
}

torch::Tensor GatLayer::forward(const torch::Tensor& x, const AdjacencyPtr& pattern) const {
  return attend(torch::mm(x, weight), pattern);
}

torch::Tensor GatLayer::forward(const Features& x, const AdjacencyPtr& pattern) const {
  return attend(ops::feature_linear(x, weight), pattern);
}

// u: [n, heads * channels]
torch::Tensor GatLayer::attend(const torch::Tensor& u, const AdjacencyPtr& pattern) const {
  const torch::Tensor by_head = u.view({-1, heads, channels});
  const torch::Tensor as_source = (by_head * source).sum(2);  // [n, heads]
  const torch::Tensor as_target = (by_head * target).sum(2);
  const auto [from, to] = edge_list(pattern->on(u.device()));
  const torch::Tensor score = torch::leaky_relu(
      ops::gather_rows(as_source, from) + ops::gather_rows(as_target, to), kGatSlope);
  const torch::Tensor alpha = ops::row_softmax(pattern, score);  // [nnz, heads]
  std::vector<torch::Tensor> mixed;
  for (int64_t t = 0; t < heads; ++t) {
    mixed.push_back(ops::spmm(pattern, alpha.select(1, t).contiguous(),
                              u.narrow(1, t * channels, channels).contiguous()));
  }
  return (concatenate ? torch::cat(mixed, 1) : torch::stack(mixed).mean(0)) + bias;
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
