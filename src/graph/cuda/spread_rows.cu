// Rows of a sparse matrix as dense rows.
#include "core/cuda/launch.cuh"
#include "graph/kernels.h"

namespace grm::cuda {
namespace {

// One warp a row.
__global__ void __launch_bounds__(kBlock)
    spread_kernel(const int64_t* offset, const int32_t* index, const float* value,
                  const int64_t* rows, int64_t count, int64_t width, float* out) {
  const int64_t k = global_warp();
  if (k >= count) return;
  const int lane = threadIdx.x % kWarp;
  float* row = out + k * width;
  for (int64_t c = lane; c < width; c += kWarp) row[c] = 0.0f;
  __syncwarp();
  const int64_t end = offset[rows[k] + 1];
  for (int64_t e = offset[rows[k]] + lane; e < end; e += kWarp) {
    row[index[e]] = value ? value[e] : 1.0f;
  }
}

}  // namespace

void spread_rows(const Queue& queue, const int64_t* offset, const int32_t* index,
                 const float* value, const int64_t* rows, int64_t count, int64_t width,
                 float* out) {
  if (count == 0 || width == 0) return;
  spread_kernel<<<blocks_for(count, kBlock / kWarp), kBlock, 0, stream_of(queue)>>>(
      offset, index, value, rows, count, width, out);
  check_launch("spread_rows");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::spread_rows, spread_rows)
