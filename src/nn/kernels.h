#pragma once

#include <cstdint>

// Inner loops of batch normalisation and Adam on raw row-major arrays, float or double.
namespace grm::nn::kernels {

/// sum[c] = sum over rows of x[r, c].
template <class T>
void column_sums(const T* x, int64_t rows, int64_t cols, double* sum);

/// sum[c] = sum over rows of (x[r, c] - mean[c])^2.
template <class T>
void column_squares(const T* x, int64_t rows, int64_t cols, const double* mean, double* sum);

/// y = (x - mean) * scale + beta, per column.
template <class T>
void scale_columns(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                   const T* beta, T* y);

/// dy_sum[c] = sum dy and dot[c] = sum dy * (x - mean[c]) over rows.
template <class T>
void gradient_sums(const T* x, const T* dy, int64_t rows, int64_t cols, const double* mean,
                   double* dy_sum, double* dot);

/// dx = scale * (dy - dy_mean - (x - mean) * slope), per column.
template <class T>
void gradient_columns(const T* x, const T* dy, int64_t rows, int64_t cols, const T* mean,
                      const T* scale, const T* dy_mean, const T* slope, T* dx);

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

template <class T>
void adam(T* p, const T* gradient, T* first, T* second, int64_t n, const AdamStep& step);

}  // namespace grm::nn::kernels
