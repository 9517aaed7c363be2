#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "../graph/place.h"
#include "kernels.h"
#ifdef GRM_CUDA
#include "cuda/cuda_kernels.h"
#endif

// What runs as kernels of its own on a GPU: a few launches instead of many. The host has its
// vectorised loops in the files that call these.
namespace grm::nn::dispatch {

using kernels::AdamTensor;
using kernels::BatchNormState;

/// One step of all tensors on a GPU. Where `at` (device memory) is not null, the step's numbers are
/// read from there when the launch runs.
template <class T>
void adam(const Place& place, const std::vector<AdamTensor<T>>& tensors,
          const kernels::AdamStep& step, const kernels::AdamStep* at = nullptr);

/// Batch normalisation of training on a GPU; cuda::batch_norm_forward says what it does. `counted`,
/// if not null: the place of the number of rows that count.
template <class T>
void batch_norm_forward(const Place& place, const T* x, int64_t rows, int64_t cols,
                        const BatchNormState<T>& state, const int64_t* counted, T* y);
template <class T>
void batch_norm_backward(const Place& place, const T* x, const T* dy, int64_t rows, int64_t cols,
                         const T* gamma, const double* mean, const double* inverse,
                         const int64_t* counted, T* dx, T* dgamma, T* dbeta);

/// y = x / (1 - rate) where the stream's float is at least `rate`, else 0, on a GPU. The key stands
/// at `key_place` (device memory) where that is not null.
template <class T>
void dropout(const Place& place, const T* x, int64_t n, double rate, uint64_t key,
             const uint64_t* key_place, T* y);

}  // namespace grm::nn::dispatch
