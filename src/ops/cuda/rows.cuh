#pragma once

#include <algorithm>
#include <type_traits>

#include "core/cuda/launch.cuh"
#include "ops/kernels.h"

// Weighted sums of rows along a pattern, dot products with them, or both: one warp per pattern row.
// L lanes lie across the columns, each with N vectors of V numbers; the other lanes of the warp
// take other entries of the same row. A row of more than kLongRow entries is cut where its entry
// numbers are multiples of kLongRow: the first piece belongs to the row's warp, each other piece to
// the warp of its multiple, and a second kernel adds the pieces in their order.
namespace grm::cuda {

/// Rows with more entries than this are cut into pieces that are summed apart.
constexpr int64_t kLongRow = 64;

/// What stands at a cut: the first cut of a row names the row and the number of its pieces after
/// the one that the row's own warp has summed; all others have count 0.
struct Piece {
  int32_t row, count;
};

template <class T>
struct RowTask {
  int64_t rows;
  const int64_t* offset;
  const int32_t* index;  // null: entry k takes row k of x
  const int64_t* edge;
  const T* w;  // null: all ones
  const T* p;
  const T* x;
  int64_t d;
  T* y;
  T* s;
  bool mean;
  int64_t cuts;  // multiples of kLongRow inside the pattern, 0: rows are not cut
  Piece* piece;  // [cuts]
  T* pieces;     // [cuts, d] their sums
};

constexpr int kRowBlock = 64;  // threads: a block is held up by its longest row
constexpr int kMaxBatch = 8;

// Entries of each lane group in flight; their vectors take at most 32 registers.
template <class T, int V, int N>
constexpr int kFit = 128 / (V * N * static_cast<int>(sizeof(T)));
template <class T, int V, int N, int L>
constexpr int kBatchSize = std::min(std::min(kFit<T, V, N>, kMaxBatch), L);

/// What a lane keeps of its columns.
template <class T, int V, int N>
struct Lane {
  const T* column[N];  // in row 0 of x; lanes beyond the columns read the first one
  bool inside[N];
  Vec<T, V> held[N], sum[N];
};

/// The entries of a chunk of at most 32: every lane holds one, and they go around by shuffles.
template <class T, int V>
struct Entry {
  // Of the row of x, counted in vectors: 32 bits reach 64 GiB.
  typename std::conditional<V == 1, uint64_t, uint32_t>::type start;
  int64_t edge;
  T weight;
};

/// kBatch entries for each lane group, from number `step` of the group on. Unless kWhole the last
/// ones may lie beyond `count`: they are not read, since 0 times what stands there may be NaN.
template <class T, int V, int N, int L, bool kProduct, bool kDot, bool kWhole>
__device__ __forceinline__ void take_entries(const Entry<T, V>& mine, int step, int count,
                                             bool first_slab, int lane, Lane<T, V, N>& at, T* s) {
  constexpr int kGroups = kWarp / L, kBatch = kBatchSize<T, V, N, L>;
  const int group = lane / L;
  Vec<T, V> value[kBatch][N];
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
    const int e = (step + u) * kGroups + group;
    const auto start = __shfl_sync(kAllLanes, mine.start, e);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if (kWhole || e < count) {
        value[u][n] = load<T, V>(at.column[n] + static_cast<uint64_t>(start) * V);
      } else {
        value[u][n] = Vec<T, V>{};
      }
    }
  }
  if constexpr (kProduct) {
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const T weight = __shfl_sync(kAllLanes, mine.weight, (step + u) * kGroups + group);
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int v = 0; v < V; ++v) at.sum[n].at[v] += weight * value[u][n].at[v];
      }
    }
  }
  if constexpr (kDot) {
    T dot[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      dot[u] = T{0};
#pragma unroll
      for (int n = 0; n < N; ++n) {
        T part = T{0};
#pragma unroll
        for (int v = 0; v < V; ++v) part += at.held[n].at[v] * value[u][n].at[v];
        dot[u] += at.inside[n] ? part : T{0};
      }
    }
    const int e = (step + scatter_sum<kBatch, L / 2>(dot, lane)) * kGroups + group;
    const int64_t k = __shfl_sync(kAllLanes, mine.edge, e);
    if (lane % (L / kBatch) == 0 && (kWhole || e < count)) {
      s[k] = first_slab ? dot[0] : s[k] + dot[0];
    }
  }
}

