#include "data/own/sparse_rows.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"

namespace grm::own {
namespace {

constexpr int64_t kNarrow = 64;  // columns; below it either form is cheap
constexpr int64_t kShare = 10;   // one number in ten

// The non-zeros of the columns [first, last) in one row, one after the other.
template <class Each>
void entries_of(const Features& x, int64_t row, int64_t first, int64_t last, Each&& each) {
  const int32_t* index = x.sparse->in.index();
  const float* value = x.sparse_values.defined() ? x.sparse_values.data_ptr<float>() : nullptr;
  const int32_t* end = index + x.sparse->in.offset()[row + 1];
  for (const int32_t* at = std::lower_bound(index + x.sparse->in.offset()[row], end, first);
       at != end && *at < last; ++at) {
    each(*at - first, value ? value[at - index] : 1.0F);
  }
}

}  // namespace

int64_t most_kept_sparse(int64_t rows, int64_t columns) {
  if (columns < kNarrow || columns > INT32_MAX || rows >= INT64_MAX / columns) return -1;
  return rows * columns / kShare;
}

void SparseRows::add(int64_t column, float value) {
  if (value != 1.0F && values_.empty()) values_.assign(indices_.size(), 1.0F);
  indices_.push_back(static_cast<int32_t>(column));
  if (value != 1.0F || !values_.empty()) values_.push_back(value);
}

Features SparseRows::finish() {
  Csr in;
  in.rows = static_cast<int64_t>(offsets_.size()) - 1;
  in.cols = columns_;
  in.offsets = torch::tensor(offsets_, torch::kInt64);
  in.indices = torch::tensor(indices_, torch::kInt32);
  Features x;
  if (!values_.empty()) x.sparse_values = torch::tensor(values_, torch::kFloat32);
  offsets_ = {};
  indices_ = {};
  values_ = {};
  x.sparse = with_transpose(std::move(in));
  return x;
}

bool add_rows(const torch::Tensor& block, int64_t most, bool nan_is_fine, SparseRows& into) {
  const int64_t rows = block.size(0), columns = block.size(1);
  const float* value = block.data_ptr<float>();
  for (int64_t i = 0; i < rows; ++i, value += columns) {
    for (int64_t j = 0; j < columns; ++j) {
      if (value[j] == 0.0F) continue;
      if (!std::isfinite(value[j]) && !(nan_is_fine && std::isnan(value[j]))) return false;
      into.add(j, value[j]);
    }
    into.end_row();
    if (into.kept() > most) return false;
  }
  return true;
}

Features sparse_columns(const Features& x, int64_t first, int64_t last) {
  SparseRows rows(last - first);
  for (int64_t i = 0; i < x.rows(); ++i) {
    entries_of(x, i, first, last, [&](int64_t j, float value) { rows.add(j, value); });
    rows.end_row();
  }
  return rows.finish();
}

Features side_by_side(const Features& left, const Features& right) {
  ensure(!left.dense.defined(), "side_by_side: dense columns on the left");
  const int64_t split = left.sparse_width();
  Features x = right;
  if (!right.sparse) {
    x.sparse = left.sparse;
    x.sparse_values = left.sparse_values;
  } else if (left.sparse) {
    SparseRows rows(split + right.sparse_width());
    for (int64_t i = 0; i < right.rows(); ++i) {
      entries_of(left, i, 0, split, [&](int64_t j, float value) { rows.add(j, value); });
      entries_of(right, i, 0, right.sparse_width(),
                 [&](int64_t j, float value) { rows.add(split + j, value); });
      rows.end_row();
    }
    const Features both = rows.finish();
    x.sparse = both.sparse;
    x.sparse_values = both.sparse_values;
  }
  if (right.shift.defined() && split > 0) {
    x.shift = torch::cat({torch::zeros({split}), right.shift});
  }
  return x;
}

}  // namespace grm::own
