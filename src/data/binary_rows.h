#pragma once

#include <torch/types.h>

#include <string>

#include "grm/graph/adjacency.h"

namespace grm {

/// Compressed rows as some file stores them: nothing of it is trusted yet.
struct StoredRows {
  std::string place;  // file and matrix, for messages
  int64_t rows = 0;
  int64_t cols = 0;
  torch::Tensor offsets;
  torch::Tensor indices;
  torch::Tensor values;
};

/// The pattern of the positive entries: zeros are dropped, duplicates merged, every positive number
/// counts as one. Error(data) names the place of a wrong shape, an index out of range, a negative
/// or a non-finite number.
AdjacencyPtr binary_rows(const StoredRows& stored);

/// Pairs i -> i removed.
AdjacencyPtr without_self_loops(const Adjacency& edges);

}  // namespace grm
