#include "grm/io/mat.h"

#include "grm/core/error.h"

#ifdef GRM_WITH_MATIO

#include <matio.h>

#include <cmath>
#include <memory>
#include <mutex>

#include "mat_frame.h"

namespace grm::io {
namespace {

// matio keeps one logger for the whole process and would print to stderr by itself.
std::mutex g_matio;
std::string g_message;
void keep_message(int /*level*/, char* message) {
  g_message = message;
}

using File = std::unique_ptr<mat_t, int (*)(mat_t*)>;
using Variable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

// The caller holds g_matio.
Variable read_variable(const std::string& path, const std::string& name) {
  check_mat_frame(path, name);
  Mat_LogInitFunc("grm", keep_message);
  g_message.clear();
  const File file(Mat_Open(path.c_str(), MAT_ACC_RDONLY), Mat_Close);
  if (!file) fail(ErrorKind::data, "{}: cannot be read: {}", path, g_message);
  Variable variable(Mat_VarRead(file.get(), name.c_str()), Mat_VarFree);
  if (variable && variable->data == nullptr && variable->nbytes > 0 && g_message.empty()) {
    g_message = "it has no data";
  }
  if (!variable || !g_message.empty()) {
    fail(ErrorKind::data, "{}: variable '{}' is damaged: {}", path, name, g_message);
  }
  if (variable->rank != 2 || variable->isComplex) {
    fail(ErrorKind::data, "{}: variable '{}' has rank {}{}, expected a real matrix", path, name,
         variable->rank, variable->isComplex ? " and is complex" : "");
  }
  return variable;
}

template <class T>
void copy_as_double(const void* data, int64_t count, double* out) {
  const T* in = static_cast<const T*>(data);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(in[i]);
}

// False if the type is not numeric.
bool convert(enum matio_types type, const void* data, int64_t count, double* out) {
  switch (type) {
    case MAT_T_DOUBLE:
      copy_as_double<double>(data, count, out);
      return true;
    case MAT_T_SINGLE:
      copy_as_double<float>(data, count, out);
      return true;
    case MAT_T_INT8:
      copy_as_double<int8_t>(data, count, out);
      return true;
    case MAT_T_UINT8:
      copy_as_double<uint8_t>(data, count, out);
      return true;
    case MAT_T_INT16:
      copy_as_double<int16_t>(data, count, out);
      return true;
    case MAT_T_UINT16:
      copy_as_double<uint16_t>(data, count, out);
      return true;
    case MAT_T_INT32:
      copy_as_double<int32_t>(data, count, out);
      return true;
    case MAT_T_UINT32:
      copy_as_double<uint32_t>(data, count, out);
      return true;
    case MAT_T_INT64:
      copy_as_double<int64_t>(data, count, out);
      return true;
    case MAT_T_UINT64:
      copy_as_double<uint64_t>(data, count, out);
      return true;
    default:
      return false;
  }
}

}  // namespace

MatSparse read_mat_sparse(const std::string& path, const std::string& name) {
  const std::lock_guard<std::mutex> lock(g_matio);
  const Variable variable = read_variable(path, name);
  if (variable->class_type != MAT_C_SPARSE) {
    fail(ErrorKind::data, "{}: variable '{}' is not a sparse matrix", path, name);
  }
  MatSparse matrix;
  matrix.rows = static_cast<int64_t>(variable->dims[0]);
  matrix.cols = static_cast<int64_t>(variable->dims[1]);
  const auto* stored = static_cast<const mat_sparse_t*>(variable->data);
  const auto damaged = [&](const char* what) {
    fail(ErrorKind::data, "{}: sparse variable '{}' is damaged: {}", path, name, what);
  };
  if (stored == nullptr || static_cast<int64_t>(stored->njc) != matrix.cols + 1 ||
      stored->jc == nullptr || stored->jc[0] != 0) {
    damaged("its column pointers do not fit its size");
  }
  const int64_t count = stored->jc[matrix.cols];
  if (count > stored->nir || count > stored->ndata ||
      (count > 0 && (stored->ir == nullptr || stored->data == nullptr))) {
    damaged("it has fewer entries than its column pointers say");
  }
  matrix.row = torch::empty({count}, torch::kInt64);
  matrix.col = torch::empty({count}, torch::kInt64);
  matrix.value = torch::empty({count}, torch::kFloat64);
  auto* row = matrix.row.data_ptr<int64_t>();
  auto* col = matrix.col.data_ptr<int64_t>();
  for (int64_t c = 0; c < matrix.cols; ++c) {
    if (stored->jc[c + 1] < stored->jc[c] || stored->jc[c + 1] > count) {
      damaged("its column pointers are not in order");
    }
    for (int64_t i = stored->jc[c]; i < stored->jc[c + 1]; ++i) {
      if (stored->ir[i] >= matrix.rows) damaged("a row lies outside the matrix");
      row[i] = stored->ir[i];
      col[i] = c;
    }
  }
  if (!convert(variable->data_type, stored->data, count, matrix.value.data_ptr<double>())) {
    damaged("its values are not numbers");
  }
  return matrix;
}

torch::Tensor read_mat_dense(const std::string& path, const std::string& name) {
  const std::lock_guard<std::mutex> lock(g_matio);
  const Variable variable = read_variable(path, name);
  const auto rows = static_cast<int64_t>(variable->dims[0]);
  const auto cols = static_cast<int64_t>(variable->dims[1]);
  int64_t count = 0;
  if (variable->data_size <= 0 || __builtin_mul_overflow(rows, cols, &count) ||
      variable->nbytes / static_cast<size_t>(variable->data_size) != static_cast<size_t>(count)) {
    fail(ErrorKind::data, "{}: variable '{}' is not a full matrix of numbers", path, name);
  }
  // MATLAB stores columns one after the other.
  torch::Tensor columns = torch::empty({cols, rows}, torch::kFloat64);
  if (variable->class_type == MAT_C_SPARSE || variable->class_type == MAT_C_CHAR ||
      !convert(variable->data_type, variable->data, count, columns.data_ptr<double>())) {
    fail(ErrorKind::data, "{}: variable '{}' is not a full matrix of numbers", path, name);
  }
  return columns.t().contiguous();
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

#else

namespace grm::io {
namespace {
[[noreturn]] void no_matio(const std::string& path) {
  fail(ErrorKind::config,
       "{}: .mat files need matio; this program was built without it: install libmatio-dev and "
       "configure with -DGRM_WITH_MATIO=ON",
       path);
}
}  // namespace

MatSparse read_mat_sparse(const std::string& path, const std::string& /*name*/) {
  no_matio(path);
}
torch::Tensor read_mat_dense(const std::string& path, const std::string& /*name*/) {
  no_matio(path);
}
torch::Tensor read_mat_integers(const std::string& path, const std::string& /*name*/) {
  no_matio(path);
}

}  // namespace grm::io

#endif
