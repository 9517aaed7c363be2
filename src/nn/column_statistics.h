#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace grm::nn {

constexpr int64_t kColumnRows = 256;  // rows of a chunk

/// Sums `sums` columns over the rows: body(begin, end, out) writes the sums of a chunk of rows, and
/// chunks are added in their order, so that the result does not depend on the thread count. Double.
torch::Tensor column_totals(int64_t rows, int64_t sums,
                            const std::function<void(int64_t, int64_t, double*)>& body);

/// Mean and biased variance of each column, in double.   x: [n, width], contiguous.
std::pair<torch::Tensor, torch::Tensor> column_statistics(const torch::Tensor& x);

}  // namespace grm::nn
