// Largest entries of segments. One block per segment: its warps take consecutive stretches of rows,
// lanes lie across the columns, and stretches are compared in their order.
#include "core/cuda/launch.cuh"
#include "ops/kernels.h"

namespace grm::cuda {
namespace {

constexpr int kWarps = 4;

template <class T>
__global__ void __launch_bounds__(kWarps* kWarp)
    segment_max_kernel(const int64_t* offset, const T* x, int64_t d, T* y, int64_t* row) {
  __shared__ T value[kWarps][kWarp];
  __shared__ int64_t place[kWarps][kWarp];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t segment = blockIdx.x, begin = offset[segment], end = offset[segment + 1];
  const int64_t stretch = (end - begin + kWarps - 1) / kWarps;
  const int64_t first = begin + warp * stretch;
  const int64_t last = first + stretch < end ? first + stretch : end;
  for (int64_t slab = 0; slab < d; slab += kWarp) {
    const int64_t c = slab + lane;
    // Only the segment's first row may be taken unseen: NaN counts there and nowhere else.
    T best = static_cast<T>(-INFINITY);
    int64_t at = -1;
    if (c < d) {
      if (warp == 0 && first < last) {
        best = x[first * d + c];
        at = first;
      }
#pragma unroll 4
      for (int64_t r = first + (warp == 0 ? 1 : 0); r < last; ++r) {
        const T now = x[r * d + c];
        if (now > best) {
          best = now;
          at = r;
        }
      }
    }
    value[warp][lane] = best;
    place[warp][lane] = at;
    __syncthreads();
    if (warp == 0 && c < d) {
      for (int w = 1; w < kWarps; ++w) {
        if (value[w][lane] > best) {
          best = value[w][lane];
          at = place[w][lane];
        }
      }
      y[segment * d + c] = begin < end ? best : T{0};
      row[segment * d + c] = at;
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void segment_max(const Queue& queue, const int64_t* offset, int64_t segments, const T* x, int64_t d,
                 T* y, int64_t* row) {
  if (segments == 0 || d == 0) return;
  segment_max_kernel<T>
      <<<blocks_for(segments, 1), kWarps * kWarp, 0, stream_of(queue)>>>(offset, x, d, y, row);
  check_launch("segment_max");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(segment_max)
