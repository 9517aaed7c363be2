#include <algorithm>
#include <cmath>

#include "../graph/instance_norm_kernels.h"

namespace grm::graph_level::kernels {

template <class T>
void normalise(const T* x, int64_t rows, int64_t cols, double eps, T* y, T* scale, double* work) {
  double *mean = work, *square = work + cols;
  const double share = 1.0 / static_cast<double>(rows);
  std::fill_n(work, 2 * cols, 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) mean[c] += static_cast<double>(x[r * cols + c]);
  }
  for (int64_t c = 0; c < cols; ++c) mean[c] *= share;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const double d = static_cast<double>(x[r * cols + c]) - mean[c];
      square[c] += d * d;
    }
  }
  for (int64_t c = 0; c < cols; ++c) {
    square[c] = 1.0 / std::sqrt(square[c] * share + eps);
    scale[c] = static_cast<T>(square[c]);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] =
          static_cast<T>((static_cast<double>(x[r * cols + c]) - mean[c]) * square[c]);
    }
  }
}

template <class T>
void normalise_gradient(const T* y, const T* dy, const T* scale, int64_t rows, int64_t cols, T* dx,
                        double* work) {
  double *mean = work, *dot = work + cols;
  const double share = 1.0 / static_cast<double>(rows);
  std::fill_n(work, 2 * cols, 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const double g = static_cast<double>(dy[r * cols + c]);
      mean[c] += g;
      dot[c] += g * static_cast<double>(y[r * cols + c]);
    }
  }
  for (int64_t c = 0; c < 2 * cols; ++c) work[c] *= share;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t at = r * cols + c;
      dx[at] =
          static_cast<T>(static_cast<double>(scale[c]) * (static_cast<double>(dy[at]) - mean[c] -
                                                          static_cast<double>(y[at]) * dot[c]));
    }
  }
}

#define GRM_INSTANTIATE(T)                                                      \
  template void normalise(const T*, int64_t, int64_t, double, T*, T*, double*); \
  template void normalise_gradient(const T*, const T*, const T*, int64_t, int64_t, T*, double*);
GRM_INSTANTIATE(float)
GRM_INSTANTIATE(double)
#undef GRM_INSTANTIATE

}  // namespace grm::graph_level::kernels
