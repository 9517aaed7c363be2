#pragma once

// Vectors of four doubles are wider than a register of SSE. They go between functions of one file
// only, so how they would be passed to another one does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

#include <cstring>
#include <vector>

#include "ops/cpu/vec.h"

// Small products of the fused generator. Matrices over the pairs of a graph are [p][p], p =
// padded(n): rows of whole vectors.
namespace grm::cpu::GRM_CPU_VARIANT::tile {

/// Numbers in a vector along the nodes of a graph: 32 bytes, half a register of AVX-512. Graphs of
/// some twenty nodes then have few padded columns, and current cores do twice as many of these at a
/// time. Where registers are narrower the compiler takes two.
template <class T>
constexpr int kLane = 32 / static_cast<int>(sizeof(T));

template <class T>
inline int64_t padded(int64_t n) {
  return (n + kLane<T> - 1) / kLane<T> * kLane<T>;
}

/// `count` numbers of this thread, at a cache line; what they held before is lost.
template <class T>
inline T* workspace(int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(T);
  thread_local std::vector<T> memory;
  if (static_cast<int64_t>(memory.size()) < count + kLine) memory.resize(count + kLine);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + (64 - address % 64) % 64 / sizeof(T);
}

// --- products ------------------------------------------------------------------------------------

// kRows rows and V vectors of c = a b. The last vector starts at column `last`.
template <class T, int W, int kRows, int V>
inline void block(int64_t depth, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                  int64_t last, T* c, int64_t c_stride) {
  Vec<T, W> sum[kRows][V] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Vec<T, W> row[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      row[v] = load<T, W>(b + k * b_stride + (v < V - 1 ? v * W : last));
      keep_in_register(row[v]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const T factor = a[r * a_stride + k];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] += row[v] * factor;
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      store<T, W>(c + r * c_stride + (v < V - 1 ? v * W : last), sum[r][v]);
    }
  }
}

// All rows, in groups of nearly equal size: a single row left over would wait for its own sums.
template <class T, int W, int V>
void row_groups(int64_t rows, int64_t depth, const T* a, int64_t a_stride, const T* b,
                int64_t b_stride, int64_t last, T* c, int64_t c_stride) {
  const int64_t groups = (rows + 3) / 4;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = rows * g / groups, count = rows * (g + 1) / groups - begin;
    const T* from = a + begin * a_stride;
    T* to = c + begin * c_stride;
    if (count == 4) {
      block<T, W, 4, V>(depth, from, a_stride, b, b_stride, last, to, c_stride);
    } else if (count == 3) {
      block<T, W, 3, V>(depth, from, a_stride, b, b_stride, last, to, c_stride);
    } else if (count == 2) {
      block<T, W, 2, V>(depth, from, a_stride, b, b_stride, last, to, c_stride);
    } else {
      block<T, W, 1, V>(depth, from, a_stride, b, b_stride, last, to, c_stride);
    }
  }
}

/// c = a b.   a: [rows, depth], b: [depth, columns], c: [rows, columns], rows `stride` apart.
template <class T, int W = kWidth<T>>
void product(int64_t rows, int64_t depth, int64_t columns, const T* a, int64_t a_stride, const T* b,
             int64_t b_stride, T* c, int64_t c_stride) {
  if constexpr (W > 1) {
    if (columns < W) {
      return product<T, W / 2>(rows, depth, columns, a, a_stride, b, b_stride, c, c_stride);
    }
  }
  // Narrower vectors serve less than two of the wider ones.
  constexpr int kMost = W >= kLane<T> ? kRegisters / 8 : 2;
  for_column_passes(columns, W, kMost, [&](int vectors, const Columns& pass) {
    const T* from = b + pass.first;
    T* to = c + pass.first;
    if (vectors == 1) {
      row_groups<T, W, 1>(rows, depth, a, a_stride, from, b_stride, pass.last, to, c_stride);
    } else if (vectors == 2) {
      row_groups<T, W, 2>(rows, depth, a, a_stride, from, b_stride, pass.last, to, c_stride);
    } else if constexpr (kMost > 2) {
      if (vectors == 3) {
        row_groups<T, W, 3>(rows, depth, a, a_stride, from, b_stride, pass.last, to, c_stride);
      } else {
        row_groups<T, W, 4>(rows, depth, a, a_stride, from, b_stride, pass.last, to, c_stride);
      }
    }
  });
}

