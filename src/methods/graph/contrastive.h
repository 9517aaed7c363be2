#pragma once

#include <torch/types.h>

#include <cstdint>

// The losses of CIGA and GALA.
namespace grm::graph_level {

/// Which pairs (i, j) of a batch are drawn together, and which are compared with them: the
/// denominator of row i sums over compared[i]. bool [B, B], both false on the diagonal.
struct Pairs {
  torch::Tensor positive;
  torch::Tensor compared;
};

/// CIGA: members with the same label against all others.   y: [B] int64
Pairs label_pairs(const torch::Tensor& y);

/// GALA: positives have the same label and another tag of the assistant; compared are these and
/// those with another label and the same tag. Without any positive in the batch all pairs of one
/// label are positive (what they are compared with stays); with nothing to compare, all pairs are
/// compared, which makes it CIGA's.   y, tags: [B] int64
Pairs assisted_pairs(const torch::Tensor& y, const torch::Tensor& tags);

/// Minus the mean, over the rows i that have positives, of
///   (1 / |P_i|) sum_{p in P_i} log[ exp(u_i.u_p) / (sum_{a in A_i} exp(u_i.u_a) + slack) ];
/// 0 if no row has any. The temperature is 1.   u: [B, d], rows of length 1 -> scalar
torch::Tensor contrast(const torch::Tensor& u, const Pairs& pairs, double slack = 0.0);

/// sum_i 1[s_i > c_i] s_i / (sum_i 1[s_i > c_i] + 1e-6): the mean loss of the spurious head where
/// it is worse than the causal one. No gradient reaches c.   both: [B] -> scalar
torch::Tensor hinge(const torch::Tensor& spurious, const torch::Tensor& causal);

/// How often each training graph is seen in an epoch once the assistant is known: those it gets
/// wrong min(right div wrong, 2) times, or repeats + 1 times where repeats > 0, the others once.
/// Unless right ones are in the majority all count as wrong.   right: bool [n] -> int64 [n]
torch::Tensor upsampled_counts(const torch::Tensor& right, int64_t repeats);

}  // namespace grm::graph_level
