#include "io/mat.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "grm/core/error.h"
#include "io/mat_frame.h"

namespace grm::io {

MatSparse read_mat_sparse(const std::string& path, const std::string& name) {
  const MatMatrix found = find_mat_matrix(path, name);
  if (!found.sparse) {
    fail(ErrorKind::data, "{}: variable '{}' is not a sparse matrix", path, name);
  }
  const auto damaged = [&](const char* what) {
    fail(ErrorKind::data, "{}: sparse variable '{}' is damaged: {}", path, name, what);
  };
  MatSparse matrix;
  matrix.rows = found.rows;
  matrix.cols = found.cols;
  matrix.row = torch::empty({found.counts[0]}, torch::kInt64);
  matrix.value = torch::empty({found.counts[2]}, torch::kFloat64);
  std::vector<int64_t> starts(static_cast<size_t>(found.counts[1]));
  const auto copy_to = [](auto* out) {
    return [out](int64_t first, const double* numbers, int64_t count) {
      std::copy(numbers, numbers + count, out + first);
    };
  };
  auto* row = matrix.row.data_ptr<int64_t>();
  read_mat_matrix(path, found,
                  {copy_to(row), copy_to(starts.data()), copy_to(matrix.value.data_ptr<double>())});
  if (starts[0] != 0) damaged("its column pointers do not fit its size");
  const int64_t count = starts.back();
  if (count > found.counts[0] || count > found.counts[2]) {
    damaged("it has fewer entries than its column pointers say");
  }
  // Files may reserve more entries than they use.
  matrix.row = matrix.row.narrow(0, 0, std::max<int64_t>(count, 0));
  matrix.value = matrix.value.narrow(0, 0, matrix.row.size(0));
  matrix.col = torch::empty_like(matrix.row);
  auto* col = matrix.col.data_ptr<int64_t>();
  for (int64_t c = 0; c < matrix.cols; ++c) {
    const int64_t begin = starts[static_cast<size_t>(c)];
    const int64_t end = starts[static_cast<size_t>(c) + 1];
    if (end < begin || end > count) damaged("its column pointers are not in order");
    for (int64_t i = begin; i < end; ++i) {
      if (row[i] < 0 || row[i] >= matrix.rows) damaged("a row lies outside the matrix");
      col[i] = c;
    }
  }
  return matrix;
}

torch::Tensor read_mat_dense(const std::string& path, const std::string& name) {
  const MatMatrix found = find_mat_matrix(path, name);
  if (found.sparse) {
    fail(ErrorKind::data, "{}: variable '{}' is not a full matrix of numbers", path, name);
  }
  torch::Tensor matrix = torch::empty({found.rows, found.cols}, torch::kFloat64);
  auto* out = matrix.data_ptr<double>();
  // MATLAB stores columns one after the other.
  read_mat_matrix(path, found, {[&](int64_t first, const double* numbers, int64_t count) {
                    for (int64_t i = first; i < first + count; ++i) {
                      out[i % found.rows * found.cols + i / found.rows] = numbers[i - first];
                    }
                  }});
  return matrix;
}

torch::Tensor read_mat_integers(const std::string& path, const std::string& name) {
  const torch::Tensor numbers = read_mat_dense(path, name);
  torch::Tensor whole = torch::empty(numbers.sizes(), torch::kInt64);
  const double* in = numbers.data_ptr<double>();
  auto* out = whole.data_ptr<int64_t>();
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    if (!(std::abs(in[i]) <= 0x1.0p53) || in[i] != std::floor(in[i])) {
      fail(ErrorKind::data, "{}: variable '{}' row {} column {}: {} is not a whole number", path,
           name, i / numbers.size(1) + 1, i % numbers.size(1) + 1, in[i]);
    }
    out[i] = static_cast<int64_t>(in[i]);
  }
  return whole;
}

}  // namespace grm::io
