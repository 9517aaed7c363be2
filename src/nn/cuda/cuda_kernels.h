#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/cuda/cuda_kernels.h"
#include "../kernels.h"

// The kernels of nn/kernels.h on a GPU; the conventions of ops/cuda/cuda_kernels.h.
namespace grm::cuda {

using nn::kernels::AdamStep;
using nn::kernels::AdamTensor;
using nn::kernels::BatchNormState;

/// Scratch memory for all column sums below, the batch_norm functions included.
size_t column_workspace_bytes(int64_t rows, int64_t cols);

template <class T>
void column_sums(const T* x, int64_t rows, int64_t cols, double* sum, void* work, void* stream);
template <class T>
void column_squares(const T* x, int64_t rows, int64_t cols, const double* mean, double* sum,
                    void* work, void* stream);
template <class T>
void gradient_sums(const T* x, const T* dy, int64_t rows, int64_t cols, const double* mean,
                   double* dy_sum, double* dot, void* work, void* stream);
template <class T>
void scale_columns(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                   const T* beta, T* y, void* stream);
template <class T>
void gradient_columns(const T* x, const T* dy, int64_t rows, int64_t cols, const T* mean,
                      const T* scale, const T* dy_mean, const T* slope, T* dx,
                      const int64_t* counted, void* stream);

/// Batch normalisation of training in three launches. Writes the statistics `mean` and `inverse` =
/// 1 / sqrt(variance + eps) (double, [cols]). Where `counted` is not null, it is the place of the
/// number of rows that count: the rows behind them are normalised too, but do not enter sums, and
/// their gradient is 0. Moves the running ones by `momentum` where they are
/// not null, the variance by its unbiased value. rows > 0.
template <class T>
void batch_norm_forward(const T* x, int64_t rows, int64_t cols, const BatchNormState<T>& state,
                        T* y, const int64_t* counted, void* work, void* stream);
template <class T>
void batch_norm_backward(const T* x, const T* dy, int64_t rows, int64_t cols, const T* gamma,
                         const double* mean, const double* inverse, T* dx, T* dgamma, T* dbeta,
                         const int64_t* counted, void* work, void* stream);

/// One step of all tensors, in one launch for each 64 of them. Where `place` (device memory) is not
/// null the step is read from there when the launch runs: for captured graphs.
template <class T>
void adam(const std::vector<AdamTensor<T>>& tensors, const AdamStep& step, const AdamStep* place,
          void* stream);

/// y = x / (1 - rate) where the stream's float is at least `rate`, else 0: the entries that
/// nn::Pass::dropout keeps. Applied to dy it is its own gradient.
template <class T>
void dropout(const T* x, int64_t n, double rate, StreamKey key, T* y, void* stream);

}  // namespace grm::cuda