// --- inner products
// ---------------------------------------------------------------------------------

// sum_lanes4, also where a register holds but two numbers.
template <class T>
inline Vec<T, 4> sum_lanes_of_four(const Vec<T, kWidth<T>> (&v)[4]) {
  if constexpr (kWidth<T> >= 4) {
    return sum_lanes4<T, kWidth<T>>(v);
  } else {
    Vec<T, 4> sums;
    for (int k = 0; k < 4; ++k) sums[k] = sum_lanes<T, kWidth<T>>(v[k]);
    return sums;
  }
}

/// Asks for the rows behind those of a graph, a few lines at a time between blocks of its work: the
/// next graph then finds them in cache. Asking for what lies behind an array does no harm.
class Ahead {
 public:
  explicit Ahead(int lines) : lines_(lines) {}
  template <class T>
  void add(const T* rows, int64_t count) {
    const char* end = reinterpret_cast<const char*>(rows + count);
    streams_[count_++] = {end, end + count * static_cast<int64_t>(sizeof(T))};
  }
  void step() {
    for (int s = 0; s < count_; ++s) {
      Stream& stream = streams_[s];
      for (int k = 0; k < lines_ && stream.next < stream.end; ++k, stream.next += 64) {
        __builtin_prefetch(stream.next, 0, 2);
      }
    }
  }

 private:
  struct Stream {
    const char *next, *end;
  };
  Stream streams_[5] = {};
  int count_ = 0, lines_;
};

template <class T, int W>
inline Vec<T, W> load_first(const T* from, int64_t count) {
  Vec<T, W> v = {};
  std::memcpy(&v, from, static_cast<size_t>(count) * sizeof(T));
  return v;
}

/// Rows whose inner products are taken, n of them with d numbers each.
template <class T>
struct Rows {
  const T* first;
  int64_t n, d;
  /// Row i, or the last one: rows behind it are computed for nothing.
  const T* operator[](int64_t i) const { return first + (i < n ? i : n - 1) * d; }
};

/// Rows of `a` and of `b` that are taken together: their products stay in registers.
constexpr int kDotRows = kRegisters >= 32 ? 4 : 2, kDotColumns = 4;

/// Which products: s_ij = <a_i, b_j>, or <a_i, b_j> + <b_i, a_j>.
enum class Dots { plain, symmetrised };

// The products of kDotRows rows from i on with kDotColumns rows from j on. Loops that must not
// leave the registers are unrolled one by one.
template <class T, Dots kKind>
inline void dot_block(const Rows<T>& a, const Rows<T>& b, int64_t i, int64_t j, T* s, int64_t p) {
  constexpr int W = kWidth<T>;
  constexpr int kTerms = kKind == Dots::plain ? 1 : 2;
  Vec<T, W> sum[kDotRows][kDotColumns];
#pragma GCC unroll 4
  for (int r = 0; r < kDotRows; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < kDotColumns; ++c) sum[r][c] = Vec<T, W>{};
  }
  const int64_t whole = a.d / W * W, rest = a.d - whole;
