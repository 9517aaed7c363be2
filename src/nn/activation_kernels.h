#pragma once

#include <cstdint>

// Inner loops of norm_relu_dropout on raw row-major arrays, float or double.
namespace grm::nn::kernels {

/// y = factor * max((x - mean) * scale + beta, 0) per column where uniform >= rate, else 0.
/// uniform: [rows, cols]; null: everything is kept.
template <class T>
void normalise_and_drop(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                        const T* beta, const float* uniform, float rate, T factor, T* y);

/// With g = factor * dy where y > 0, else 0:
/// g_sum[c] = sum g and dot[c] = sum g * (x - mean[c]) over rows.
template <class T>
void masked_gradient_sums(const T* x, const T* y, const T* dy, int64_t rows, int64_t cols,
                          const double* mean, T factor, double* g_sum, double* dot);

/// dx = scale * (g - g_mean - (x - mean) * slope), per column.
template <class T>
void masked_gradient_columns(const T* x, const T* y, const T* dy, int64_t rows, int64_t cols,
                             const T* mean, const T* scale, const T* g_mean, const T* slope,
                             T factor, T* dx);

}  // namespace grm::nn::kernels
