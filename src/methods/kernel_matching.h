#pragma once

#include <torch/types.h>

#include "grm/graph/adjacency.h"

// Kernel mean matching (Huang et al., NeurIPS 2006): weights of a sample under which it looks like
// another one.
namespace grm {

/// |A_i - A_j|^2 between the rows of a 0/1 pattern: how many neighbours one of two nodes has and the
/// other has not.  a: [n], b: [m] int64 -> [n, m] double
torch::Tensor row_distances(const Adjacency& edges, const torch::Tensor& a, const torch::Tensor& b);

/// Mean of exp(-t d) over t = 1, 0.1, 0.001, entry by entry.
torch::Tensor matching_kernel(const torch::Tensor& distances);

/// The point of {w >= least, the sum over each group is its size} that is next to `w`.
/// w: [n] double, group: [n] int64 from 0 on; least <= 1.
torch::Tensor project_on_groups(const torch::Tensor& w, const torch::Tensor& group, double least);

/// The minimum of w'Hw / 2 + f'w on that set, H positive semidefinite, by accelerated projected
/// gradients: within 1e-6 of a fixed point, or what 3000 steps reach.
torch::Tensor matching_weights(const torch::Tensor& h, const torch::Tensor& f,
                               const torch::Tensor& group, double least);

}  // namespace grm