template <class T, int V, int N, int L, bool kProduct, bool kDot>
__global__ void __launch_bounds__(kRowBlock) row_kernel(const RowTask<T> t) {
  constexpr int kGroups = kWarp / L, kBatch = kBatchSize<T, V, N, L>;
  const int lane = threadIdx.x % kWarp, across = lane % L, d = static_cast<int>(t.d);
  const int64_t warp = global_warp();
  int64_t row, begin, end;
  T* to;
  T factor = T{1};
  if (warp < t.cuts) {
    const int64_t at = (warp + 1) * kLongRow;
    row = find_row(t.offset, t.rows, at, lane);
    const int64_t first = t.offset[row], last = t.offset[row + 1];
    // `at` lies behind the last row where the pattern has fewer entries than there was room for.
    const bool cut = first < at && at < last && last - first > kLongRow;
    if (kProduct && lane == 0) {
      const bool leads = cut && at - first <= kLongRow;
      t.piece[warp] = {static_cast<int32_t>(row),
                       leads ? static_cast<int32_t>((last - 1) / kLongRow - warp) : 0};
    }
    if (!cut) return;
    begin = at;
    end = at + kLongRow < last ? at + kLongRow : last;
    to = kProduct ? t.pieces + warp * t.d : nullptr;
  } else {
    row = warp - t.cuts;
    if (row >= t.rows) return;
    begin = t.offset[row];
    end = t.offset[row + 1];
    to = kProduct ? t.y + row * t.d : nullptr;
    if (t.cuts > 0 && end - begin > kLongRow) {
      end = (begin / kLongRow + 1) * kLongRow;
    } else if (t.mean && end > begin) {
      factor = T{1} / static_cast<T>(end - begin);
    }
  }
  for (int slab = 0; slab < d; slab += N * L * V) {
    Lane<T, V, N> at;
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const int c = slab + (n * L + across) * V;
      at.inside[n] = c < d;
      at.column[n] = t.x + (c < d ? c : 0);
      at.sum[n] = Vec<T, V>{};
      if (kDot) at.held[n] = c < d ? load<T, V>(t.p + row * t.d + c) : Vec<T, V>{};
    }
    for (int64_t base = begin; base < end; base += kWarp) {
      const int count = end - base < kWarp ? static_cast<int>(end - base) : kWarp;
      const int64_t k = base + (lane < count ? lane : 0);
      Entry<T, V> mine;
      mine.start = static_cast<decltype(mine.start)>(t.index ? t.index[k] : k) * (d / V);
      mine.edge = t.edge ? t.edge[k] : k;
      mine.weight = kProduct ? (t.w ? t.w[mine.edge] : T{1}) : T{0};
      int step = 0;
#pragma unroll 1
      for (; (step + kBatch) * kGroups <= count; step += kBatch) {
        take_entries<T, V, N, L, kProduct, kDot, true>(mine, step, count, slab == 0, lane, at, t.s);
      }
      if (step * kGroups < count) {  // fewer than a batch are left
        take_entries<T, V, N, L, kProduct, kDot, false>(mine, step, count, slab == 0, lane, at,
                                                        t.s);
      }
    }
    if constexpr (kProduct) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
#pragma unroll
          for (int offset = L; offset < kWarp; offset *= 2) {
            at.sum[n].at[v] += __shfl_xor_sync(kAllLanes, at.sum[n].at[v], offset);
          }
          at.sum[n].at[v] *= factor;
        }
        const int c = slab + (n * L + across) * V;
        if (lane < L && at.inside[n]) store<T, V>(to + c, at.sum[n]);
      }
    }
  }
}

constexpr int kAddWarps = kBlock / kWarp;
constexpr int kFewPieces = 8;  // up to here one warp adds the pieces of a row

/// The sum of the pieces first .. last of a row, from column c on.
template <class T, int V>
__device__ inline Vec<T, V> sum_pieces(const T* from, int64_t d, int first, int last) {
  constexpr int kBatch = 8;
  Vec<T, V> sum{};
  for (int at = first; at < last; at += kBatch) {
    Vec<T, V> part[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      part[u] = at + u < last ? load<T, V>(from + (at + u) * d) : Vec<T, V>{};
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
#pragma unroll
      for (int v = 0; v < V; ++v) sum.at[v] += part[u].at[v];
    }
  }
  return sum;
}

