#pragma once

#include <torch/types.h>

#include "grm/core/rng.h"
#include "grm/data/task.h"

// The parts of SRGNN.
namespace grm::srgnn {

/// Central moment discrepancy: the sum over k = 1, ..., 5 of the norm of the difference of the k-th
/// central moments of the columns (k = 1: of their means).  a: [n, h], b: [m, h] -> a scalar
torch::Tensor moment_distance(const torch::Tensor& a, const torch::Tensor& b);

/// Weights of a domain's labelled nodes, [k] double: under them their neighbourhoods are like those of
/// the nodes `target`. Nodes are matched in random parts of at most `part`, each with as many random
/// targets. Every weight is at least `least`, and classes keep their share of a part.
torch::Tensor weights_of(const Domain& domain, const torch::Tensor& target, int64_t part,
                         double least, Stream draws);

}  // namespace grm::srgnn
