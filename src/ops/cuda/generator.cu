// The generated graph in one pass: logits, weights, degrees, divergence and propagation of a small
// graph, by one block, in shared memory.
#include "ops/cuda/generator.cuh"

namespace grm::cuda {
namespace {

using generator::Task;

template <class T>
__device__ void write_nan(const Task<T>& t, int64_t first, int64_t n) {
  for (int64_t k = threadIdx.x; t.y && k < n * t.batch.width; k += kBlock) {
    t.y[first * t.batch.width + k] = static_cast<T>(NAN);
  }
  if (t.kl && threadIdx.x == 0) t.kl[blockIdx.x] = static_cast<T>(NAN);
}

template <class T>
__global__ void __launch_bounds__(kBlock, sizeof(T) == 4 ? 4 : 2) forward_kernel(const Task<T> t) {
  extern __shared__ __align__(16) unsigned char memory[];
  const GeneratorBatch& batch = t.batch;
  const int64_t first = batch.offset[blockIdx.x];
  const int64_t nodes = batch.offset[blockIdx.x + 1] - first;
  const int most = static_cast<int>(batch.max_nodes), n = static_cast<int>(nodes);
  if (nodes > most) return write_nan(t, first, nodes);
  if (n == 0) {
    if (t.kl && threadIdx.x == 0) t.kl[blockIdx.x] = T{0};
    return;
  }
  T* pairs = reinterpret_cast<T*>(memory);
  T* root = pairs + most * t.pair_stride;
  T* part = root + 2 * t.pair_stride;  // of the divergence, one for each warp
  T* f = part + kBlock / kWarp;
  T* x = f + most * t.tile_stride;
  const auto width_of = [&](int64_t begin, int64_t columns) {
    return static_cast<int>(columns - begin < t.tile_stride ? columns - begin : t.tile_stride);
  };

  const T* f_rows = t.f + first * batch.edge_width;
  const T* x_rows = t.x + first * batch.width;
  generator::start_tile(f, t.tile_stride, f_rows, n, batch.edge_width, 0,
                        width_of(0, batch.edge_width), t.wide_f);
  if (t.x) {  // arrives while the logits are computed
    generator::start_tile(x, t.tile_stride, x_rows, n, batch.width, 0, width_of(0, batch.width),
                          t.wide_x);
    __pipeline_wait_prior(1);
  } else {
    __pipeline_wait_prior(0);
  }
  T divergence = T{0};
  const auto weigh = [&](int i, int j, T logit) {
    const T s = t.kl ? finite(logit) : logit;
    const Bernoulli<T> edge(s);
    pairs[i * t.pair_stride + j] = edge.on;
    pairs[j * t.pair_stride + i] = edge.on;
    if (t.kl) divergence += (i == j ? T{1} : T{2}) * edge.divergence(s, t.prior);
  };
  for (int64_t c = 0; c == 0 || c < batch.edge_width; c += t.tile_stride) {
    const int width = width_of(c, batch.edge_width);
    if (c > 0) {
      __syncthreads();
      generator::start_tile(f, t.tile_stride, f_rows, n, batch.edge_width, c, width, t.wide_f);
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    generator::pair_products<T, false>(f, f, t.tile_stride, n, width, c == 0,
                                       c + t.tile_stride >= batch.edge_width, pairs, t.pair_stride,
                                       weigh);
  }
  if (t.kl) {
    divergence = warp_sum(divergence);
    if (threadIdx.x % kWarp == 0) part[threadIdx.x / kWarp] = divergence;
  }
  __syncthreads();
  if (t.kl && threadIdx.x == 0) {
    T sum = T{0};
    for (int w = 0; w < kBlock / kWarp; ++w) sum += part[w];
    t.kl[blockIdx.x] = batch.mean_kl ? sum / static_cast<T>(n * n) : sum;
  }
  if (!t.x) return;
  if (batch.normalised) {
    generator::sum_rows<T>(
        n, [&](int i, int j) { return pairs[i * t.pair_stride + j]; },
        [&](int i, T degree) { root[i] = degree > T{0} ? T{1} / sqrt(degree) : T{0}; });
    __syncthreads();
    generator::for_pairs(n,
                         [&](int i, int j) { pairs[i * t.pair_stride + j] *= root[i] * root[j]; });
  }
  __pipeline_wait_prior(0);
  for (int64_t c = 0; c < batch.width; c += t.tile_stride) {
    const int width = width_of(c, batch.width);
    if (c > 0) {
      __syncthreads();
      generator::start_tile(x, t.tile_stride, x_rows, n, batch.width, c, width, t.wide_x);
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    generator::multiply(pairs, t.pair_stride, n, x, t.tile_stride, width, t.wide_x,
                        t.y + first * batch.width + c, batch.width);
  }
}

}  // namespace

template <class T>
void generate_forward(const Queue& queue, const GeneratorBatch& batch, const T* f, const T* x, T* y,
                      T* kl) {
  Task<T> t{batch, LogTheta<T>(batch.theta), f, x};
  t.y = y;
  t.kl = kl;
  t.wide_f = batch.edge_width % kVector<T> == 0 && aligned16(f);
  t.wide_x = batch.width % kVector<T> == 0 && aligned16(x) && aligned16(y);
  const size_t bytes = generator::arrange(t, 1, 2);
  if (batch.graphs == 0) return;
  allow_shared(forward_kernel<T>, bytes, "generate_forward");
  forward_kernel<T><<<blocks_for(batch.graphs, 1), kBlock, bytes, stream_of(queue)>>>(t);
  check_launch("generate_forward");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(generate_forward)
