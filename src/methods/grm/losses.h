#pragma once

#include <string>
#include <vector>

#include "grm/graph/batch.h"
#include "methods/grm/generator.h"

namespace grm {

/// Weighted sum of the ELBO's terms, each a scalar:
/// L = L_s + alpha (KL_z + KL_e) + beta L_d [+ gamma KL_p].
struct GrmTerms {
  torch::Tensor supervision;  // L_s
  torch::Tensor latent_kl;    // KL_z
  torch::Tensor edge_kl;      // KL_e
  torch::Tensor invariance;   // L_d
  torch::Tensor presence_kl;  // KL_p; undefined without generated nodes
  /// `gamma` weighs KL_p: GrmOptions::gamma of the epoch, or the place of a number on the device.
  torch::Tensor total(const GrmOptions& options, double gamma) const;
  torch::Tensor total(const GrmOptions& options, const torch::Tensor& gamma) const;
  /// `total` and the terms, in the order of term_names; those of a part of a batch count its share.
  std::vector<torch::Tensor> values(const torch::Tensor& total, double share = 1.0) const;
};
std::vector<std::string> term_names(const GrmOptions& options);
/// The terms by name.
std::vector<LossTerm> named_terms(const GrmOptions& options, const std::vector<double>& values);

/// KL(N(mu, sigma^2) || N(0, I)) per node, [rows]: mean over the nodes of each G and the batch.
torch::Tensor latent_kl(const GraphBatch& batch, const torch::Tensor& per_node,
                        const GrmOptions& options);

/// KL(Bernoulli(p) || Bernoulli(theta_p)) per node, [rows]: mean over the nodes of each G and the
/// batch.
torch::Tensor presence_kl(const GraphBatch& batch, const torch::Tensor& per_node);

/// KL(Bernoulli(ehat) || Bernoulli(theta)) over the pairs of each G: [graphs].
torch::Tensor edge_kl(const GraphBatch& batch, const GeneratedEdges& edges,
                      const GrmOptions& options);

/// L_d: mean over the nodes of each G of || h_i - z_i ||, mean over the batch.   z: [rows, d_z];
/// the rows of graph b are offsets[b] .. offsets[b + 1). h_i is row index[i] of h, or row i.
torch::Tensor invariance_loss(const torch::Tensor& offsets, const torch::Tensor& h,
                              const torch::Tensor& z, const torch::Tensor& index = {});

}  // namespace grm
