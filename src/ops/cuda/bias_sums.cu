// Sums over the rows of a matrix: blocks add up kRowsOfBlock rows each, then one block for every 32
// columns adds what they have, in their order. Sums are kept in double.
#include "core/cuda/row_lanes.cuh"
#include "ops/kernels.h"

namespace grm::cuda {
namespace {

constexpr int64_t kRowsOfBlock = 128;

// Row blockIdx.x of `sum` from `span` rows of x.
template <class In, class Out>
__global__ void __launch_bounds__(kBlock)
    add_rows(const In* x, int64_t rows, int64_t cols, int64_t span, Out* sum) {
  __shared__ double space[kRowLanes][kWarp];
  const int64_t c = blockIdx.y * static_cast<int64_t>(kWarp) + threadIdx.x;
  const int64_t begin = blockIdx.x * span, end = begin + span < rows ? begin + span : rows;
  double own = 0.0;
  if (c < cols) {
#pragma unroll 8
    for (int64_t r = begin + threadIdx.y; r < end; r += kRowLanes) {
      own += static_cast<double>(x[r * cols + c]);
    }
  }
  own = fold(own, space);
  if (c < cols && threadIdx.y == 0) sum[blockIdx.x * cols + c] = static_cast<Out>(own);
}

}  // namespace

template <class T>
void bias_sums(const Queue& queue, const T* x, int64_t rows, int64_t cols, T* sum) {
  if (cols == 0) return;
  const cudaStream_t stream = stream_of(queue);
  const dim3 block(kWarp, kRowLanes);
  const unsigned across = blocks_for(cols, kWarp);
  const int64_t parts = (rows + kRowsOfBlock - 1) / kRowsOfBlock;
  if (parts <= 1) {
    add_rows<T, T><<<dim3(1, across), block, 0, stream>>>(x, rows, cols, kRowsOfBlock, sum);
    check_launch("bias_sums");
    return;
  }
  auto* part = static_cast<double*>(queue.scratch(parts * cols * sizeof(double)));
  add_rows<T, double>
      <<<dim3(blocks_for(parts, 1), across), block, 0, stream>>>(x, rows, cols, kRowsOfBlock, part);
  check_launch("bias_sums, parts");
  add_rows<double, T><<<dim3(1, across), block, 0, stream>>>(part, parts, cols, parts, sum);
  check_launch("bias_sums");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(bias_sums)
