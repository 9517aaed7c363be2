#include "grm/nn/layers.h"

#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "ops/bias.h"
#include "ops/propagate.h"
#include "ops/sparse.h"

namespace grm::nn {

Linear::Linear(ParameterSet& set, const std::string& name, int64_t in, int64_t out,
               bool with_bias) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight = set.uniform(name + ".weight", {in, out}, bound);
  if (with_bias) bias = set.uniform(name + ".bias", {out}, bound);
}

torch::Tensor Linear::forward(const torch::Tensor& x) const {
  return bias.defined() ? ops::affine(x, weight, bias) : torch::mm(x, weight);
}

torch::Tensor Linear::forward(const Features& x) const {
  const torch::Tensor y = ops::feature_linear(x, weight);
  return bias.defined() ? ops::add_bias(y, bias) : y;
}

GcnLayer::GcnLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out)
    : weight(set.glorot(name + ".weight", in, out)),
      bias(set.constant(name + ".bias", {out}, 0.0)) {}

torch::Tensor GcnLayer::forward(const torch::Tensor& x, const Propagation& p) const {
  return ops::propagate(p.pattern, p.weights, torch::mm(x, weight), bias, ops::Activation::none);
}

torch::Tensor GcnLayer::forward(const Features& x, const Propagation& p,
                                SharedProduct* shared) const {
  torch::Tensor product = shared ? shared->value : torch::Tensor();
  if (!product.defined()) product = ops::feature_linear(x, weight);
  if (shared) shared->value = product;
  return ops::propagate(p.pattern, p.weights, product, bias, ops::Activation::none);
}

}  // namespace grm::nn