#pragma GCC unroll 2
  for (int term = 0; term < kTerms; ++term) {
    const T *left[kDotRows], *right[kDotColumns];
#pragma GCC unroll 4
    for (int r = 0; r < kDotRows; ++r) left[r] = (term == 0 ? a : b)[i + r];
#pragma GCC unroll 4
    for (int c = 0; c < kDotColumns; ++c) right[c] = (term == 0 ? b : a)[j + c];
    for (int64_t k = 0; k < whole; k += W) {
      Vec<T, W> held[kDotRows];
#pragma GCC unroll 4
      for (int r = 0; r < kDotRows; ++r) held[r] = load<T, W>(left[r] + k);
#pragma GCC unroll 4
      for (int c = 0; c < kDotColumns; ++c) {
        Vec<T, W> other = load<T, W>(right[c] + k);
        keep_in_register(other);
#pragma GCC unroll 4
        for (int r = 0; r < kDotRows; ++r) sum[r][c] += held[r] * other;
      }
    }
    if (rest > 0) {
      Vec<T, W> held[kDotRows];
#pragma GCC unroll 4
      for (int r = 0; r < kDotRows; ++r) held[r] = load_first<T, W>(left[r] + whole, rest);
#pragma GCC unroll 4
      for (int c = 0; c < kDotColumns; ++c) {
        const Vec<T, W> other = load_first<T, W>(right[c] + whole, rest);
#pragma GCC unroll 4
        for (int r = 0; r < kDotRows; ++r) sum[r][c] += held[r] * other;
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kDotRows; ++r) {
    const Vec<T, W> four[4] = {sum[r][0], sum[r][1], sum[r][2], sum[r][3]};
    store<T, 4>(s + r * p + j, sum_lanes_of_four<T>(four));
  }
}

/// The products of the rows begin .. end of `a` with the columns first .. p, written to rows of `s`
/// that are p apart, row begin first. What is written for rows or columns that do not exist is
/// finite where the numbers are.
template <class T, Dots kKind>
void dots(const Rows<T>& a, const Rows<T>& b, int64_t begin, int64_t end, int64_t first, int64_t p,
          T* s, Ahead* ahead = nullptr) {
  for (int64_t i = begin; i < end; i += kDotRows, s += kDotRows * p) {
    for (int64_t j = first; j < p; j += kDotColumns) {
      dot_block<T, kKind>(a, b, i, j, s, p);
      if (ahead) ahead->step();
    }
  }
}

// --- transposes ----------------------------------------------------------------------------------

template <class T>
struct Square {
  Vec<T, 4> row[4];
};

template <class T>
inline Square<T> load_square(const T* from, int64_t stride) {
  Square<T> s;
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) s.row[k] = load<T, 4>(from + k * stride);
  return s;
}

template <class T>
inline void store_square(T* to, int64_t stride, const Square<T>& s) {
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) store<T, 4>(to + k * stride, s.row[k]);
}

template <class T>
inline Square<T> turned(const Square<T>& s) {
  const Vec<T, 4> a = __builtin_shufflevector(s.row[0], s.row[1], 0, 4, 2, 6);
  const Vec<T, 4> b = __builtin_shufflevector(s.row[0], s.row[1], 1, 5, 3, 7);
  const Vec<T, 4> c = __builtin_shufflevector(s.row[2], s.row[3], 0, 4, 2, 6);
  const Vec<T, 4> d = __builtin_shufflevector(s.row[2], s.row[3], 1, 5, 3, 7);
  return {{__builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(b, d, 0, 1, 4, 5),
           __builtin_shufflevector(a, c, 2, 3, 6, 7), __builtin_shufflevector(b, d, 2, 3, 6, 7)}};
}

/// First column of the vectors of row i that the kernels compute of a symmetric matrix.
template <class T>
inline int64_t first_column(int64_t i) {
  return i / kLane<T> * kLane<T>;
}

/// Completes a symmetric matrix below what is computed of it.
template <class T>
inline void mirror(T* m, int64_t n, int64_t p) {
  for (int64_t i = kLane<T>; i < n; i += 4) {
    for (int64_t j = 0; j < first_column<T>(i); j += 4) {
      store_square(m + i * p + j, p, turned(load_square(m + j * p + i, p)));
    }
  }
}

}  // namespace grm::cpu::GRM_CPU_VARIANT::tile
