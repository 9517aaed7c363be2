#pragma once

#include "core/cuda/launch.cuh"
#include "ops/kernels.h"

// Kernels over the entries of pattern rows. A row is worked on by a team: a warp, or where it has
// more than kTeamRow entries all warps of the block, so that a few hubs do not keep the others
// waiting. Which of the two depends on the row's length alone, and so do the bits of the result.
namespace grm::cuda {

constexpr int64_t kTeamRow = 512;
constexpr int kTeamWarps = kBlock / kWarp;

/// Reductions go over the members whose places are equal modulo `stride`, a divisor of 32.
template <class T>
struct WarpTeam {
  static constexpr int kSize = kWarp;
  __device__ int place() const { return threadIdx.x % kWarp; }
  __device__ T sum(T value, int stride = 1) const {
    for (int offset = kWarp / 2; offset >= stride; offset /= 2) {
      value += __shfl_xor_sync(kAllLanes, value, offset);
    }
    return value;
  }
  __device__ T largest(T value, int stride = 1) const {
    for (int offset = kWarp / 2; offset >= stride; offset /= 2) {
      const T other = __shfl_xor_sync(kAllLanes, value, offset);
      value = other > value ? other : value;
    }
    return value;
  }
};

template <class T>
struct BlockTeam {
  static constexpr int kSize = kBlock;
  T (*space)[kWarp];  // [kTeamWarps][kWarp] in shared memory

  __device__ int place() const { return threadIdx.x; }
  __device__ void share(T value) const {
    __syncthreads();
    space[threadIdx.x / kWarp][threadIdx.x % kWarp] = value;
    __syncthreads();
  }
  __device__ T sum(T value, int stride = 1) const {
    share(WarpTeam<T>().sum(value, stride));
    T total = T{0};
#pragma unroll
    for (int w = 0; w < kTeamWarps; ++w) total += space[w][threadIdx.x % kWarp];
    return total;
  }
  __device__ T largest(T value, int stride = 1) const {
    share(WarpTeam<T>().largest(value, stride));
    T best = space[0][threadIdx.x % kWarp];
#pragma unroll
    for (int w = 1; w < kTeamWarps; ++w) {
      const T other = space[w][threadIdx.x % kWarp];
      best = other > best ? other : best;
    }
    return best;
  }
};

/// work(team, row, begin, end) for every row.
template <class T, class Work>
__global__ void __launch_bounds__(kBlock)
    team_kernel(int64_t rows, const int64_t* offset, Work work) {
  __shared__ T space[kTeamWarps][kWarp];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTeamWarps;
  const int64_t own = first + threadIdx.x / kWarp;
  bool any = false;
  if (own < rows) {
    const int64_t begin = offset[own], end = offset[own + 1];
    any = end - begin > kTeamRow;
    if (!any) work(WarpTeam<T>{}, own, begin, end);
  }
  if (!__syncthreads_or(any)) return;
  for (int64_t row = first; row < first + kTeamWarps && row < rows; ++row) {
    const int64_t begin = offset[row], end = offset[row + 1];
    if (end - begin > kTeamRow) work(BlockTeam<T>{space}, row, begin, end);
  }
}

template <class T, class Work>
void launch_teams(const Pattern& a, const Work& work, const char* what, const Queue& queue) {
  if (a.rows == 0) return;
  team_kernel<T, Work>
      <<<blocks_for(a.rows, kTeamWarps), kBlock, 0, stream_of(queue)>>>(a.rows, a.offset, work);
  check_launch(what);
}

}  // namespace grm::cuda
