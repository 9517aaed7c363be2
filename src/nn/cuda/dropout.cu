// Dropout whose mask is never stored: the gradient draws it again.
#include "core/cuda/philox.cuh"
#include "nn/kernels.h"

namespace grm::cuda {
namespace {

template <class T>
__global__ void dropout_kernel(const T* x, int64_t n, float rate, T scale, StreamKey key, bool wide,
                               T* y) {
  const int64_t first = 4 * global_thread();
  if (first >= n) return;
  uint32_t word[4];
  philox(read_key(key), static_cast<uint64_t>(first / 4), word);
  if (wide && first + 4 <= n) {
    constexpr int V = kVector<T>;
#pragma unroll
    for (int k = 0; k < 4; k += V) {
      Vec<T, V> value = load<T, V>(x + first + k);
#pragma unroll
      for (int u = 0; u < V; ++u) value.at[u] *= unit_float(word[k + u]) >= rate ? scale : T{0};
      store<T, V>(y + first + k, value);
    }
    return;
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    if (first + u < n) {
      y[first + u] = x[first + u] * (unit_float(word[u]) >= rate ? scale : T{0});
    }
  }
}

}  // namespace

template <class T>
void dropout(const Queue& queue, const T* x, int64_t n, double rate, StreamKey key, T* y) {
  if (n == 0) return;
  dropout_kernel<T><<<blocks_for((n + 3) / 4, kBlock), kBlock, 0, stream_of(queue)>>>(
      x, n, static_cast<float>(rate), static_cast<T>(1.0 / (1.0 - rate)), key,
      aligned16(x) && aligned16(y), y);
  check_launch("dropout");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(dropout)
