#pragma once

#include <cstdint>
#include <vector>

#include "grm/data/task.h"

namespace grm {

/// Items of several domains as rows of numbers: columns below `sparse_width` are kept sparse, the
/// structure of the item (degree, size) and all other columns dense.
struct ItemRows {
  int64_t sparse_width = 0;
  int64_t dense_width = 0;
  std::vector<int64_t> first = {0};  // entries of row i are first[i] .. first[i + 1)
  std::vector<int32_t> column;
  std::vector<float> value;
  std::vector<float> dense;                 // [rows, dense_width]
  std::vector<int64_t> item;                // of each row: its number in its domain
  std::vector<int32_t> block;               // of each row: whose constant is to be subtracted
  std::vector<std::vector<double>> shifts;  // of each block: [sparse_width], or empty

  int64_t rows() const { return static_cast<int64_t>(block.size()); }
  int64_t width() const { return sparse_width + dense_width; }
  /// Adds the items `ids` of a domain; a graph counts as the mean of its nodes.
  void append(const Domain& domain, const std::vector<int64_t>& ids);
};

}  // namespace grm
