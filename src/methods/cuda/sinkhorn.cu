// Sinkhorn's iterations. A block takes kRows rows: it finds their factors a from the column factors
// b, and at once what these rows add to the column sums of the next iteration. Partial sums are
// added in the order of the blocks.
#include "core/cuda/launch.cuh"
#include "methods/kernels.h"

namespace grm::cuda {
namespace {

constexpr int kWarps = kBlock / kWarp;
constexpr int kRows = 64;
constexpr int kMaxParts = 256;  // blocks of the search for the maximum

int64_t chunks_of(int64_t n) {
  return (n + kRows - 1) / kRows;
}

struct Space {
  double *a, *part, *b;  // [n], [chunks, k], [k]
  double* top;           // [kMaxParts]
};

Space make_space(const Queue& queue, int64_t n, int64_t k) {
  Space s;
  s.a =
      static_cast<double*>(queue.scratch((n + chunks_of(n) * k + k + kMaxParts) * sizeof(double)));
  s.part = s.a + n;
  s.b = s.part + chunks_of(n) * k;
  s.top = s.b + k;
  return s;
}

template <class T>
__global__ void __launch_bounds__(kBlock) find_top(const T* s, int64_t n, double* top) {
  __shared__ T space[kWarps];
  T best = static_cast<T>(-INFINITY);
  for (int64_t k = global_thread(); k < n; k += static_cast<int64_t>(gridDim.x) * kBlock) {
    best = s[k] > best ? s[k] : best;
  }
  best = warp_max(best);
  if (threadIdx.x % kWarp == 0) space[threadIdx.x / kWarp] = best;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < kWarps; ++w) best = space[w] > best ? space[w] : best;
  top[blockIdx.x] = static_cast<double>(best);
}

// q = exp((s - max) / epsilon), a = 1.
template <class T>
__global__ void __launch_bounds__(kBlock)
    exponentials(const T* s, int64_t n, int64_t k, int parts, const double* top, T scale, T* q,
                 double* a) {
  double best = -INFINITY;  // every warp finds the same maximum again
  for (int p = threadIdx.x % kWarp; p < parts; p += kWarp) best = top[p] > best ? top[p] : best;
  best = warp_max(best);
  const int64_t at = global_thread();
  if (at < n) a[at] = 1.0;
  if (at < n * k) q[at] = exp((s[at] - static_cast<T>(best)) * scale);
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    rows_and_columns(const T* q, int64_t n, int64_t k, bool rows, bool columns, Space w) {
  __shared__ double factor[kRows];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kRows;
  const int count = static_cast<int>(n - first < kRows ? n - first : kRows);
  for (int i = warp; i < count; i += kWarps) {
    if (rows) {
      double sum = 0.0;
      for (int64_t j = lane; j < k; j += kWarp) {
        sum += static_cast<double>(q[(first + i) * k + j] * static_cast<T>(w.b[j]));
      }
      sum = warp_sum(sum);
      if (lane == 0) w.a[first + i] = factor[i] = 1.0 / (static_cast<double>(n) * sum);
    } else if (lane == 0) {
      factor[i] = w.a[first + i];
    }
  }
  __syncthreads();
  for (int64_t j = threadIdx.x; columns && j < k; j += kBlock) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += factor[i] * static_cast<double>(q[(first + i) * k + j]);
    w.part[blockIdx.x * k + j] = sum;
  }
}

__global__ void column_factors(int64_t chunks, int64_t k, Space w) {
  const int64_t j = global_thread();
  if (j >= k) return;
  double total = 0.0;
#pragma unroll 8
  for (int64_t p = 0; p < chunks; ++p) total += w.part[p * k + j];
  w.b[j] = 1.0 / (static_cast<double>(k) * total);
}

template <class T>
__global__ void finish(int64_t n, int64_t k, bool iterated, Space w, T* q) {
  const int64_t at = global_thread();
  if (at >= n * k) return;
  const T mine = static_cast<T>(static_cast<double>(n) * w.a[at / k]);
  q[at] *= mine * (iterated ? static_cast<T>(w.b[at % k]) : T{1});
}

}  // namespace

template <class T>
void sinkhorn(const Queue& queue, const T* s, int64_t n, int64_t k, double epsilon,
              int64_t iterations, T* q) {
  if (n == 0 || k == 0) return;
  const cudaStream_t stream = stream_of(queue);
  const Space w = make_space(queue, n, k);
  const int64_t chunks = chunks_of(n);
  const unsigned blocks = blocks_for(n * k, kBlock);
  const unsigned parts = blocks < kMaxParts ? blocks : kMaxParts;
  find_top<T><<<parts, kBlock, 0, stream>>>(s, n * k, w.top);
  check_launch("sinkhorn, maximum");
  exponentials<T><<<blocks, kBlock, 0, stream>>>(s, n, k, static_cast<int>(parts), w.top,
                                                 static_cast<T>(1.0 / epsilon), q, w.a);
  check_launch("sinkhorn, exponentials");
  for (int64_t t = 0; iterations > 0; ++t) {
    rows_and_columns<T>
        <<<blocks_for(chunks, 1), kBlock, 0, stream>>>(q, n, k, t > 0, t < iterations, w);
    check_launch("sinkhorn, rows");
    if (t == iterations) break;
    column_factors<<<blocks_for(k, kWarp), kWarp, 0, stream>>>(chunks, k, w);
    check_launch("sinkhorn, columns");
  }
  finish<T><<<blocks, kBlock, 0, stream>>>(n, k, iterations > 0, w, q);
  check_launch("sinkhorn");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(sinkhorn)
