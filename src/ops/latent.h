#pragma once

#include <torch/types.h>

// The latent sample of GRM's generator and its distances, each with one pass forward and one
// backward. float and double, equal bits for any number of threads, no second derivatives.
namespace grm::ops {

/// Bounds of log sigma.
constexpr double kLogSigmaLow = -10.0, kLogSigmaHigh = 4.0;

struct LatentSample {
  torch::Tensor z;   // [n, k]
  torch::Tensor kl;  // [n]
};

/// heads: [n, 2k], mu and raw side by side.
///   log sigma = clamp(raw + shift, kLogSigmaLow, kLogSigmaHigh)
///   z = mu + sigma eps            (mu where eps: [n, k] is undefined)
///   kl_i = KL(N(mu_i, sigma_i^2) || N(0, I)), as gaussian_kl.
LatentSample latent_sample(const torch::Tensor& heads, double shift, const torch::Tensor& eps);

/// d_i = sqrt(|| h_j - z_i ||^2 + 1e-12), j = index[i], or j = i where index is undefined.
/// h: [m, k], z: [n, k], index: int64 [n] -> [n].
torch::Tensor row_distance(const torch::Tensor& h, const torch::Tensor& z,
                           const torch::Tensor& index = {});

}  // namespace grm::ops
