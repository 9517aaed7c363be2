#pragma once

#include <torch/types.h>

// The elementwise parts of GRM's generator and its divergences, with analytic gradients.
// Everything is computed from logits and logarithms, and so is finite for every finite input that
// does not overflow by itself. float and double.
namespace grm::ops {

/// KL(Bernoulli(e) || Bernoulli(theta)) for e = sigmoid(logit), elementwise:
///   e log(e / theta) + (1 - e) log((1 - e) / (1 - theta)).
/// Gradient: e (1 - e) (logit - log(theta / (1 - theta))).   0 < theta < 1.
torch::Tensor edge_kl(const torch::Tensor& logits, double theta);

/// Edge weights e = sigmoid(logits) and edge_kl(logits, theta), with one exponential for both.
struct GeneratedEdges {
  torch::Tensor weights;
  torch::Tensor kl;
};
GeneratedEdges generate_edges(const torch::Tensor& logits, double theta);

/// KL(N(mu, sigma^2) || N(0, 1)) of every row: sum over columns of
///   (sigma^2 + mu^2 - 1) / 2 - log sigma.   mu, log_sigma: [n, k] -> [n].
torch::Tensor gaussian_kl(const torch::Tensor& mu, const torch::Tensor& log_sigma);

}  // namespace grm::ops
