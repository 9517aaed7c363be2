#pragma once

#include "grm/graph/batch.h"
#include "grm/nn/layers.h"
#include "methods/grm/options.h"
#include "nn/own_network.h"
#include "ops/generated.h"

namespace grm {

/// Q(Z | G): mean and log standard deviation per node, side by side as they leave the encoder. What
/// log sigma is added to and clamped by belongs to ops::latent_sample.
struct Posterior {
  torch::Tensor heads;  // [rows, 2 d_z]
  double log_sigma_bias = 0.0;

  torch::Tensor mu() const { return heads.narrow(1, 0, heads.size(1) / 2); }
};

/// The inputs u_i of the encoder for all nodes of a domain graph: features (raw, centred), or r_i
/// and q_i (concat), which are never put into one matrix.
struct EncoderInput {
  Features features;
  torch::Tensor node, domain;  // r and q, [n, hidden]; defined for concat
};

/// GNN_mu and GNN_sigma (Eq. 4). The first linear map acts on nodes of the domain graph, once per
/// node however many ego-nets contain it; what follows acts on rows of a batch.
class Encoder {
 public:
  Encoder(nn::ParameterSet& set, const GrmOptions& options, int64_t input_width);

  /// The first linear map of u, without bias.   [n, 2 d_z]
  torch::Tensor transform(const EncoderInput& u) const;
  /// The posterior from transformed rows, on the graph(s) whose operator is p.
  /// `counted`: as in BatchNorm::forward.
  Posterior posterior(const torch::Tensor& rows, const nn::Propagation& p, const nn::Pass& pass,
                      const torch::Tensor& counted = {});
  /// Its mean alone, [rows, d_z], at less than the cost of both.
  torch::Tensor posterior_mean(const torch::Tensor& rows, const nn::Propagation& p,
                               const nn::Pass& pass);
  /// True if a node's posterior is the same in every G.
  bool local() const {
    return kind_ == EncoderKind::mlp || kind_ == EncoderKind::linear || kind_ == EncoderKind::own;
  }

 private:
  /// Whether a network before this one is all but the heads.
  bool only_heads() const { return kind_ == EncoderKind::gin || kind_ == EncoderKind::own; }
  /// The first `columns` columns of the heads.
  torch::Tensor heads(const torch::Tensor& rows, const nn::Propagation& p, const nn::Pass& pass,
                      const torch::Tensor& counted, int64_t columns);

  EncoderKind kind_;
  bool norm_;
  double log_sigma_bias_;
  torch::Tensor first_weight_, first_bias_;    // [d_u, 2 d_z], [2 d_z]
  torch::Tensor second_weight_, second_bias_;  // [2 d_z, 2 d_z]: mu and log sigma side by side
  nn::BatchNorm batch_norm_;
};

/// The generated graph: continuous weights on a fixed set of pairs.
struct GeneratedEdges {
  AdjacencyPtr pairs;
  torch::Tensor weights;  // [pairs] sigmoid(f_e(z_i) . f_e(z_j))
  torch::Tensor kl;       // [pairs] KL of the weight against the prior theta
};

/// The generated nodes; undefined where every node stays as it is.
struct GeneratedNodes {
  torch::Tensor presence;  // [rows] p_i = sigmoid(w_p . z_i + b_p)
  torch::Tensor kl;        // [rows] KL(Bernoulli(p_i) || Bernoulli(theta_p))

  /// Row i times p_i.
  torch::Tensor gated(const torch::Tensor& rows) const {
    return presence.defined() ? rows * presence.unsqueeze(1) : rows;
  }
};

/// What a batch is classified as.
struct Classified {
  torch::Tensor logits;   // [rows, classes], per node
  torch::Tensor edge_kl;  // [graphs]: KL of the generated edges of each G; undefined if not asked
  GeneratedNodes nodes;
};

/// The decoder and classifier: f_x (Eq. 5), f_e (Eq. 6) and the 2-layer GCN on what they generate.
/// Where nodes are generated too, a message from j weighs p_j ehat_ij; degrees stay those of ehat,
/// so p_j scales the rows that enter a product and the products are the same.
class Decoder {
 public:
  Decoder(nn::ParameterSet& set, const GrmOptions& options, int64_t features, int64_t classes);

  GeneratedEdges edges(const torch::Tensor& z, const AdjacencyPtr& pairs) const;
  GeneratedNodes nodes(const torch::Tensor& z) const;
  /// Node logits [rows, classes] of the classifier on the generated graph. The feature decoder and
  /// the classifier's first map compose, z (W_x W_1) + b_x W_1, so xhat itself is never written.
  /// `counted`: as in BatchNorm::forward.
  torch::Tensor classify(const torch::Tensor& z, const GeneratedEdges& edges,
                         const GeneratedNodes& nodes, nn::Pass& pass,
                         const torch::Tensor& counted = {});
  /// The same by a network of the caller's: it reads xhat, the generated pairs and their weights, with
  /// generated nodes p_j ehat_ij.
  torch::Tensor classify_own(const torch::Tensor& z, const GraphBatch& batch,
                             const GeneratedEdges& edges, const GeneratedNodes& nodes,
                             nn::Pass& pass);
  /// The same on edges over all pairs of each graph, which stay in cache.
  Classified classify_all_pairs(const torch::Tensor& z, const ops::GeneratedTiles& graphs,
                                const GeneratedNodes& nodes, bool with_kl, nn::Pass& pass,
                                const torch::Tensor& counted = {});

 private:
  /// z (W_x W_1) + b_x W_1.
  torch::Tensor first_map(const torch::Tensor& z) const;
  /// The logits with what skips the generated graph.
  torch::Tensor with_skip(const torch::Tensor& logits, const torch::Tensor& z) const;

  bool normalised_, mean_kl_;
  double dropout_, theta_, presence_prior_;
  nn::Linear feature_map_;   // f_x
  nn::Linear edge_map_;      // f_e
  nn::Linear presence_map_;  // w_p, b_p; undefined: no generated nodes
  nn::GcnLayer first_, second_;
  nn::BatchNorm batch_norm_;           // empty with batch_norm = false
  std::unique_ptr<nn::Backbone> own_;  // classifier = own, in the place of the layers
  torch::Tensor skip_weight_;          // [latent, classes]; undefined: nothing skips
};

}  // namespace grm
