// Tiles of the contrast. A block takes kRows x kCols cosines and leaves one number for each of its
// rows and columns; a second kernel adds them in the order of the blocks.
#include "core/cuda/launch.cuh"
#include "methods/kernels.h"

namespace grm::cuda {
namespace {

constexpr int kWarps = kBlock / kWarp;
constexpr int kRows = 64;
constexpr int kCols = 128;
constexpr int kPerLane = kCols / kWarp;

struct Partials {
  int64_t row_blocks, col_blocks;
  double *row, *col, *cluster;  // [col_blocks, rows], [row_blocks, cols], [col_blocks, rows]
};

Partials make_partials(const Queue& queue, int64_t rows, int64_t cols) {
  Partials p{(rows + kRows - 1) / kRows, (cols + kCols - 1) / kCols};
  const int64_t numbers = 2 * p.col_blocks * rows + p.row_blocks * cols;
  p.row = static_cast<double*>(queue.scratch(numbers * sizeof(double)));
  p.cluster = p.row + p.col_blocks * rows;
  p.col = p.cluster + p.col_blocks * rows;
  return p;
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    tile_kernel(const T* c, int64_t rows, int64_t cols, T scale, TileClusters clusters,
                bool columns, Partials part) {
  __shared__ T space[kWarps][kCols];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kRows;
  const int64_t last = first + kRows < rows ? first + kRows : rows;
  const int64_t left = static_cast<int64_t>(blockIdx.y) * kCols;
  T down[kPerLane] = {};
  for (int64_t i = first + warp; i < last; i += kWarps) {
    const int32_t wanted = clusters.wanted ? clusters.wanted[i] : -1;
    T sum = T{0}, inside = T{0};
#pragma unroll
    for (int u = 0; u < kPerLane; ++u) {
      const int64_t j = left + u * kWarp + lane;
      if (j >= cols) continue;
      const T x = c[i * cols + j] - T{1};
      const T e = exp(x * scale);
      sum += e;
      down[u] += e;
      if (wanted >= 0 && clusters.column[j] == wanted) inside += exp(x);
    }
    sum = warp_sum(sum);
    if (wanted >= 0) inside = warp_sum(inside);
    if (lane == 0) {
      part.row[blockIdx.y * rows + i] = static_cast<double>(sum);
      if (clusters.wanted) part.cluster[blockIdx.y * rows + i] = static_cast<double>(inside);
    }
  }
  if (!columns) return;
#pragma unroll
  for (int u = 0; u < kPerLane; ++u) space[warp][u * kWarp + lane] = down[u];
  __syncthreads();
  if (threadIdx.x < kCols && left + threadIdx.x < cols) {
    T sum = T{0};
    for (int w = 0; w < kWarps; ++w) sum += space[w][threadIdx.x];
    part.col[blockIdx.x * cols + left + threadIdx.x] = static_cast<double>(sum);
  }
}

// sum[k] += part[0][k] + part[1][k] + ...
__global__ void add_parts(const double* part, int64_t parts, int64_t n, double* sum) {
  const int64_t k = global_thread();
  if (k >= n) return;
  double total = 0.0;
#pragma unroll 4
  for (int64_t p = 0; p < parts; ++p) total += part[p * n + k];
  sum[k] += total;
}

void launch_add(const double* part, int64_t parts, int64_t n, double* sum, const Queue& queue) {
  add_parts<<<blocks_for(n, kBlock), kBlock, 0, stream_of(queue)>>>(part, parts, n, sum);
  check_launch("tile_sums, parts");
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    weights_kernel(T* c, int64_t rows, int64_t cols, T scale, const T* row_scale,
                   const T* col_scale, TileClusters clusters, const T* cluster_scale) {
  const int64_t i = blockIdx.x;
  const int64_t j = blockIdx.y * static_cast<int64_t>(kBlock) + threadIdx.x;
  if (j >= cols) return;
  const T x = c[i * cols + j] - T{1};
  T value = exp(x * scale) * (row_scale[i] + col_scale[j]);
  const int32_t wanted = clusters.wanted ? clusters.wanted[i] : -1;
  if (wanted >= 0 && clusters.column[j] == wanted) value -= cluster_scale[i] * exp(x);
  c[i * cols + j] = value;
}

}  // namespace

template <class T>
void tile_sums(const Queue& queue, const T* c, int64_t rows, int64_t cols, double inverse_tau,
               double* row_sum, double* col_sum, const TileClusters& clusters,
               double* cluster_sum) {
  if (rows == 0 || cols == 0) return;
  const Partials part = make_partials(queue, rows, cols);
  const dim3 grid(blocks_for(part.row_blocks, 1), blocks_for(part.col_blocks, 1));
  tile_kernel<T><<<grid, kBlock, 0, stream_of(queue)>>>(c, rows, cols, static_cast<T>(inverse_tau),
                                                        clusters, col_sum != nullptr, part);
  check_launch("tile_sums");
  launch_add(part.row, part.col_blocks, rows, row_sum, queue);
  if (col_sum) launch_add(part.col, part.row_blocks, cols, col_sum, queue);
  if (clusters.wanted) launch_add(part.cluster, part.col_blocks, rows, cluster_sum, queue);
}

template <class T>
void tile_weights(const Queue& queue, T* c, int64_t rows, int64_t cols, double inverse_tau,
                  const T* row_scale, const T* col_scale, const TileClusters& clusters,
                  const T* cluster_scale) {
  if (rows == 0 || cols == 0) return;
  const dim3 grid(blocks_for(rows, 1), blocks_for(cols, kBlock));
  weights_kernel<T><<<grid, kBlock, 0, stream_of(queue)>>>(
      c, rows, cols, static_cast<T>(inverse_tau), row_scale, col_scale, clusters, cluster_scale);
  check_launch("tile_weights");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(tile_sums)
GRM_CUDA_KERNEL(tile_weights)
