#pragma once

#include <cuda_pipeline.h>

#include "ops/cuda/bernoulli.cuh"
#include "ops/kernels.h"

// Pieces of the fused generator: one block works on one graph in shared memory. Matrices over pairs
// are [n][pair_stride] and symmetric, tiles of node rows are [n][tile_stride]; both are aligned to
// 16 bytes.
namespace grm::cuda::generator {

constexpr int kGroup = 8;  // lanes that share a dot product: 8 vectors are 128 bytes, no conflicts
constexpr int kSide = 4;   // rows and columns of the pairs that they hold in registers
constexpr int kMaxRow = 1024;  // bytes of a tile row; wider rows come in several tiles

template <class T>
struct Task {
  GeneratorBatch batch;
  LogTheta<T> prior;
  const T *f, *x, *dy, *dkl;
  T *y, *kl, *df, *dx;
  bool wide_f, wide_x;           // rows may be read and written in vectors
  int pair_stride, tile_stride;  // numbers
};

inline int64_t rounded(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Chooses the strides for `matrices` pair matrices and `tiles` tiles; returns the shared memory of
/// a block in bytes.
template <class T>
size_t arrange(Task<T>& t, int matrices, int tiles) {
  const int64_t n = t.batch.max_nodes, step = kGroup * kVector<T>;
  if (n < 1 || n > kMaxGeneratedNodes) {
    throw std::runtime_error("generator: graphs of 1 to 64 nodes are supported, not of " +
                             std::to_string(n));
  }
  const int64_t widest = t.batch.edge_width > t.batch.width ? t.batch.edge_width : t.batch.width;
  int64_t columns = rounded(widest > 0 ? widest : 1, step);
  if (columns > kMaxRow / static_cast<int64_t>(sizeof(T))) columns = kMaxRow / sizeof(T);
  t.pair_stride = static_cast<int>(rounded(n, kVector<T>));
  // Two vectors over the nodes follow the matrices, and a number for each warp.
  const int64_t fixed = n * t.pair_stride * matrices + 2 * t.pair_stride + kBlock / kWarp;
  const auto bytes = [&] {
    return (fixed + n * columns * tiles) * static_cast<int64_t>(sizeof(T));
  };
  const int64_t most = device_limit(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  while (bytes() > most && columns > step) columns -= step;
  if (bytes() > most) {
    throw std::runtime_error(
        "generator: the shared memory of this GPU is too small for graphs of " + std::to_string(n) +
        " nodes");
  }
  t.tile_stride = static_cast<int>(columns);
  return static_cast<size_t>(bytes());
}

/// Starts to copy n rows of `across` pieces, those from `filled` on with zeros. A piece is V
/// numbers; the threads walk over the pieces without dividing.
template <class T, int V>
__device__ void start_pieces(T* tile, int stride, const T* rows, int n, int64_t row_length,
                             int across, int filled) {
  const int down = kBlock / across, right = kBlock % across;
  int i = threadIdx.x / across, c = threadIdx.x % across;
  const T* from = rows + i * row_length + c * V;
  T* to = tile + i * stride + c * V;
  const int64_t from_step = down * row_length + right * V;
  const int to_step = down * stride + right * V;
  while (i < n) {
    if (c < filled) {
      __pipeline_memcpy_async(to, from, V * sizeof(T));
    } else {
      store<T, V>(to, Vec<T, V>{});
    }
    i += down;
    c += right;
    from += from_step;
    to += to_step;
    if (c >= across) {
      c -= across;
      ++i;
      from += row_length - across * V;
      to += stride - across * V;
    }
  }
}

/// Starts to read columns first .. first + width of n rows; columns up to a multiple of the group's
/// vectors are set to zero.
template <class T>
__device__ void start_tile(T* tile, int stride, const T* rows, int n, int64_t row_length,
                           int64_t first, int width, bool wide) {
  constexpr int V = kVector<T>, kStep = kGroup * V;
  const int padded = (width + kStep - 1) / kStep * kStep;
  if (padded > 0 && wide) {
    start_pieces<T, V>(tile, stride, rows + first, n, row_length, padded / V, width / V);
  } else if (padded > 0) {
    start_pieces<T, 1>(tile, stride, rows + first, n, row_length, padded, width);
  }
  __pipeline_commit();
}

template <class T, int V>
__device__ inline void add_dots(const T* a, const T* b, int stride, const int (&i)[kSide],
                                const int (&j)[kSide], int c, T (&sum)[kSide * kSide]) {
  Vec<T, V> left[kSide];
#pragma unroll
  for (int r = 0; r < kSide; ++r) left[r] = load<T, V>(a + i[r] * stride + c);
#pragma unroll
  for (int s = 0; s < kSide; ++s) {
    const Vec<T, V> right = load<T, V>(b + j[s] * stride + c);
#pragma unroll
    for (int r = 0; r < kSide; ++r) {
#pragma unroll
      for (int v = 0; v < V; ++v) sum[r * kSide + s] += left[r].at[v] * right.at[v];
    }
  }
}

/// For all pairs i <= j the product <a_i, a_j>, or with kTwo <a_i, b_j> + <a_j, b_i>, over the
/// columns of a tile. Unless it is the first tile the sum so far is read from m; unless it is the
/// last one it is left there. With the last tile each(i, j, product) is called once for a pair.
template <class T, bool kTwo, class Each>
__device__ void pair_products(const T* a, const T* b, int stride, int n, int width, bool first_tile,
                              bool last_tile, T* m, int pair_stride, const Each& each) {
  constexpr int V = kVector<T>;
  const int lane = threadIdx.x % kWarp, group = threadIdx.x / kGroup;
  const int side = (n + kSide - 1) / kSide, tasks = side * (side + 1) / 2;
  for (int base = 0; base < tasks; base += kBlock / kGroup) {
    const bool active = base + group < tasks;
    if (!__any_sync(kAllLanes, active)) break;
    int row = 0, column = active ? base + group : 0;
    while (column >= side - row) column -= side - row++;
    column += row;
    int i[kSide], j[kSide];
#pragma unroll
    for (int r = 0; r < kSide; ++r) {
      i[r] = min(row * kSide + r, n - 1);
      j[r] = min(column * kSide + r, n - 1);
    }
    T sum[kSide * kSide] = {};
    for (int c = lane % kGroup * V; c < width; c += kGroup * V) {
      add_dots<T, V>(a, b, stride, i, j, c, sum);
      if constexpr (kTwo) add_dots<T, V>(b, a, stride, i, j, c, sum);
    }
    const int first = scatter_sum<kSide * kSide, kGroup / 2>(sum, lane);
#pragma unroll
    for (int u = 0; u < kSide * kSide / kGroup; ++u) {
      const int p = row * kSide + (first + u) / kSide, q = column * kSide + (first + u) % kSide;
      if (!active || p > q || q >= n) continue;
      const T value = first_tile ? sum[u] : m[p * pair_stride + q] + sum[u];
      if (last_tile) {
        each(p, q, value);
      } else {
        m[p * pair_stride + q] = value;
      }
    }
  }
}

/// each(i, j) for all ordered pairs: kGroup lanes on a row.
template <class Each>
__device__ void for_pairs(int n, const Each& each) {
  for (int i = threadIdx.x / kGroup; i < n; i += kBlock / kGroup) {
    for (int j = threadIdx.x % kGroup; j < n; j += kGroup) each(i, j);
  }
}

/// finish(i, sum over j of value(i, j)) for all rows, by one lane each.
template <class T, class Value, class Finish>
__device__ void sum_rows(int n, const Value& value, const Finish& finish) {
  const int lane = threadIdx.x % kGroup;
  for (int base = 0; base < n; base += kBlock / kGroup) {
    const int i = base + threadIdx.x / kGroup;
    T sum = T{0};
    for (int j = lane; i < n && j < n; j += kGroup) sum += value(i, j);
#pragma unroll
    for (int offset = kGroup / 2; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, offset);
    }
    if (i < n && lane == 0) finish(i, sum);
  }
}

/// to_i = sum_j m_ij tile_j for `width` columns of a tile, R rows and one vector a thread.
template <class T, int R>
__device__ void multiply_rows(const T* m, int pair_stride, int n, const T* tile, int stride,
                              int width, bool wide, T* to, int64_t row_length) {
  constexpr int V = kVector<T>;
  const int across = (width + V - 1) / V, items = (n + R - 1) / R * across;
  for (int item = threadIdx.x; item < items; item += kBlock) {
    const int c = item % across * V, top = item / across * R;
    const T* row[R];
#pragma unroll
    for (int r = 0; r < R; ++r) row[r] = m + min(top + r, n - 1) * pair_stride;
    Vec<T, V> sum[R] = {};
    int j = 0;
    for (; j + V <= n; j += V) {
      Vec<T, V> weight[R];
#pragma unroll
      for (int r = 0; r < R; ++r) weight[r] = load<T, V>(row[r] + j);
#pragma unroll
      for (int u = 0; u < V; ++u) {
        const Vec<T, V> value = load<T, V>(tile + (j + u) * stride + c);
#pragma unroll
        for (int r = 0; r < R; ++r) {
#pragma unroll
          for (int v = 0; v < V; ++v) sum[r].at[v] += weight[r].at[u] * value.at[v];
        }
      }
    }
    for (; j < n; ++j) {
      const Vec<T, V> value = load<T, V>(tile + j * stride + c);
#pragma unroll
      for (int r = 0; r < R; ++r) {
#pragma unroll
        for (int v = 0; v < V; ++v) sum[r].at[v] += row[r][j] * value.at[v];
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (top + r >= n) continue;
      T* at = to + (top + r) * row_length + c;
      if (wide) {
        store<T, V>(at, sum[r]);
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          if (c + v < width) at[v] = sum[r].at[v];
        }
      }
    }
  }
}

/// The same with as few rows a thread as let one round of the block do the work.
template <class T>
__device__ void multiply(const T* m, int pair_stride, int n, const T* tile, int stride, int width,
                         bool wide, T* to, int64_t row_length) {
  const int across = (width + kVector<T> - 1) / kVector<T>;
  if (n * across <= kBlock) {
    multiply_rows<T, 1>(m, pair_stride, n, tile, stride, width, wide, to, row_length);
  } else if ((n + 2) / 3 * across <= kBlock) {
    multiply_rows<T, 3>(m, pair_stride, n, tile, stride, width, wide, to, row_length);
  } else {
    multiply_rows<T, 4>(m, pair_stride, n, tile, stride, width, wide, to, row_length);
  }
}

}  // namespace grm::cuda::generator