/// Adds the pieces of each cut row to what its own warp has left in y. A warp looks at one cut; the
/// rows of many pieces, a few hubs, are done by all warps of the block together.
template <class T, int V>
__global__ void __launch_bounds__(kBlock) add_pieces(const RowTask<T> t) {
  __shared__ Vec<T, V> space[kAddWarps][kWarp];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const auto finish = [&](const Piece& piece, int64_t c, const Vec<T, V>& added) {
    T* to = t.y + piece.row * t.d + c;
    T factor = T{1};
    if (t.mean) factor = T{1} / static_cast<T>(t.offset[piece.row + 1] - t.offset[piece.row]);
    Vec<T, V> sum = load<T, V>(to);
#pragma unroll
    for (int v = 0; v < V; ++v) sum.at[v] = (sum.at[v] + added.at[v]) * factor;
    store<T, V>(to, sum);
  };
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kAddWarps, own = first + warp;
  const Piece mine = own < t.cuts ? t.piece[own] : Piece{0, 0};
  if (mine.count > 0 && mine.count <= kFewPieces) {
    for (int64_t c = lane * V; c < t.d; c += kWarp * V) {
      finish(mine, c, sum_pieces<T, V>(t.pieces + own * t.d + c, t.d, 0, mine.count));
    }
  }
  if (!__syncthreads_or(mine.count > kFewPieces)) return;
  for (int64_t cut = first; cut < first + kAddWarps && cut < t.cuts; ++cut) {
    const Piece piece = t.piece[cut];
    if (piece.count <= kFewPieces) continue;
    const int share = (piece.count + kAddWarps - 1) / kAddWarps, begin = warp * share;
    const int end = begin + share < piece.count ? begin + share : piece.count;
    for (int64_t base = 0; base < t.d; base += kWarp * V) {
      const int64_t c = base + lane * V;
      if (c < t.d) {
        space[warp][lane] = sum_pieces<T, V>(t.pieces + cut * t.d + c, t.d, begin, end);
      }
      __syncthreads();
      if (warp == 0 && c < t.d) {
        Vec<T, V> sum{};
#pragma unroll
        for (int w = 0; w < kAddWarps; ++w) {
#pragma unroll
          for (int v = 0; v < V; ++v) sum.at[v] += space[w][lane].at[v];
        }
        finish(piece, c, sum);
      }
      __syncthreads();
    }
  }
}

template <class T, int V, int N, int L, bool kProduct, bool kDot>
void launch_width(const RowTask<T>& t, const Queue& queue) {
  row_kernel<T, V, N, L, kProduct, kDot>
      <<<blocks_for(t.rows + t.cuts, kRowBlock / kWarp), kRowBlock, 0, stream_of(queue)>>>(t);
}

/// The arrangement of lanes by the number of columns.
template <class T, bool kProduct, bool kDot>
void launch_rows(const RowTask<T>& t, const char* what, const Queue& queue) {
  if (t.rows == 0 || t.d == 0) return;
  constexpr int V = kVector<T>;
  const bool wide = t.d % V == 0 && t.d > V && aligned16(t.x) && (!kProduct || aligned16(t.y)) &&
                    (!kDot || aligned16(t.p));
  const int64_t m = wide ? t.d / V : t.d;
  if (wide) {
    m <= 4    ? launch_width<T, V, 1, 4, kProduct, kDot>(t, queue)
    : m <= 8  ? launch_width<T, V, 1, 8, kProduct, kDot>(t, queue)
    : m <= 16 ? launch_width<T, V, 1, 16, kProduct, kDot>(t, queue)
    : m <= 32 ? launch_width<T, V, 1, 32, kProduct, kDot>(t, queue)
              : launch_width<T, V, 2, 32, kProduct, kDot>(t, queue);
  } else {
    m == 1     ? launch_width<T, 1, 1, 1, kProduct, kDot>(t, queue)
    : m <= 4   ? launch_width<T, 1, 1, 4, kProduct, kDot>(t, queue)
    : m <= 16  ? launch_width<T, 1, 1, 16, kProduct, kDot>(t, queue)
    : m <= 32  ? launch_width<T, 1, 1, 32, kProduct, kDot>(t, queue)
    : m <= 128 ? launch_width<T, 1, 4, 32, kProduct, kDot>(t, queue)
               : launch_width<T, 1, 8, 32, kProduct, kDot>(t, queue);
  }
  check_launch(what);
  if (kProduct && t.cuts > 0) {
    const unsigned blocks = blocks_for(t.cuts, kAddWarps);
    if (wide) {
      add_pieces<T, V><<<blocks, kBlock, 0, stream_of(queue)>>>(t);
    } else {
      add_pieces<T, 1><<<blocks, kBlock, 0, stream_of(queue)>>>(t);
    }
    check_launch(what);
  }
}

inline int64_t cuts_of(int64_t entries) {
  return entries > kLongRow ? (entries - 1) / kLongRow : 0;
}

/// Bytes before the sums of pieces, which are read in vectors.
inline int64_t pieces_start(int64_t cuts) {
  return (cuts * static_cast<int64_t>(sizeof(Piece)) + 255) / 256 * 256;
}

/// Cuts long rows, unless it is known that there are none: one launch less. Without cuts a row is
/// summed by one warp whatever its length.
template <class T>
void cut_rows(RowTask<T>& t, int64_t entries, int64_t longest, const Queue& queue) {
  if (longest >= 0 && longest <= kLongRow) return;
  t.cuts = cuts_of(entries);
  const int64_t start = pieces_start(t.cuts);
  const int64_t bytes = t.cuts > 0 ? start + t.cuts * t.d * static_cast<int64_t>(sizeof(T)) : 0;
  t.piece = static_cast<Piece*>(queue.scratch(bytes));
  t.pieces = reinterpret_cast<T*>(reinterpret_cast<char*>(t.piece) + start);
}

}  // namespace grm::cuda
