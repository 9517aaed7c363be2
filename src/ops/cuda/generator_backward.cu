// Gradients of the generated graph. The weights are symmetric, e_ij = e_ji, and so all that is
// needed are symmetric matrices over pairs: with a_ij = e_ij r_i r_j, N = dY X^T + X dY^T and
// t_i = sum_j a_ij N_ij,
//   dx   = A dY,
//   G_ij = ds_ij + ds_ji
//        = e_ij (1 - e_ij) [r_i r_j N_ij - (r_i^2 t_i + r_j^2 t_j) / 2
//                           + 2 (s_ij - logit theta) dkl],
//   df   = G F.
// The second term is the way of an edge through the degree of its target (cpu/edges.cpp).
#include "ops/cuda/generator.cuh"

namespace grm::cuda {
namespace {

using generator::Task;

template <class T>
__device__ void write_nan(const Task<T>& t, int64_t first, int64_t n) {
  for (int64_t k = threadIdx.x; t.df && k < n * t.batch.edge_width; k += kBlock) {
    t.df[first * t.batch.edge_width + k] = static_cast<T>(NAN);
  }
  for (int64_t k = threadIdx.x; t.dy && t.dx && k < n * t.batch.width; k += kBlock) {
    t.dx[first * t.batch.width + k] = static_cast<T>(NAN);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock, sizeof(T) == 4 ? 4 : 2) backward_kernel(const Task<T> t) {
  extern __shared__ __align__(16) unsigned char memory[];
  const GeneratorBatch& batch = t.batch;
  const int64_t first = batch.offset[blockIdx.x];
  const int64_t nodes = batch.offset[blockIdx.x + 1] - first;
  const int most = static_cast<int>(batch.max_nodes), n = static_cast<int>(nodes);
  if (nodes > most) return write_nan(t, first, nodes);
  if (n == 0) return;
  T* logits = reinterpret_cast<T*>(memory);
  T* weights = logits + most * t.pair_stride;
  T* both = weights + most * t.pair_stride;  // N, then G
  T* root = both + most * t.pair_stride;
  T* through = root + t.pair_stride;
  T* f = through + t.pair_stride + kBlock / kWarp;
  T* x = f + most * t.tile_stride;
  T* dy = x + most * t.tile_stride;
  const auto width_of = [&](int64_t begin, int64_t columns) {
    return static_cast<int>(columns - begin < t.tile_stride ? columns - begin : t.tile_stride);
  };
  const T* f_rows = t.f + first * batch.edge_width;
  const auto start_f = [&](int64_t c) {
    generator::start_tile(f, t.tile_stride, f_rows, n, batch.edge_width, c,
                          width_of(c, batch.edge_width), t.wide_f);
  };
  const auto start_x = [&](int64_t c) {
    const int width = width_of(c, batch.width);
    generator::start_tile(x, t.tile_stride, t.x + first * batch.width, n, batch.width, c, width,
                          t.wide_x);
    generator::start_tile(dy, t.tile_stride, t.dy + first * batch.width, n, batch.width, c, width,
                          t.wide_x);
  };

  start_f(0);
  if (t.dy) {  // arrive while the logits are computed
    start_x(0);
    __pipeline_wait_prior(2);
  } else {
    __pipeline_wait_prior(0);
  }
  const auto weigh = [&](int i, int j, T logit) {
    const T e = Bernoulli<T>(logit).on;
    logits[i * t.pair_stride + j] = logits[j * t.pair_stride + i] = logit;
    weights[i * t.pair_stride + j] = weights[j * t.pair_stride + i] = e;
  };
  for (int64_t c = 0; c == 0 || c < batch.edge_width; c += t.tile_stride) {
    if (c > 0) {
      __syncthreads();
      start_f(c);
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    generator::pair_products<T, false>(f, f, t.tile_stride, n, width_of(c, batch.edge_width),
                                       c == 0, c + t.tile_stride >= batch.edge_width, logits,
                                       t.pair_stride, weigh);
  }
  __syncthreads();
  if (t.dy) {
    if (batch.normalised) {
      generator::sum_rows<T>(
          n, [&](int i, int j) { return weights[i * t.pair_stride + j]; },
          [&](int i, T degree) { root[i] = degree > T{0} ? T{1} / sqrt(degree) : T{0}; });
      __syncthreads();
      generator::for_pairs(
          n, [&](int i, int j) { weights[i * t.pair_stride + j] *= root[i] * root[j]; });
    } else {
      for (int i = threadIdx.x; i < n; i += kBlock) {
        root[i] = T{1};
        through[i] = T{0};
      }
    }
    __pipeline_wait_prior(0);
    const auto keep = [&](int i, int j, T value) {
      both[i * t.pair_stride + j] = both[j * t.pair_stride + i] = value;
    };
    for (int64_t c = 0; c == 0 || c < batch.width; c += t.tile_stride) {
      const int width = width_of(c, batch.width);
      if (c > 0) {
        __syncthreads();
        start_x(c);
        __pipeline_wait_prior(0);
      }
      __syncthreads();
      generator::pair_products<T, true>(x, dy, t.tile_stride, n, width, c == 0,
                                        c + t.tile_stride >= batch.width, both, t.pair_stride,
                                        keep);
      if (t.dx) {
        generator::multiply(weights, t.pair_stride, n, dy, t.tile_stride, width, t.wide_x,
                            t.dx + first * batch.width + c, batch.width);
      }
    }
    __syncthreads();
    if (batch.normalised) {
      generator::sum_rows<T>(
          n,
          [&](int i, int j) {
            return weights[i * t.pair_stride + j] * both[i * t.pair_stride + j];
          },
          [&](int i, T sum) { through[i] = T(0.5) * root[i] * root[i] * sum; });
      __syncthreads();
    }
  }
  if (!t.df) return;
  const T share = batch.mean_kl ? T{1} / static_cast<T>(n * n) : T{1};
  const T divergence = t.dkl ? t.dkl[blockIdx.x] * share : T{0};
  generator::for_pairs(n, [&](int i, int j) {
    const T logit = logits[i * t.pair_stride + j], s = t.dkl ? finite(logit) : logit;
    T gradient = T{0};
    if (t.dy)
      gradient = both[i * t.pair_stride + j] * (root[i] * root[j]) - through[i] - through[j];
    if (t.dkl) gradient += T{2} * (s - t.prior.logit) * divergence;
    both[i * t.pair_stride + j] = Bernoulli<T>(s).slope() * gradient;
  });
  for (int64_t c = 0; c < batch.edge_width; c += t.tile_stride) {
    if (batch.edge_width > t.tile_stride) {  // else the only tile is still there
      __syncthreads();
      start_f(c);
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    generator::multiply(both, t.pair_stride, n, f, t.tile_stride, width_of(c, batch.edge_width),
                        t.wide_f, t.df + first * batch.edge_width + c, batch.edge_width);
  }
}

}  // namespace

template <class T>
void generate_backward(const Queue& queue, const GeneratorBatch& batch, const T* f, const T* x,
                       const T* dy, const T* dkl, T* df, T* dx) {
  Task<T> t{batch, LogTheta<T>(batch.theta), f, x, dy, dkl};
  t.df = df;
  t.dx = dx;
  t.wide_f = batch.edge_width % kVector<T> == 0 && aligned16(f) && aligned16(df);
  t.wide_x = batch.width % kVector<T> == 0 && aligned16(x) && aligned16(dy) && aligned16(dx);
  const size_t bytes = generator::arrange(t, 3, 3);
  if (batch.graphs == 0) return;
  allow_shared(backward_kernel<T>, bytes, "generate_backward");
  backward_kernel<T><<<blocks_for(batch.graphs, 1), kBlock, bytes, stream_of(queue)>>>(t);
  check_launch("generate_backward");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(generate_backward)
