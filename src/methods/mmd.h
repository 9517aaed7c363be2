#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace grm {

/// Mean over the pairs g < g' of D sets of the squared maximum mean discrepancy
///   MMD2(F, F') = mean k(F, F) + mean k(F', F') - 2 mean k(F, F')        (pairs i = i included)
///   k(x, y) = sum over c in {1e-3, 1e-2, 0.1, 1, 10, 100, 1000} of exp(-c |x - y|^2).
/// rows: [sum of sizes, h], the sets one after the other; a scalar of the type of rows,
/// 0 for D = 1. Squared distances are |x|^2 + |y|^2 - 2 x.y in double, at least 1e-30, without gradient
/// where that bound is active. `block` rows of the kernel are held at a time.
torch::Tensor mean_mmd(const torch::Tensor& rows, const std::vector<int64_t>& sizes,
                       int64_t block = 512);

}  // namespace grm
