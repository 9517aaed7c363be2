#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "grm/core/words.h"
#include "grm/data/task.h"

// The parts of DIR's objective. i counts the causal parts of a batch of B graphs, j the
// confounders.
namespace grm::graph_level::dir {

/// a' = alpha e^1.6 in the e-th epoch, e = 0, 1, ...
double schedule(double alpha, int64_t epochs_before);

/// q_ij = l(z_ij, y_i) with z_ij = causal_i * sigmoid(sg(confounder_j)), elementwise: [B, B].
/// causal, confounder: [B, C] logits of the two heads; no gradient reaches `confounder`.
torch::Tensor intervened_losses(const TrainLoss& loss, const torch::Tensor& causal,
                                const torch::Tensor& confounder, const torch::Tensor& y);

/// scaled: Var_j(B mean_i q_ij)      plain: mean_i Var_j(q_ij)      mean: Var_j(mean_i q_ij), as in GOOD
/// Var is unbiased.
enum class Spread { scaled, plain, mean };
GRM_WORDS(Spread, "scaled", "plain", "mean")
/// The spread of q over the interventions j, a scalar; 0 for a batch of one graph.
torch::Tensor spread(Spread form, const torch::Tensor& q);

}  // namespace grm::graph_level::dir
