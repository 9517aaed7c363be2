// Rows by index and the spreading of one row over its segment: copies, in vectors of 16 bytes where
// the rows allow it.
#include "core/cuda/launch.cuh"
#include "ops/kernels.h"

namespace grm::cuda {
namespace {

constexpr int64_t kRowsPerWarp = 8;  // of one search for their segment

template <class T, int V>
__global__ void gather_kernel(const T* x, const int64_t* index, int64_t count, int64_t across,
                              T* y) {
  const int64_t at = global_thread();
  const int64_t k = at / across, c = at % across;
  if (k >= count) return;
  const int64_t row = index[k];
  store<T, V>(y + at * V, row < 0 ? Vec<T, V>{} : load<T, V>(x + (row * across + c) * V));
}

template <class T, int V>
__global__ void spread_kernel(const int64_t* offset, int64_t segments, int64_t rows, const T* dy,
                              int64_t across, bool mean, T* dx) {
  const int lane = threadIdx.x % kWarp;
  const int64_t first = global_warp() * kRowsPerWarp;
  if (first >= rows) return;
  const int64_t last = first + kRowsPerWarp < rows ? first + kRowsPerWarp : rows;
  const int64_t end = offset[segments];
  int64_t segment = first < end ? find_row(offset, segments, first, lane) : 0;
  for (int64_t row = first; row < last; ++row) {
    if (row >= end) {  // behind the last segment
      for (int64_t c = lane; c < across; c += kWarp) {
        store<T, V>(dx + (row * across + c) * V, Vec<T, V>{});
      }
      continue;
    }
    while (offset[segment + 1] <= row) ++segment;  // empty ones are passed over
    const int64_t count = offset[segment + 1] - offset[segment];
    const T factor = mean ? T{1} / static_cast<T>(count) : T{1};
    for (int64_t c = lane; c < across; c += kWarp) {
      Vec<T, V> value = load<T, V>(dy + (segment * across + c) * V);
#pragma unroll
      for (int v = 0; v < V; ++v) value.at[v] *= factor;
      store<T, V>(dx + (row * across + c) * V, value);
    }
  }
}

}  // namespace

template <class T>
void gather_rows(const Queue& queue, const T* x, const int64_t* index, int64_t count, int64_t d,
                 T* y) {
  if (count == 0 || d == 0) return;
  constexpr int V = kVector<T>;
  if (d % V == 0 && aligned16(x) && aligned16(y)) {
    gather_kernel<T, V><<<blocks_for(count * (d / V), kBlock), kBlock, 0, stream_of(queue)>>>(
        x, index, count, d / V, y);
  } else {
    gather_kernel<T, 1>
        <<<blocks_for(count * d, kBlock), kBlock, 0, stream_of(queue)>>>(x, index, count, d, y);
  }
  check_launch("gather_rows");
}

template <class T>
void segment_reduce_backward(const Queue& queue, const Segments& s, const T* dy, int64_t d,
                             bool mean, T* dx) {
  if (s.rows == 0 || d == 0) return;
  constexpr int V = kVector<T>;
  const unsigned blocks = blocks_for(s.rows, kRowsPerWarp * kBlock / kWarp);
  if (d % V == 0 && aligned16(dy) && aligned16(dx)) {
    spread_kernel<T, V><<<blocks, kBlock, 0, stream_of(queue)>>>(s.offset, s.segments, s.rows, dy,
                                                                 d / V, mean, dx);
  } else {
    spread_kernel<T, 1>
        <<<blocks, kBlock, 0, stream_of(queue)>>>(s.offset, s.segments, s.rows, dy, d, mean, dx);
  }
  check_launch("segment_reduce_backward");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(gather_rows)
GRM_CUDA_KERNEL(segment_reduce_backward)
