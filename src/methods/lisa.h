#pragma once

#include <torch/types.h>

#include <vector>

// The pieces of LiSA that its equations name (lisa_terms.cpp). The method itself is in lisa.cpp.
namespace grm::lisa {

/// p_e = sigmoid(clamp(b_e, -10, 10)).   b: [E]
torch::Tensor keep_probability(const torch::Tensor& b);

/// 1 for the floor(share E) edges with the largest p, 0 for the others; of equal ones the lowest
/// edge id comes first. Straight-through: the gradient goes to p unchanged, for all edges.
/// p: [E] -> [E]
torch::Tensor hard_mask(const torch::Tensor& p, double share);

/// KL of Bernoulli(p) from Bernoulli(1/2), the mean over edges:
///   mean_e [ p log(2 p + 1e-8) + (1 - p) log(2 (1 - p) + 1e-9) ].
torch::Tensor mask_kl(const torch::Tensor& p);

/// Sample variance with divisor count - 1; 0 of fewer than two numbers.   values: [m]
torch::Tensor variance(const torch::Tensor& values);

/// What the generators minimise: mean(L_0..L_K) + lambda_kl mean(KL) - lambda_d
/// Var(sqrt(L_1..L_K)), less L_0 / (K + 1), which does not depend on them.   views: L_1..L_K
torch::Tensor generator_objective(const std::vector<torch::Tensor>& views,
                                  const std::vector<torch::Tensor>& kl, double lambda_kl,
                                  double lambda_d);

/// What the classifier minimises: mean(L_0..L_K) + Var(L_0..L_K).
torch::Tensor classifier_objective(const std::vector<torch::Tensor>& losses);

}  // namespace grm::lisa
