#include "data/binary_rows.h"

#include <torch/types.h>

#include <cmath>

#include "data/sources.h"
#include "grm/core/error.h"

namespace grm {
namespace {

torch::Tensor whole_numbers(const StoredRows& stored, const torch::Tensor& values,
                            const char* name) {
  if (values.dim() != 1 || !torch::isIntegralType(values.scalar_type(), false)) {
    fail(ErrorKind::data,
         "{}: the {} are a {}-dimensional array of {}, a list of whole numbers is needed",
         stored.place, name, values.dim(), c10::toString(values.scalar_type()));
  }
  return values.to(torch::kInt64).contiguous();
}

}  // namespace

AdjacencyPtr binary_rows(const StoredRows& stored) {
  const torch::Tensor offsets = whole_numbers(stored, stored.offsets, "row offsets");
  const torch::Tensor indices = whole_numbers(stored, stored.indices, "column indices");
  const torch::Tensor values = stored.values.to(torch::kFloat64).contiguous();
  const int64_t* offset = offsets.data_ptr<int64_t>();
  if (stored.rows < 0 || offsets.numel() != stored.rows + 1 || offset[0] != 0 ||
      offset[stored.rows] != indices.numel() || values.numel() != indices.numel()) {
    fail(ErrorKind::data,
         "{}: {} row offsets, {} column indices and {} values do not make a matrix of {} rows",
         stored.place, offsets.numel(), indices.numel(), values.numel(), stored.rows);
  }
  std::vector<int64_t> row, column;
  row.reserve(indices.numel());
  column.reserve(indices.numel());
  for (int64_t i = 0; i < stored.rows; ++i) {
    if (offset[i + 1] < offset[i] || offset[i + 1] > indices.numel()) {
      fail(ErrorKind::data, "{}: the offset {} after row {} is out of order", stored.place,
           offset[i + 1], i);
    }
    for (int64_t e = offset[i]; e < offset[i + 1]; ++e) {
      const int64_t j = indices.data_ptr<int64_t>()[e];
      const double value = values.data_ptr<double>()[e];
      if (j < 0 || j >= stored.cols) {
        fail(ErrorKind::data, "{}: row {} has an entry in column {}, expected 0..{}", stored.place,
             i, j, stored.cols - 1);
      }
      if (!std::isfinite(value) || value < 0) {
        fail(ErrorKind::data, "{}: the entry in row {}, column {} is {}", stored.place, i, j,
             value);
      }
      if (value == 0) continue;
      row.push_back(i);
      column.push_back(j);
    }
  }
  return adjacency_of_file(stored.place, stored.rows, stored.cols,
                           torch::tensor(column, torch::kInt64), torch::tensor(row, torch::kInt64));
}

AdjacencyPtr without_self_loops(const Adjacency& edges) {
  const auto [source, target] = edge_list(edges);
  const torch::Tensor kept = source.ne(target);
  return make_adjacency(edges.rows(), edges.cols(), source.masked_select(kept),
                        target.masked_select(kept));
}

}  // namespace grm
