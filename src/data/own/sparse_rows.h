#pragma once

#include <vector>

#include "grm/graph/graph.h"

namespace grm::own {

/// The most numbers that a table of features may hold for it to be kept sparse; -1 for a narrow
/// one, which never is. A sparse product is faster than a dense one below about this share of
/// non-zeros, and half as large.
int64_t most_kept_sparse(int64_t rows, int64_t columns);

/// Rows of features that come one after the other, of which the non-zeros are kept.
class SparseRows {
 public:
  explicit SparseRows(int64_t columns) : columns_(columns) {}

  /// Columns ascend inside a row.
  void add(int64_t column, float value);
  void end_row() { offsets_.push_back(static_cast<int64_t>(indices_.size())); }
  int64_t kept() const { return static_cast<int64_t>(indices_.size()); }
  /// The sparse part and its values, which are undefined where all are one.
  Features finish();

 private:
  int64_t columns_;
  std::vector<int64_t> offsets_ = {0};
  std::vector<int32_t> indices_;
  std::vector<float> values_;  // empty as long as all are one
};

/// Adds the rows of `block` [k, columns] float. False, and somewhere in the middle, once more than
/// `most` numbers are kept or one is infinite (or NaN, unless `nan_is_fine`).
bool add_rows(const torch::Tensor& block, int64_t most, bool nan_is_fine, SparseRows& into);

/// Columns [first, last) of sparse features, without the shift.
Features sparse_columns(const Features& x, int64_t first, int64_t last);

/// The columns of `left`, which has no dense part, and those of `right`; shifts are those of
/// `right`'s columns.
Features side_by_side(const Features& left, const Features& right);

}  // namespace grm::own
