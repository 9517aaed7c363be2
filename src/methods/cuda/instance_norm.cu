// Instance normalisation: a block takes 32 columns of one graph. Its warps take every eighth row
// and are folded in their order; sums are kept in double.
#include "core/cuda/row_lanes.cuh"
#include "methods/kernels.h"

namespace grm::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kBlock)
    norm_kernel(const int64_t* offset, const T* x, int64_t cols, double eps, T* y, T* scale) {
  __shared__ double space[kRowLanes][kWarp];
  const int64_t graph = blockIdx.x, begin = offset[graph], end = offset[graph + 1];
  const int64_t c = blockIdx.y * static_cast<int64_t>(kWarp) + threadIdx.x;
  const int64_t first = c < cols ? begin + threadIdx.y : end;  // nothing beyond the columns
  const double share = end > begin ? 1.0 / static_cast<double>(end - begin) : 0.0;
  double sum = 0.0, square = 0.0;
#pragma unroll 2
  for (int64_t r = first; r < end; r += kRowLanes) sum += static_cast<double>(x[r * cols + c]);
  const double mean = fold(sum, space) * share;
#pragma unroll 2
  for (int64_t r = first; r < end; r += kRowLanes) {
    const double away = static_cast<double>(x[r * cols + c]) - mean;
    square += away * away;
  }
  const double inverse = 1.0 / sqrt(fold(square, space) * share + eps);
  if (c < cols && threadIdx.y == 0) {
    scale[graph * cols + c] = end > begin ? static_cast<T>(inverse) : T{0};
  }
  for (int64_t r = first; r < end; r += kRowLanes) {
    y[r * cols + c] = static_cast<T>((static_cast<double>(x[r * cols + c]) - mean) * inverse);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    gradient_kernel(const int64_t* offset, const T* y, const T* dy, const T* scale, int64_t cols,
                    T* dx) {
  __shared__ double space[kRowLanes][kWarp];
  const int64_t graph = blockIdx.x, begin = offset[graph], end = offset[graph + 1];
  const int64_t c = blockIdx.y * static_cast<int64_t>(kWarp) + threadIdx.x;
  const int64_t first = c < cols ? begin + threadIdx.y : end;
  const double share = end > begin ? 1.0 / static_cast<double>(end - begin) : 0.0;
  double sum = 0.0, dot = 0.0;
#pragma unroll 2
  for (int64_t r = first; r < end; r += kRowLanes) {
    const double g = static_cast<double>(dy[r * cols + c]);
    sum += g;
    dot += g * static_cast<double>(y[r * cols + c]);
  }
  sum = fold(sum, space) * share;
  dot = fold(dot, space) * share;
  const double factor = c < cols ? static_cast<double>(scale[graph * cols + c]) : 0.0;
  for (int64_t r = first; r < end; r += kRowLanes) {
    const int64_t at = r * cols + c;
    dx[at] = static_cast<T>(factor *
                            (static_cast<double>(dy[at]) - sum - static_cast<double>(y[at]) * dot));
  }
}

}  // namespace

template <class T>
void instance_norm(const Queue& queue, const int64_t* offset, int64_t graphs, const T* x,
                   int64_t cols, double eps, T* y, T* scale) {
  if (graphs == 0 || cols == 0) return;
  const dim3 grid(blocks_for(graphs, 1), blocks_for(cols, kWarp));
  norm_kernel<T>
      <<<grid, dim3(kWarp, kRowLanes), 0, stream_of(queue)>>>(offset, x, cols, eps, y, scale);
  check_launch("instance_norm");
}

template <class T>
void instance_norm_gradient(const Queue& queue, const int64_t* offset, int64_t graphs, const T* y,
                            const T* dy, const T* scale, int64_t cols, T* dx) {
  if (graphs == 0 || cols == 0) return;
  const dim3 grid(blocks_for(graphs, 1), blocks_for(cols, kWarp));
  gradient_kernel<T>
      <<<grid, dim3(kWarp, kRowLanes), 0, stream_of(queue)>>>(offset, y, dy, scale, cols, dx);
  check_launch("instance_norm_gradient");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(instance_norm)
GRM_CUDA_KERNEL(instance_norm_gradient)
