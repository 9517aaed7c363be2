#pragma once

#include <torch/types.h>

#include <algorithm>

#include "grm/core/rng.h"

namespace grm {

/// `count` of the given nodes (int64 [k]) without replacement, all of them where there are fewer.
inline torch::Tensor draw_nodes(const torch::Tensor& nodes, int64_t count, Stream stream) {
  const int64_t k = nodes.numel();
  return nodes.index_select(0, torch::tensor(stream.choose(k, std::min(count, k)), torch::kInt64));
}

}  // namespace grm
