#pragma once

#include <torch/types.h>

#include <vector>

#include "grm/graph/graph.h"

namespace grm {

/// The constant row of X, or zeros.
inline std::vector<double> constant_row(const Features& x) {
  std::vector<double> row(static_cast<size_t>(x.width()), 0.0);
  if (x.shift.defined()) std::copy_n(x.shift.data_ptr<float>(), x.width(), row.begin());
  return row;
}

/// Calls use(column, number) for every number of X that is stored, the constant row subtracted.
template <class Use>
void visit_stored(const Features& x, const std::vector<double>& shift, Use&& use) {
  const int64_t sparse_width = x.sparse_width(), wide = x.width() - sparse_width;
  if (x.sparse) {
    const int32_t* index = x.sparse->in.index();
    const float* value = x.sparse_values.defined() ? x.sparse_values.data_ptr<float>() : nullptr;
    for (int64_t e = 0; e < x.sparse->nnz(); ++e) {
      use(index[e], (value ? value[e] : 1.0) - shift[index[e]]);
    }
  }
  if (wide == 0) return;
  const torch::Tensor dense = x.dense.contiguous();
  const float* begin = dense.data_ptr<float>();
  for (const float* row = begin; row < begin + dense.numel(); row += wide) {
    for (int64_t j = 0; j < wide; ++j) {
      const int64_t at = sparse_width + j;
      use(at, row[j] - shift[at]);
    }
  }
}

}  // namespace grm
