#pragma once

#include <string>

#include "grm/nn/layers.h"

// Graph convolutions besides the GCN's. Each maps node rows [n, in] to [n, out] and takes dense
// rows or features that stay sparse.
namespace grm::nn {

/// GraphSAGE: Z = P (X W_l) + b + X W_r, where P is a mean over in-neighbours (mean_propagation);
/// a node without in-neighbours keeps b + x W_r.
struct SageLayer {
  Linear neighbours;  // W_l, b
  Linear self;        // W_r, no bias
  SageLayer() = default;
  SageLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out);
  torch::Tensor forward(const torch::Tensor& x, const Propagation& mean) const;
  torch::Tensor forward(const Features& x, const Propagation& mean) const;
};

/// Graph attention. Per head, with u = x W: e_ji = leaky_relu_0.2(a_source.u_j + a_target.u_i),
/// alpha_ji = softmax of e over the pairs into i, z_i = sum_j alpha_ji u_j. Heads are concatenated
/// (width heads * channels) or averaged (width channels), then b is added.
struct GatLayer {
  torch::Tensor weight;          // [in, heads * channels], glorot
  torch::Tensor source, target;  // [heads, channels]: a_source and a_target
  torch::Tensor bias;            // [heads * channels] or [channels], zero
  int64_t heads = 0;
  int64_t channels = 0;
  bool concatenate = true;
  GatLayer() = default;
  GatLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t channels_per_head,
           int64_t head_count, bool concatenate_heads);
  /// `pattern` must hold every self-pair once: with_self_loops of the stored edges. (Removing the
  /// stored self-loops and adding one per node is the same, as pairs are stored at most once.)
  torch::Tensor forward(const torch::Tensor& x, const AdjacencyPtr& pattern) const;
  torch::Tensor forward(const Features& x, const AdjacencyPtr& pattern) const;

 private:
  torch::Tensor attend(const torch::Tensor& u, const AdjacencyPtr& pattern) const;
};

/// GCNII, layer l = 1, 2, ...: s = (1 - alpha) P h + alpha h0, then theta s W + (1 - theta) s with
/// theta = log(1 + 1/l) and alpha = 0.1.
struct GcniiLayer {
  torch::Tensor weight;  // [width, width], uniform in +- 1/sqrt(width)
  double theta = 0.0;
  GcniiLayer() = default;
  GcniiLayer(ParameterSet& set, const std::string& name, int64_t width, int64_t layer);
  torch::Tensor forward(const torch::Tensor& h, const torch::Tensor& h0,
                        const Propagation& p) const;
};

/// Generalised PageRank: sum_k coefficients[k] P^k h.   coefficients: [K + 1].
torch::Tensor generalised_pagerank(const Propagation& p, const torch::Tensor& h,
                                   const torch::Tensor& coefficients);

/// alpha (1 - alpha)^k for k < steps, and (1 - alpha)^steps for the last: personalised PageRank.
torch::Tensor pagerank_coefficients(int64_t steps, double alpha, torch::Dtype dtype);

}  // namespace grm::nn
