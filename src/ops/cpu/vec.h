#pragma once

#include <cstdint>
#include <cstring>

#include "grm/core/threads.h"
#include "ops/kernels.h"

// Fixed-width vectors through the compiler's vector types: one source for AVX-512, AVX2 and SSE.
namespace grm::cpu::GRM_CPU_VARIANT {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kRegisters = 32;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
constexpr int kRegisters = 16;
#else
constexpr int kVectorBytes = 16;
constexpr int kRegisters = 16;
#endif

/// Numbers in a full vector register.
template <class T>
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));

template <class T, int W>
struct VecOf {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
};
template <class T>
struct VecOf<T, 1> {
  using type = T;
};
template <class T, int W>
using Vec = typename VecOf<T, W>::type;

template <class T, int W>
inline Vec<T, W> load(const T* from) {
  Vec<T, W> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class T, int W>
inline void store(T* to, const Vec<T, W>& v) {
  std::memcpy(to, &v, sizeof v);
}

/// Stops the compiler from reading a value twice from memory, once for each of its uses.
template <class V>
inline void keep_in_register(V& v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#else
  (void)v;
#endif
}

/// Adds the upper lanes to the lower ones until kLeft are left.
template <class T, int W, int kLeft>
inline Vec<T, kLeft> fold(const Vec<T, W>& v) {
  if constexpr (W == kLeft) {
    return v;
  } else {
    Vec<T, W / 2> half[2];
    std::memcpy(half, &v, sizeof v);
    return fold<T, W / 2, kLeft>(half[0] + half[1]);
  }
}

template <class T, int W>
inline T sum_lanes(const Vec<T, W>& v) {
  return fold<T, W, 1>(v);
}

/// sum_lanes of four vectors at once, with the same order of additions.
template <class T, int W>
inline Vec<T, 4> sum_lanes4(const Vec<T, W> (&v)[4]) {
  static_assert(W >= 4, "four sums need vectors of four");
  const Vec<T, 4> a = fold<T, W, 4>(v[0]), b = fold<T, W, 4>(v[1]);
  const Vec<T, 4> c = fold<T, W, 4>(v[2]), d = fold<T, W, 4>(v[3]);
  const Vec<T, 4> ab =
      __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Vec<T, 4> cd =
      __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/// The columns of one pass over a matrix of d columns: vector v of the pass starts at column
/// first + v W, except the matrix's last vector, which ends at column d and so may overlap the one
/// before it by `overlap` columns.
struct Columns {
  int64_t d;
  int64_t first;
  int64_t last;     // start of the pass's last vector, relative to `first`
  int64_t overlap;  // leading columns of that vector which an earlier vector covers
};

/// Calls pass(vectors, columns) for all columns of a matrix, at most max_vectors at a time.
template <class Pass>
inline void for_column_passes(int64_t d, int width, int max_vectors, const Pass& pass) {
  const int64_t vectors = (d + width - 1) / width;
  for (int64_t v = 0; v < vectors; v += max_vectors) {
    const int64_t count = vectors - v < max_vectors ? vectors - v : max_vectors;
    Columns c{d, v * width, (count - 1) * width, 0};
    if (c.first + c.last + width > d) {
      c.overlap = c.first + c.last + width - d;
      c.last -= c.overlap;
    }
    pass(static_cast<int>(count), c);
  }
}

/// Calls rows(begin, end) in parallel on ranges of whole rows with about `chunk` entries each: rows
/// of a power-law graph differ too much to be cut by their number. Row i belongs to the chunk that
/// holds place offset[i] + i of the list in which every row is followed by its entries.
template <class Rows>
inline void parallel_rows(const int64_t* offset, int64_t rows, int64_t chunk, const Rows& body) {
  const auto first_row = [&](int64_t place) {
    int64_t low = 0, high = rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (offset[middle] - offset[0] + middle < place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  parallel_chunks(rows + offset[rows] - offset[0], chunk, [&](int64_t begin, int64_t end) {
    const int64_t row_begin = first_row(begin), row_end = first_row(end);
    if (row_begin < row_end) body(row_begin, row_end);
  });
}

/// Entries per chunk for rows of d numbers: some 20 microseconds of work, where the entry itself
/// costs about as much as 32 numbers.
inline int64_t entries_per_chunk(int64_t d) {
  const int64_t entries = (int64_t{1} << 18) / (d + 32);
  return entries > 64 ? entries : 64;
}

}  // namespace grm::cpu::GRM_CPU_VARIANT
