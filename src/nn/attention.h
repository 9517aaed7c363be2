#pragma once

#include <string>

#include "nn/backbone.h"

// Graph attention. Each layer maps node rows [n, in] to [n, heads * channels] (heads concatenated)
// or [n, channels] (heads averaged), and takes dense rows or features that stay sparse.
namespace grm::nn {

/// The pairs that attention runs over: the stored ones and a self-pair for every node. (Removing
/// the stored self-loops and adding one per node is the same, as pairs are stored at most once.)
struct AttentionPairs {
  AdjacencyPtr pattern;
  /// [nnz, 1]: log w of pairs with weights, added to their scores, so that a pair of weight 2
  /// counts as two pairs and one of weight 0 as none; added self-pairs weigh 1. Undefined: zeros.
  torch::Tensor log_weights;
  Features edge_x;        // of the stored edges; empty: they carry nothing
  torch::Tensor offsets;  // [n + 1]: of the stored edges into each node
  /// [nnz] int64: row of each pair in [stored edges ; their means by node]. A self-pair that is not
  /// stored has the mean of the edges into its node.
  torch::Tensor edge_row;

  AttentionPairs() = default;
  AttentionPairs(AdjacencyPtr pairs) : pattern(std::move(pairs)) {}  // NOLINT: plain pairs
};

/// Finds them for graphs in use; what depends on the edges alone is built once per graph.
class AttentionCache {
 public:
  AttentionCache(torch::Dtype dtype, const torch::Device& device);
  AttentionPairs get(const BackboneInput& input, bool with_edge_rows);

 private:
  torch::Dtype dtype_;
  torch::Device device_;
  PropagationCache loops_;  // with self-loops; for weights the positions of the stored edges
};

/// GAT. Per head, with u = x W: e_ji = leaky_relu_0.2(a_source.u_j + a_target.u_i), alpha_ji =
/// softmax of e over the pairs into i, z_i = sum_j alpha_ji u_j, then b is added.
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
  torch::Tensor forward(const torch::Tensor& x, const AttentionPairs& pairs) const;
  torch::Tensor forward(const Features& x, const AttentionPairs& pairs) const;

 private:
  torch::Tensor attend(const torch::Tensor& u, const AttentionPairs& pairs) const;
};

/// GATv2 (Brody et al., 2022). Per head, with u = x W_s + b_s and v = x W_t + b_t:
/// e_ji = a . leaky_relu_0.2(u_j + v_i + f_ji W_e), f the features of the pair, where there are any;
/// alpha_ji = softmax of e over the pairs into i, z_i = sum_j alpha_ji u_j, then b is added.
struct Gatv2Layer {
  torch::Tensor source, target;            // W_s, W_t: [in, heads * channels], glorot
  torch::Tensor source_bias, target_bias;  // [heads * channels], zero
  torch::Tensor edges;      // W_e: [edge_width, heads * channels], glorot; undefined: none
  torch::Tensor attention;  // a: [heads, channels]
  torch::Tensor bias;       // [heads * channels] or [channels], zero
  int64_t heads = 0;
  int64_t channels = 0;
  bool concatenate = true;
  Gatv2Layer() = default;
  Gatv2Layer(ParameterSet& set, const std::string& name, int64_t in, int64_t edge_width,
             int64_t channels_per_head, int64_t head_count, bool concatenate_heads);
  torch::Tensor forward(const torch::Tensor& x, const AttentionPairs& pairs) const;
  torch::Tensor forward(const Features& x, const AttentionPairs& pairs) const;

 private:
  torch::Tensor attend(const torch::Tensor& u, const torch::Tensor& v,
                       const AttentionPairs& pairs) const;
  torch::Tensor scores(const torch::Tensor& u, const torch::Tensor& v,
                       const AttentionPairs& pairs) const;
};

}  // namespace grm::nn
