// Messages that pass a ReLU on their way. One warp per pattern row; lanes lie across V columns
// each, and wider rows take several rounds over the entries.
#include "core/cuda/launch.cuh"
#include "ops/kernels.h"

namespace grm::cuda {
namespace {

template <class T>
__device__ inline T relu(T m) {
  return m > T{0} ? m : T{0};
}

template <class T, int V>
__global__ void __launch_bounds__(kBlock)
    relu_kernel(Pattern in, const T* w, const T* x, const T* e, int64_t d, T* y) {
  const int64_t row = global_warp();
  if (row >= in.rows) return;
  const int64_t begin = in.offset[row], end = in.offset[row + 1];
  for (int64_t c = threadIdx.x % kWarp * V; c < d; c += kWarp * V) {
    Vec<T, V> sum = {};
#pragma unroll 4
    for (int64_t k = begin; k < end; ++k) {
      const Vec<T, V> from = load<T, V>(x + in.index[k] * d + c), edge = load<T, V>(e + k * d + c);
      const T weight = w ? w[k] : T{1};
#pragma unroll
      for (int v = 0; v < V; ++v) sum.at[v] += weight * relu(from.at[v] + edge.at[v]);
    }
    store<T, V>(y + row * d + c, sum);
  }
}

template <class T, int V>
__global__ void __launch_bounds__(kBlock)
    relu_backward_kernel(Pattern out, const T* w, const T* x, const T* e, const T* dy, int64_t d,
                         T* dx, T* de, T* dw) {
  const int lane = threadIdx.x % kWarp;
  const int64_t row = global_warp();
  if (row >= out.rows) return;
  const int64_t begin = out.offset[row], end = out.offset[row + 1];
  for (int64_t slab = 0; slab < d; slab += kWarp * V) {
    const int64_t c = slab + lane * V;
    const bool some = c < d;
    Vec<T, V> from = {}, sum = {};
    if (some) from = load<T, V>(x + row * d + c);
#pragma unroll 2
    for (int64_t k = begin; k < end; ++k) {
      const int64_t id = out.edge ? out.edge[k] : k;
      const T weight = w ? w[id] : T{1};
      Vec<T, V> edge = {}, g = {}, share;
      if (some) edge = load<T, V>(e + id * d + c);
      if (some) g = load<T, V>(dy + out.index[k] * d + c);
      T dot = T{0};
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const T m = from.at[v] + edge.at[v];
        share.at[v] = m > T{0} ? weight * g.at[v] : T{0};
        sum.at[v] += share.at[v];
        dot += g.at[v] * relu(m);
      }
      if (de && some) store<T, V>(de + id * d + c, share);
      if (dw) {
        dot = warp_sum(dot);
        if (lane == 0) dw[id] = slab == 0 ? dot : dw[id] + dot;
      }
    }
    if (some) store<T, V>(dx + row * d + c, sum);
  }
}

template <class T, int V>
__global__ void __launch_bounds__(kBlock)
    pair_kernel(Pattern in, const T* own, const T* other, const T* v, int64_t d, T* s) {
  constexpr int kBatch = 4;
  const int lane = threadIdx.x % kWarp;
  const int64_t row = global_warp();
  if (row >= in.rows) return;
  const int64_t begin = in.offset[row], end = in.offset[row + 1];
  for (int64_t slab = 0; slab < d; slab += kWarp * V) {
    const int64_t c = slab + lane * V;
    Vec<T, V> q = {}, scale = {};  // a scale of 0 silences lanes beyond the columns
    if (c < d) {
      q = load<T, V>(own + row * d + c);
      scale = load<T, V>(v + c);
    }
    for (int64_t k = begin; k < end; k += kBatch) {
      T dot[kBatch] = {};
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (k + u >= end || c >= d) continue;
        const Vec<T, V> p = load<T, V>(other + in.index[k + u] * d + c);
#pragma unroll
        for (int n = 0; n < V; ++n) dot[u] += scale.at[n] * relu(p.at[n] + q.at[n]);
      }
      const int64_t at = k + scatter_sum<kBatch, kWarp / 2>(dot, lane);
      if (lane % (kWarp / kBatch) == 0 && at < end) s[at] = slab == 0 ? dot[0] : s[at] + dot[0];
    }
  }
}

