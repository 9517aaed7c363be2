#pragma once

#include <cstdint>

#include "../graph/place.h"
#include "generated_kernels.h"
#ifdef GRM_CUDA
#include "cuda/cuda_kernels.h"
#endif

// The kernels of generated_kernels.h where the numbers live.
namespace grm::ops::dispatch {

#ifdef GRM_CUDA
/// Nodes of the largest graph that the kernels of a GPU take.
constexpr int64_t kMostDeviceNodes = cuda::kMaxGeneratedNodes;
#else
constexpr int64_t kMostDeviceNodes = 0;
#endif

template <class T>
void generate_forward(const Place& place, const kernels::GeneratorBatch& batch, const T* f,
                      const T* x, T* y, T* kl) {
#ifdef GRM_CUDA
  if (place.cuda) {
    cuda::generate_forward<T>(batch, f, x, y, kl, nullptr, nullptr, place.stream);
    return;
  }
#endif
  (void)place;
  kernels::generate_forward<T>(batch, f, x, y, kl);
}

template <class T>
void generate_backward(const Place& place, const kernels::GeneratorBatch& batch, const T* f,
                       const T* x, const T* dy, const T* dkl, T* df, T* dx) {
#ifdef GRM_CUDA
  if (place.cuda) {
    cuda::generate_backward<T>(batch, f, x, dy, dkl, df, false, dx, place.stream);
    return;
  }
#endif
  (void)place;
  kernels::generate_backward<T>(batch, f, x, dy, dkl, df, dx);
}

}  // namespace grm::ops::dispatch
