#include "nn/kernels.h"

#include <algorithm>

namespace grm::cpu::GRM_CPU_VARIANT {

template <class T>
void normalise_and_drop(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                        const T* beta, const float* uniform, float rate, T factor, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    if (uniform) {
      for (int64_t c = 0; c < cols; ++c) {
        const T value = (x[c] - mean[c]) * scale[c] + beta[c];
        const T kept = value < T{0} ? T{0} : value * factor;
        y[c] = uniform[c] >= rate ? kept : T{0};
      }
      uniform += cols;
    } else {
      for (int64_t c = 0; c < cols; ++c) {
        const T value = (x[c] - mean[c]) * scale[c] + beta[c];
        y[c] = value < T{0} ? T{0} : value;
      }
    }
  }
}

template <class T>
void masked_gradient_sums(const T* x, const T* y, const T* dy, int64_t rows, int64_t cols,
                          const double* mean, T factor, double* g_sum, double* dot) {
  std::fill_n(g_sum, cols, 0.0);
  std::fill_n(dot, cols, 0.0);
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols, dy += cols) {
    for (int64_t c = 0; c < cols; ++c) {
      const double g = static_cast<double>(y[c] > T{0} ? dy[c] * factor : T{0});
      g_sum[c] += g;
      dot[c] += g * (static_cast<double>(x[c]) - mean[c]);
    }
  }
}

template <class T>
void masked_gradient_columns(const T* x, const T* y, const T* dy, int64_t rows, int64_t cols,
                             const T* mean, const T* scale, const T* g_mean, const T* slope,
                             T factor, T* dx) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols, dy += cols, dx += cols) {
    for (int64_t c = 0; c < cols; ++c) {
      const T g = y[c] > T{0} ? dy[c] * factor : T{0};
      dx[c] = scale[c] * (g - g_mean[c] - (x[c] - mean[c]) * slope[c]);
    }
  }
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(normalise_and_drop)
GRM_CPU_KERNEL(masked_gradient_sums)
GRM_CPU_KERNEL(masked_gradient_columns)
