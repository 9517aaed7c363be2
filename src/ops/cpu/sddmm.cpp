// Inner products over a sparse pattern, alone or together with the sparse product that reads the
// same rows. The pattern row's own vector stays in registers; four entries are taken at a time, so
// that their sums over lanes share instructions.
#include <algorithm>
#include <array>
#include <utility>

#include "ops/cpu/vec.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int64_t kPrefetch = 8;  // entries ahead

template <class T>
struct Task {
  const Pattern& a;
  const T* w;  // null: all ones
  const T* p;
  const T* x;
  T* y;
  T* s;
};

// The last vector of a pass may overlap the one before it. Setting p to zero there counts every
// column once.
template <class T, int W, int N>
inline void load_held(const T* row, const Columns& c, Vec<T, W> (&held)[N]) {
#pragma GCC unroll 16
  for (int v = 0; v < N - 1; ++v) held[v] = load<T, W>(row + v * W);
  held[N - 1] = load<T, W>(row + c.last);
  if (c.overlap > 0) {
    T lanes[W];
    for (int l = 0; l < W; ++l) lanes[l] = l < c.overlap ? T{0} : row[c.last + l];
    held[N - 1] = load<T, W>(lanes);
  }
}

// kCount entries from k on: their dot products, and with kProduct their share of the row of y.
template <class T, int W, int N, int kCount, bool kProduct>
inline void entries(const Task<T>& t, const Columns& c, int64_t k, const Vec<T, W> (&held)[N],
                    Vec<T, W> (&sum)[N]) {
  const T* row[kCount];
  int64_t edge[kCount];
  T weight[kCount];
  Vec<T, W> dot[kCount] = {};
#pragma GCC unroll 4
  for (int u = 0; u < kCount; ++u) {
    row[u] = t.x + t.a.index[k + u] * c.d + c.first;
    edge[u] = t.a.edge ? t.a.edge[k + u] : k + u;
    weight[u] = kProduct && t.w ? t.w[edge[u]] : T{1};
  }
#pragma GCC unroll 4
  for (int u = 0; u < kCount; ++u) {
#pragma GCC unroll 16
    for (int v = 0; v < N; ++v) {
      Vec<T, W> value = load<T, W>(row[u] + (v < N - 1 ? v * W : c.last));
      if constexpr (kProduct) {
        keep_in_register(value);
        sum[v] += value * weight[u];
      }
      dot[u] += value * held[v];
    }
  }
  T result[kCount];
  if constexpr (kCount == 4) {
    store<T, 4>(result, sum_lanes4<T, W>(dot));
  } else {
    result[0] = sum_lanes<T, W>(dot[0]);
  }
  for (int u = 0; u < kCount; ++u) {
    t.s[edge[u]] = c.first == 0 ? result[u] : t.s[edge[u]] + result[u];
  }
}

template <class T, int W, int N, bool kProduct>
void pair_rows(const Task<T>& t, const Columns& c, int64_t begin, int64_t end) {
  const int64_t stop = t.a.offset[end] - 1;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row_end = t.a.offset[i + 1];
    int64_t k = t.a.offset[i];
    Vec<T, W> held[N], sum[N] = {};
    load_held<T, W, N>(t.p + i * c.d + c.first, c, held);
    if constexpr (W >= 4) {
      for (; k + 4 <= row_end; k += 4) {
        for (int64_t u = 0; u < 4; ++u) {
          const T* ahead = t.x + t.a.index[std::min(k + u + kPrefetch, stop)] * c.d + c.first;
#pragma GCC unroll 16
          for (int v = 0; v < N; v += 64 / (W * sizeof(T))) __builtin_prefetch(ahead + v * W);
        }
        entries<T, W, N, 4, kProduct>(t, c, k, held, sum);
      }
    }
    for (; k < row_end; ++k) entries<T, W, N, 1, kProduct>(t, c, k, held, sum);
    if constexpr (kProduct) {
      T* to = t.y + i * c.d + c.first;
#pragma GCC unroll 16
      for (int v = 0; v < N; ++v) store<T, W>(to + (v < N - 1 ? v * W : c.last), sum[v]);
    }
  }
}

template <class T>
using PairRows = void (*)(const Task<T>&, const Columns&, int64_t, int64_t);

template <class T, int W, bool kProduct, int... N>
constexpr std::array<PairRows<T>, sizeof...(N)> pair_table(std::integer_sequence<int, N...>) {
  return {pair_rows<T, W, N + 1, kProduct>...};
}

template <class T, int W, bool kProduct>
void pair_width(const Task<T>& t, int64_t d) {
  if constexpr (W > 1) {
    if (d < W) return pair_width<T, W / 2, kProduct>(t, d);
  }
  constexpr int kMaxVectors = kProduct ? kRegisters / 4 : kRegisters / 2;
  static constexpr auto table = pair_table<T, W, kProduct>(std::make_integer_sequence < int,
                                                           W == kWidth<T> ? kMaxVectors : 2 > ());
  parallel_rows(t.a.offset, t.a.rows, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for_column_passes(d, W, static_cast<int>(table.size()),
                      [&](int vectors, const Columns& c) { table[vectors - 1](t, c, begin, end); });
  });
}

}  // namespace

template <class T>
void sddmm(const Pattern& a, const T* p, const T* q, int64_t d, T* s) {
  if (d == 0) {
    std::fill(s, s + a.offset[a.rows], T{0});
    return;
  }
  pair_width<T, kWidth<T>, false>({a, nullptr, p, q, nullptr, s}, d);
}

template <class T>
void spmm_sddmm(const Pattern& a, const T* w, const T* p, const T* x, int64_t d, T* y, T* s) {
  if (d == 0) return sddmm(a, p, x, d, s);
  pair_width<T, kWidth<T>, true>({a, w, p, x, y, s}, d);
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(sddmm)
GRM_CPU_KERNEL(spmm_sddmm)
