// Sparse matrix times dense matrix. A row's result stays in vector registers while its entries are
// read; one function per number of registers, so that the compiler can keep them there.
#include <algorithm>
#include <array>
#include <utility>

#include "ops/cpu/vec.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int kMaxVectors = kRegisters / 2;
constexpr int64_t kPrefetch = 8;  // entries ahead

template <class T, int W, int N, bool kWeighted, bool kEdge>
void spmm_rows(const Pattern& a, const T* w, const T* x, const Columns& c, T* y, int64_t begin,
               int64_t end) {
  const int64_t stop = a.offset[end] - 1;
  for (int64_t i = begin; i < end; ++i) {
    Vec<T, W> sum[N] = {};
    for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
      const T* ahead = x + a.index[std::min(k + kPrefetch, stop)] * c.d + c.first;
#pragma GCC unroll 16
      for (int v = 0; v < N; v += 64 / (W * sizeof(T))) __builtin_prefetch(ahead + v * W);
      const T* row = x + a.index[k] * c.d + c.first;
      const T weight = kWeighted ? w[kEdge ? a.edge[k] : k] : T{1};
#pragma GCC unroll 16
      for (int v = 0; v < N; ++v) {
        const Vec<T, W> value = load<T, W>(row + (v < N - 1 ? v * W : c.last));
        sum[v] += kWeighted ? value * weight : value;
      }
    }
    T* to = y + i * c.d + c.first;
#pragma GCC unroll 16
    for (int v = 0; v < N; ++v) store<T, W>(to + (v < N - 1 ? v * W : c.last), sum[v]);
  }
}

template <class T>
using SpmmRows = void (*)(const Pattern&, const T*, const T*, const Columns&, T*, int64_t, int64_t);

template <class T, int W, bool kWeighted, bool kEdge, int... N>
constexpr std::array<SpmmRows<T>, sizeof...(N)> spmm_table(std::integer_sequence<int, N...>) {
  return {spmm_rows<T, W, N + 1, kWeighted, kEdge>...};
}

/// What is done to the rows of a chunk while they are in cache.
template <class T>
struct Finish {
  const T* bias = nullptr;
  bool relu = false;

  void rows(T* y, int64_t count, int64_t d) const {
    if (!bias) return;
    for (int64_t i = 0; i < count; ++i, y += d) {
      if (relu) {
        for (int64_t c = 0; c < d; ++c) {
          const T value = y[c] + bias[c];
          y[c] = value < T{0} ? T{0} : value;
        }
      } else {
        for (int64_t c = 0; c < d; ++c) y[c] += bias[c];
      }
    }
  }
};

template <class T, int W, bool kWeighted, bool kEdge>
void spmm_width(const Pattern& a, const T* w, const T* x, int64_t d, T* y,
                const Finish<T>& finish) {
  if constexpr (W > 1) {
    if (d < W) return spmm_width<T, W / 2, kWeighted, kEdge>(a, w, x, d, y, finish);
  }
  static constexpr auto table = spmm_table<T, W, kWeighted, kEdge>(
      std::make_integer_sequence < int, W == kWidth<T> ? kMaxVectors : 2 > ());
  parallel_rows(a.offset, a.rows, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for_column_passes(d, W, static_cast<int>(table.size()), [&](int vectors, const Columns& c) {
      table[vectors - 1](a, w, x, c, y, begin, end);
    });
    finish.rows(y + begin * d, end - begin, d);
  });
}

template <class T>
void spmm_any(const Pattern& a, const T* w, const T* x, int64_t d, T* y, const Finish<T>& finish) {
  if (d == 0) return;
  constexpr int W = kWidth<T>;
  if (!w) {
    spmm_width<T, W, false, false>(a, w, x, d, y, finish);
  } else if (a.edge) {
    spmm_width<T, W, true, true>(a, w, x, d, y, finish);
  } else {
    spmm_width<T, W, true, false>(a, w, x, d, y, finish);
  }
}

}  // namespace

template <class T>
void spmm(const Pattern& a, const T* w, const T* x, int64_t d, T* y) {
  spmm_any(a, w, x, d, y, Finish<T>());
}

template <class T>
void spmm_bias(const Pattern& a, const T* w, const T* x, int64_t d, const T* bias, bool relu,
               T* y) {
  spmm_any(a, w, x, d, y, Finish<T>{bias, relu});
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(spmm)
GRM_CPU_KERNEL(spmm_bias)
