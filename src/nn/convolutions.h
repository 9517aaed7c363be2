#pragma once

#include <string>

#include "grm/nn/layers.h"

// Graph convolutions besides the GCN's. Each maps node rows [n, in] to [n, out] and takes dense
// rows or features that stay sparse.
namespace grm::nn {

/// The rows that a pattern of `rows` rows computes: all of x, or the first ones where x belongs to a
/// sample of a graph.
inline torch::Tensor first_rows(const torch::Tensor& x, int64_t rows) {
  return x.size(0) == rows ? x : x.narrow(0, 0, rows);
}

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

/// The edges that GIN's messages go along.
struct GinEdges {
  AdjacencyPtr edges;
  torch::Tensor weights;  // [nnz]; undefined: all ones
  Features edge_x;        // empty: edges carry nothing
};

/// GIN: z_i = second(relu(norm(first((1 + eps) x_i + sum_{j->i} w_ji m_ji)))), m_ji = x_j, or
/// relu(x_j + e_ji T) where edges carry features e. The norm is there with batch_norm alone.
struct GinConv {
  torch::Tensor eps;     // [1], from 0
  torch::Tensor table;   // T: [edge_width, in], glorot; undefined: edges carry nothing
  Linear first, second;  // in -> width -> out
  BatchNorm norm;
  GinConv() = default;
  GinConv(ParameterSet& set, const std::string& name, int64_t in, int64_t width, int64_t out,
          int64_t edge_width, bool batch_norm);
  torch::Tensor forward(const torch::Tensor& x, const GinEdges& edges, const Pass& pass);
  /// Where edges carry nothing: the sum is linear, so `first` comes before it and sparse features
  /// never become dense rows.
  torch::Tensor forward(const Features& x, const GinEdges& edges, const Pass& pass);

 private:
  // (1 + eps) u_i + sum_{j->i} w_ji u_j + b, for u = x W of `first`.
  torch::Tensor received(const torch::Tensor& u, const GinEdges& edges) const;
  torch::Tensor finish(const torch::Tensor& mapped, const Pass& pass);
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
