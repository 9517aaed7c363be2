#pragma once

#include <torch/types.h>

#include "grm/core/words.h"
#include "methods/environment_items.h"
#include "nn/recorded_step.h"

// What the objectives over environments are made of. Sums go over the environments that are present
// in the step; C is their number.
namespace grm {

/// IRM: (1 / C) sum_e (dR_e / dw)^2 at w = 1, where R_e is the risk of the logits times w.
torch::Tensor irm_penalty(const TrainLoss& loss, const EnvironmentItems& items,
                          const EnvironmentRisks& risks);

/// V-REx: the unbiased variance of R_e; 0 with one environment.
torch::Tensor risk_variance(const EnvironmentRisks& risks);

/// Group DRO as in GOOD: q_e proportional to exp(eta R_e), without gradient; 0 where e is absent.
torch::Tensor batch_group_weights(const EnvironmentRisks& risks, double eta);

/// centred: the covariance of the rows. as_coded: GOOD's, whose mean is taken off once instead of
/// n_e times, which leaves the second moment but for a trace.
enum class Covariance { centred, as_coded };
GRM_WORDS(Covariance, "centred", "as-coded")
/// Deep CORAL: mean over ordered pairs e != f of mean((S_e - S_f)^2) / 4, S_e the covariance of the
/// hidden rows of e. Environments with one item are left out; 0 with fewer than two others.
torch::Tensor coral_distance(Covariance form, const EnvironmentItems& items,
                             const EnvironmentRisks& risks);

/// The rows as they are; their gradient is multiplied by -factor (a scalar) on the way back.
torch::Tensor reversed_gradient(const torch::Tensor& rows, const torch::Tensor& factor);
/// 2 / (1 + exp(-10 p)) - 1: how strongly the adversary counts at the share p of training.
double adversary_ramp(double p);
/// The same in a step: p grows to 1 in `ramp` epochs of `steps` steps.
double adversary_ramp(const nn::When& when, int64_t steps, int64_t ramp);
/// Cross-entropy of the environments [m]; items without one are left out.
torch::Tensor environment_cross_entropy(const torch::Tensor& logits,
                                        const torch::Tensor& environment);

}  // namespace grm
