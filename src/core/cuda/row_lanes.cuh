#pragma once

#include "core/cuda/launch.cuh"

// Blocks whose lanes lie along the columns of a matrix; kRowLanes threads share a column, and what
// they have is folded in their order.
namespace grm::cuda {

constexpr int kRowLanes = 8;

/// The sum over the row lanes, in every one of them.
__device__ inline double fold(double value, double (&space)[kRowLanes][kWarp]) {
  __syncthreads();
  space[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < kRowLanes; ++k) sum += space[k][threadIdx.x];
  return sum;
}

}  // namespace grm::cuda
