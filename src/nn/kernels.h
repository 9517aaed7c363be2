#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels.h"

// The kernels of this station on row-major arrays, for float and double; core/kernel.h says how they
// are called.
namespace grm::kernels {

/// The numbers of one Adam step that do not depend on the element.
struct AdamStep {
  double beta1, beta2, eps;
  double keep;           // AdamW: 1 - lr * decay; Adam: 1
  double coupled_decay;  // AdamW: 0; Adam: decay
  double step_size;      // lr / (1 - beta1^t)
  double second_scale;   // 1 / sqrt(1 - beta2^t)
};

/// One tensor of an optimiser's step.
template <class T>
struct AdamTensor {
  T* p;
  const T* gradient;
  T* first;
  T* second;
  int64_t n;
};

/// What batch normalisation of training reads and writes beside the rows, one value a column; the
/// running statistics may be null.
template <class T>
struct BatchNormState {
  const T* gamma;
  const T* beta;
  double *mean, *inverse;
  T *running_mean, *running_variance;
  double eps, momentum;
};

/// One step of all tensors. Where `place` (device memory) is not null, the step is read from there
/// when the launch runs: for captured graphs.
template <class T>
struct adam : Kernel<void(const std::vector<AdamTensor<T>>& tensors, const AdamStep& step,
                          const AdamStep* place)> {};

// --- whole layers on a GPU: a few launches instead of many ---

/// Batch normalisation of training. Writes the statistics `mean` and `inverse` = 1 / sqrt(variance +
/// eps) (double, [cols]). Where `counted` is not null, it is the place of the number of rows that
/// count: the rows behind them are normalised too, but do not enter sums, and their gradient is 0.
/// Moves the running statistics by `momentum` where they are not null, the variance by its unbiased
/// value. rows > 0.
template <class T>
struct batch_norm_forward
    : CudaKernel<void(const T* x, int64_t rows, int64_t cols, const BatchNormState<T>& state,
                      const int64_t* counted, T* y)> {};
template <class T>
struct batch_norm_backward
    : CudaKernel<void(const T* x, const T* dy, int64_t rows, int64_t cols, const T* gamma,
                      const double* mean, const double* inverse, const int64_t* counted, T* dx,
                      T* dgamma, T* dbeta)> {};

/// y = x / (1 - rate) where the stream's float is at least `rate`, else 0: the entries that
/// nn::Pass::dropout keeps. Applied to dy it is its own gradient.
template <class T>
struct dropout : CudaKernel<void(const T* x, int64_t n, double rate, StreamKey key, T* y)> {};

// --- inner loops of batch normalisation on the host, over some rows ---

/// sum[c] = sum over rows of x[r, c].
template <class T>
struct column_sums : CpuKernel<void(const T* x, int64_t rows, int64_t cols, double* sum)> {};

/// sum[c] = sum over rows of (x[r, c] - mean[c])^2.
template <class T>
struct column_squares
    : CpuKernel<void(const T* x, int64_t rows, int64_t cols, const double* mean, double* sum)> {};

/// y = (x - mean) * scale + beta, per column.
template <class T>
struct scale_columns : CpuKernel<void(const T* x, int64_t rows, int64_t cols, const T* mean,
                                      const T* scale, const T* beta, T* y)> {};

/// dy_sum[c] = sum dy and dot[c] = sum dy * (x - mean[c]) over rows.
template <class T>
struct gradient_sums : CpuKernel<void(const T* x, const T* dy, int64_t rows, int64_t cols,
                                      const double* mean, double* dy_sum, double* dot)> {};

/// dx = scale * (dy - dy_mean - (x - mean) * slope), per column.
template <class T>
struct gradient_columns
    : CpuKernel<void(const T* x, const T* dy, int64_t rows, int64_t cols, const T* mean,
                     const T* scale, const T* dy_mean, const T* slope, T* dx)> {};

// --- inner loops of norm_relu_dropout on the host ---

/// y = factor * max((x - mean) * scale + beta, 0) per column where uniform >= rate, else 0.
/// uniform: [rows, cols]; null: everything is kept.
template <class T>
struct normalise_and_drop
    : CpuKernel<void(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                     const T* beta, const float* uniform, float rate, T factor, T* y)> {};

/// With g = factor * dy where y > 0, else 0:
/// g_sum[c] = sum g and dot[c] = sum g * (x - mean[c]) over rows.
template <class T>
struct masked_gradient_sums
    : CpuKernel<void(const T* x, const T* y, const T* dy, int64_t rows, int64_t cols,
                     const double* mean, T factor, double* g_sum, double* dot)> {};

/// dx = scale * (g - g_mean - (x - mean) * slope), per column.
template <class T>
struct masked_gradient_columns
    : CpuKernel<void(const T* x, const T* y, const T* dy, int64_t rows, int64_t cols, const T* mean,
                     const T* scale, const T* g_mean, const T* slope, T factor, T* dx)> {};

}  // namespace grm::kernels
