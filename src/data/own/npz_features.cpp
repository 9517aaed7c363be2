// Matrices of features: dense, sparse, or both side by side.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "data/own/npz_arrays.h"
#include "data/own/sparse_rows.h"

namespace grm::own {
namespace {

// Columns that a sparse array may have without anyone using them.
constexpr int64_t kAnyWidth = int64_t{1} << 20;

}  // namespace

// Rows of P_indptr and P_indices; `values` are sorted with them where a row is not in order.
AdjacencyPtr NpzArrays::pattern(const std::string& name, torch::Tensor& values) {
  const torch::Tensor offsets = whole_numbers(name + "_indptr", -1);
  const torch::Tensor indices = whole_numbers(name + "_indices", -1);
  const torch::Tensor widths = whole_numbers(name + "_width", 1);
  for (const auto& [array, part] :
       {std::pair<const torch::Tensor*, const char*>{&offsets, "_indptr"},
        {&indices, "_indices"},
        {&widths, "_width"}}) {
    if (array->defined()) continue;
    if (!has(name + part)) {
      problem(fmt::format("array '{}{}' is missing", name, part),
              fmt::format("sparse features are {0}_indptr, {0}_indices and {0}_width", name));
    }
    return nullptr;
  }
  const int64_t rows = offsets.numel() - 1, nnz = indices.numel(),
                width = widths[0].item<int64_t>();
  const int64_t* offset = offsets.data_ptr<int64_t>();
  bool fits = rows >= 0 && offset[0] == 0 && offset[rows] == nnz && width > 0 && width <= INT32_MAX;
  for (int64_t i = 0; fits && i < rows; ++i) fits = offset[i] <= offset[i + 1];
  if (fits && nnz > 0) {
    fits = indices.min().item<int64_t>() >= 0 && indices.max().item<int64_t>() < width;
  }
  if (!fits) {
    problem(fmt::format("{0}_indptr, {0}_indices and {0}_width = {1} are not a sparse matrix", name,
                        width),
            "indptr counts from 0 up to the number of indices, which lie below the width");
    return nullptr;
  }
  // The transpose has an entry for each column, even for those that nobody uses.
  const int64_t most = std::max(kAnyWidth, 2 * (nnz + rows));
  if (width > most) {
    problem(fmt::format("{}_width is {}, but the largest column in use is {}", name, width,
                        nnz > 0 ? indices.max().item<int64_t>() : -1),
            fmt::format("save the number of columns; at most {} of them fit these rows", most));
    return nullptr;
  }
  std::vector<int64_t> order(nnz);
  std::iota(order.begin(), order.end(), int64_t{0});
  const int64_t* index = indices.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows; ++i) {
    const auto begin = order.begin() + offset[i], end = order.begin() + offset[i + 1];
    const auto less = [&](int64_t a, int64_t b) { return index[a] < index[b]; };
    if (!std::is_sorted(begin, end, less)) std::sort(begin, end, less);
    if (std::adjacent_find(begin, end,
                           [&](int64_t a, int64_t b) { return index[a] == index[b]; }) != end) {
      problem(fmt::format("row {} of {}_indices holds a column twice", i, name),
              "add such entries up first: matrix.sum_duplicates()");
      return nullptr;
    }
  }
  const torch::Tensor sorted = torch::tensor(order, torch::kInt64);
  if (values.defined()) values = values.index_select(0, sorted);
  Csr in;
  in.rows = rows;
  in.cols = width;
  in.offsets = offsets;
  in.indices = indices.index_select(0, sorted).to(torch::kInt32);
  return with_transpose(std::move(in));
}

// The dense columns as sparse ones, if they are better kept so: read row by row, so that zeros are
// never all in memory.
bool NpzArrays::pack(const std::string& name, bool nan_is_fine, Features& x) {
  const std::vector<int64_t> shape = about(name).shape;
  const int64_t most = most_kept_sparse(shape[0], shape[1]);
  if (most < 0 || about(name).fortran) return false;
  SparseRows rows(shape[1]);
  bool fine = true;
  checked([&] {
    archive_.read_rows(name, [&](const torch::Tensor& block) {
      fine = add_rows(block.to(torch::kFloat32).contiguous(), most, nan_is_fine, rows);
      return fine;
    });
    return 0;
  });
  if (fine) x = rows.finish();
  return fine;
}

Features NpzArrays::dense(const std::string& name, bool nan_is_fine, bool may_pack) {
  Features x;
  if (!fits(name, 2) || (may_pack && pack(name, nan_is_fine, x))) return x;
  const torch::Tensor values = find(name, 2).to(torch::kFloat32).contiguous();
  if (!check_values(name, values, nan_is_fine) || values.size(1) == 0) return x;
  x.dense = values;
  if (!may_pack || !about(name).fortran) return x;
  const int64_t most = most_kept_sparse(values.size(0), values.size(1));
  SparseRows rows(values.size(1));
  return most >= 0 && add_rows(values, most, nan_is_fine, rows) ? rows.finish() : x;
}

Features NpzArrays::features(const std::string& name, const std::string& missing, bool may_pack,
                             int64_t* sparse) {
  const int64_t before = problems_.count();
  const Features dense_part = dense(name, missing != "error", may_pack);
  if (problems_.count() > before) return {};
  Features given;
  if (has(name + "_indptr") || has(name + "_indices")) {
    torch::Tensor values;
    if (archive_.has(name + "_data")) {
      const bool counted = has(name + "_indices") && about(name + "_indices").shape.size() == 1;
      const int64_t nnz = counted ? about(name + "_indices").shape[0] : -1;
      values = numbers(name + "_data", nnz);
      if (!values.defined()) return {};
    }
    given.sparse = pattern(name, values);
    if (!given.sparse) return {};
    given.sparse_values = values;
  }
  if (sparse) *sparse = given.sparse_width();
  const bool both = given.sparse && (dense_part.sparse || dense_part.dense.defined());
  if (both && given.rows() != dense_part.rows()) {
    problem(fmt::format("'{}' has {} rows, '{}_indptr' has {}", name, dense_part.rows(), name,
                        given.rows()),
            "dense and sparse columns belong to the same rows");
    return {};
  }
  Features x = side_by_side(given, dense_part);
  if (has(name + "_shift") && (x.sparse || x.dense.defined())) {
    x.shift = numbers(name + "_shift", x.width());
    if (!x.shift.defined()) return {};
  }
  return x;
}

}  // namespace grm::own
