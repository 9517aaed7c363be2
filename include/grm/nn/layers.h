#pragma once

#include <string>

#include "grm/graph/graph.h"
#include "grm/nn/parameters.h"

namespace grm::nn {

/// y = x W + b, W: [in, out]. Initialised uniformly in +- 1/sqrt(in), weight and bias.
struct Linear {
  torch::Tensor weight, bias;
  Linear() = default;
  Linear(ParameterSet& set, const std::string& name, int64_t in, int64_t out,
         bool with_bias = true);
  torch::Tensor forward(const torch::Tensor& x) const;
  torch::Tensor forward(const Features& x) const;
};

/// Batch normalisation over rows: eps 1e-5, momentum 0.1, unbiased running variance.
/// Every training pass updates the running statistics.
struct BatchNorm {
  torch::Tensor gamma, beta, mean, variance;
  BatchNorm() = default;
  BatchNorm(ParameterSet& set, const std::string& name, int64_t width);
  torch::Tensor forward(const torch::Tensor& x, const Pass& pass);
};

/// The linear operator that one graph convolution applies to node rows.
/// `sum`:  no self-loop, no normalisation. `kipf`: self-loops and symmetric normalisation.
/// weights undefined means all ones.
struct Propagation {
  AdjacencyPtr pattern;
  torch::Tensor weights;
  torch::Tensor apply(const torch::Tensor& rows) const;
};

/// Builds the operator of `conv` ("sum" or "kipf") for stored edges with optional weights [nnz];
/// gradients reach the weights, through the degrees too. An existing self-loop keeps its weight;
/// missing ones are added with weight 1.
Propagation make_propagation(const std::string& conv, const AdjacencyPtr& edges,
                             const torch::Tensor& weights = {},
                             torch::Dtype dtype = torch::kFloat32);

/// Unweighted operators of the graphs in use, built once per graph. The cache keeps the graphs it
/// has seen alive, so that an address is never reused under it.
class PropagationCache {
 public:
  explicit PropagationCache(std::string conv, torch::Dtype dtype = torch::kFloat32)
      : conv_(std::move(conv)), dtype_(dtype) {}
  const Propagation& get(const AdjacencyPtr& edges);

 private:
  std::string conv_;
  torch::Dtype dtype_;
  std::map<AdjacencyPtr, Propagation> seen_;
};

/// Z = P (X W) + b with a GCN's initialisation: W glorot, b zero.
struct GcnLayer {
  torch::Tensor weight, bias;
  GcnLayer() = default;
  GcnLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out);
  torch::Tensor forward(const torch::Tensor& x, const Propagation& p) const;
  torch::Tensor forward(const Features& x, const Propagation& p) const;
};

}  // namespace grm::nn
