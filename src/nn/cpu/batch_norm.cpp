#include <algorithm>

#include "nn/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {

template <class T>
void column_sums(const T* x, int64_t rows, int64_t cols, double* sum) {
  std::fill_n(sum, cols, 0.0);
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    for (int64_t c = 0; c < cols; ++c) sum[c] += static_cast<double>(x[c]);
  }
}

template <class T>
void column_squares(const T* x, int64_t rows, int64_t cols, const double* mean, double* sum) {
  std::fill_n(sum, cols, 0.0);
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    for (int64_t c = 0; c < cols; ++c) {
      const double d = static_cast<double>(x[c]) - mean[c];
      sum[c] += d * d;
    }
  }
}

template <class T>
void scale_columns(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                   const T* beta, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    for (int64_t c = 0; c < cols; ++c) y[c] = (x[c] - mean[c]) * scale[c] + beta[c];
  }
}

template <class T>
void gradient_sums(const T* x, const T* dy, int64_t rows, int64_t cols, const double* mean,
                   double* dy_sum, double* dot) {
  std::fill_n(dy_sum, cols, 0.0);
  std::fill_n(dot, cols, 0.0);
  for (int64_t r = 0; r < rows; ++r, x += cols, dy += cols) {
    for (int64_t c = 0; c < cols; ++c) {
      const double g = static_cast<double>(dy[c]);
      dy_sum[c] += g;
      dot[c] += g * (static_cast<double>(x[c]) - mean[c]);
    }
  }
}

template <class T>
void gradient_columns(const T* x, const T* dy, int64_t rows, int64_t cols, const T* mean,
                      const T* scale, const T* dy_mean, const T* slope, T* dx) {
  for (int64_t r = 0; r < rows; ++r, x += cols, dy += cols, dx += cols) {
    for (int64_t c = 0; c < cols; ++c) {
      dx[c] = scale[c] * (dy[c] - dy_mean[c] - (x[c] - mean[c]) * slope[c]);
    }
  }
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(column_sums)
GRM_CPU_KERNEL(column_squares)
GRM_CPU_KERNEL(scale_columns)
GRM_CPU_KERNEL(gradient_sums)
GRM_CPU_KERNEL(gradient_columns)