template <class T, int V>
__global__ void __launch_bounds__(kBlock)
    pair_backward_kernel(Pattern a, const T* own, const T* other, const T* v, const T* ds,
                         int64_t d, T* down, T* dv) {
  const int64_t row = global_warp();
  if (row >= a.rows) return;
  const int64_t begin = a.offset[row], end = a.offset[row + 1];
  for (int64_t c = threadIdx.x % kWarp * V; c < d; c += kWarp * V) {
    const Vec<T, V> q = load<T, V>(own + row * d + c), scale = load<T, V>(v + c);
    Vec<T, V> open = {}, passed = {};
#pragma unroll 4
    for (int64_t k = begin; k < end; ++k) {
      const Vec<T, V> p = load<T, V>(other + a.index[k] * d + c);
      const T g = ds[a.edge ? a.edge[k] : k];
#pragma unroll
      for (int n = 0; n < V; ++n) {
        const T m = p.at[n] + q.at[n];
        open.at[n] += m > T{0} ? g : T{0};
        passed.at[n] += g * relu(m);
      }
    }
#pragma unroll
    for (int n = 0; n < V; ++n) open.at[n] *= scale.at[n];
    store<T, V>(down + row * d + c, open);
    if (dv) store<T, V>(dv + row * d + c, passed);
  }
}

// Numbers that a lane takes: as many as keep all lanes busy.
template <class T>
int lane_width(int64_t d, std::initializer_list<const void*> arrays) {
  for (const void* p : arrays) {
    if (p && !aligned16(p)) return 1;
  }
  if (kVector<T> >= 4 && d % 4 == 0 && d >= 4 * kWarp) return 4;
  return d % 2 == 0 && d >= 2 * kWarp ? 2 : 1;
}

}  // namespace

// Calls kernel<T, V> on one warp per row.
#define LAUNCH_ROWS(kernel, width, rows, ...)                                                    \
  do {                                                                                           \
    const unsigned blocks = blocks_for(rows, kBlock / kWarp);                                    \
    const int lane_numbers = width;                                                              \
    if constexpr (kVector<T> >= 4) {                                                             \
      if (lane_numbers == 4) kernel<T, 4><<<blocks, kBlock, 0, stream_of(queue)>>>(__VA_ARGS__); \
    }                                                                                            \
    if (lane_numbers == 2) kernel<T, 2><<<blocks, kBlock, 0, stream_of(queue)>>>(__VA_ARGS__);   \
    if (lane_numbers == 1) kernel<T, 1><<<blocks, kBlock, 0, stream_of(queue)>>>(__VA_ARGS__);   \
    check_launch(#kernel);                                                                       \
  } while (false)

template <class T>
void relu_messages(const Queue& queue, const Pattern& in, const T* w, const T* x, const T* e,
                   int64_t d, T* y) {
  if (in.rows == 0 || d == 0) return;
  LAUNCH_ROWS(relu_kernel, lane_width<T>(d, {x, e, y}), in.rows, in, w, x, e, d, y);
}

template <class T>
void relu_messages_backward(const Queue& queue, const Pattern& out, const T* w, const T* x,
                            const T* e, const T* dy, int64_t d, T* dx, T* de, T* dw) {
  if (out.rows == 0 || d == 0) return;
  LAUNCH_ROWS(relu_backward_kernel, lane_width<T>(d, {x, e, dy, dx, de}), out.rows, out, w, x, e,
              dy, d, dx, de, dw);
}

template <class T>
void pair_scores(const Queue& queue, const Pattern& in, const T* own, const T* other, const T* v,
                 int64_t d, T* s) {
  if (in.rows == 0 || d == 0) return;
  LAUNCH_ROWS(pair_kernel, lane_width<T>(d, {own, other, v}), in.rows, in, own, other, v, d, s);
}

template <class T>
void pair_scores_backward(const Queue& queue, const Pattern& a, const T* own, const T* other,
                          const T* v, const T* ds, int64_t d, T* down, T* dv) {
  if (a.rows == 0 || d == 0) return;
  LAUNCH_ROWS(pair_backward_kernel, lane_width<T>(d, {own, other, v, down, dv}), a.rows, a, own,
              other, v, ds, d, down, dv);
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(relu_messages)
GRM_CUDA_KERNEL(relu_messages_backward)
GRM_CUDA_KERNEL(pair_scores)
GRM_CUDA_KERNEL(pair_scores_backward)
