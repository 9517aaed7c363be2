#pragma once

#include <torch/types.h>

namespace grm::ops {

/// First row of each piece of `rows` rows, int64 [pieces + 1]: where a long sum is cut.
torch::Tensor piece_offsets(int64_t rows);

/// The sum of all rows, [1, h], in pieces that run in parallel and are added in order. libtorch's
/// own reductions and vector products depend on the number of threads; on a GPU they repeat.
torch::Tensor sum_rows(const torch::Tensor& rows);

}  // namespace grm::ops
