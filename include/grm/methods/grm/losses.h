#pragma once

#include "grm/graph/batch.h"
#include "grm/methods/grm/generator.h"

namespace grm {

/// Weighted sum of the ELBO's terms, each a scalar: L = L_s + alpha (KL_z + KL_e) + beta L_d.
struct GrmTerms {
  torch::Tensor supervision;  // L_s
  torch::Tensor latent_kl;    // KL_z
  torch::Tensor edge_kl;      // KL_e
  torch::Tensor invariance;   // L_d
  torch::Tensor total(const GrmOptions& options) const;
};

/// KL(N(mu, sigma^2) || N(0, I)): per node, mean over the nodes of each G, mean over the batch.
torch::Tensor latent_kl(const GraphBatch& batch, const Posterior& q, const GrmOptions& options);

/// KL(Bernoulli(ehat) || Bernoulli(theta)) over the pairs of each G, mean over the batch.
torch::Tensor edge_kl(const GraphBatch& batch, const GeneratedEdges& edges,
                      const GrmOptions& options);

/// L_d: mean over the nodes of each G of || h_i - z_i ||, mean over the batch.   h, z: [rows, d_z].
torch::Tensor invariance_loss(const GraphBatch& batch, const torch::Tensor& h,
                              const torch::Tensor& z);

}  // namespace grm
