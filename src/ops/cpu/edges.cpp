// Reductions of per-edge numbers over the rows of a pattern, and what normalises by them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/cpu/vec.h"
#include "ops/cpu/vector_math.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int64_t kEntries = 8192;  // per chunk; a few nanoseconds each

// Sum of term(k) for k in [begin, end) with four running sums, so that the additions overlap.
template <class T, class Term>
inline T sum_over(int64_t begin, int64_t end, const Term& term) {
  T sum[4] = {};
  int64_t k = begin;
  for (; k + 4 <= end; k += 4) {
    for (int u = 0; u < 4; ++u) sum[u] += term(k + u);
  }
  for (; k < end; ++k) sum[0] += term(k);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

template <class Rows>
void each_row(const Pattern& a, int64_t entries, const Rows& row) {
  parallel_rows(a.offset, a.rows, entries, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row(i, a.offset[i], a.offset[i + 1]);
  });
}

// kHeads is the number of columns where it is known when compiling, else 0.
// The exponentials of a chunk are taken in one loop: rows are too short for full vectors.
template <class T, int kHeads>
void softmax_rows(const Pattern& a, const T* s, int64_t columns, T* y, int64_t first,
                  int64_t last) {
  const int64_t heads = kHeads > 0 ? kHeads : columns;
  std::vector<T> row(heads);
  for (int64_t i = first; i < last; ++i) {
    std::fill(row.begin(), row.end(), -Float<T>::kInfinity);
    for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
      for (int64_t h = 0; h < heads; ++h) row[h] = std::max(row[h], s[k * heads + h]);
    }
    for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
      for (int64_t h = 0; h < heads; ++h) y[k * heads + h] = s[k * heads + h] - row[h];
    }
  }
  for (int64_t k = a.offset[first] * heads; k < a.offset[last] * heads; ++k) {
    y[k] = fast_exp(y[k]);
  }
  for (int64_t i = first; i < last; ++i) {
    std::fill(row.begin(), row.end(), T{0});
    for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
      for (int64_t h = 0; h < heads; ++h) row[h] += y[k * heads + h];
    }
    for (int64_t h = 0; h < heads; ++h) row[h] = T{1} / row[h];
    for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
      for (int64_t h = 0; h < heads; ++h) y[k * heads + h] *= row[h];
    }
  }
}

template <class T, int kHeads>
void softmax_backward_rows(const Pattern& a, const T* y, const T* dy, int64_t columns, T* ds,
                           int64_t first, int64_t last) {
  const int64_t heads = kHeads > 0 ? kHeads : columns;
  std::vector<T> inner(heads);
  for (int64_t i = first; i < last; ++i) {
    std::fill(inner.begin(), inner.end(), T{0});
    for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
      for (int64_t h = 0; h < heads; ++h) inner[h] += y[k * heads + h] * dy[k * heads + h];
    }
    for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
      for (int64_t h = 0; h < heads; ++h) {
        ds[k * heads + h] = y[k * heads + h] * (dy[k * heads + h] - inner[h]);
      }
    }
  }
}

}  // namespace

template <class T>
void row_sum(const Pattern& a, const T* w, T* s) {
  each_row(a, kEntries, [&](int64_t i, int64_t begin, int64_t end) {
    s[i] =
        w ? sum_over<T>(begin, end, [&](int64_t k) { return w[k]; }) : static_cast<T>(end - begin);
  });
}

template <class T>
void row_spread(const Pattern& a, const T* s, T* w) {
  each_row(a, kEntries,
           [&](int64_t i, int64_t begin, int64_t end) { std::fill(w + begin, w + end, s[i]); });
}

template <class T>
void normalise(const Pattern& in, const T* w, T* scale, T* y) {
  row_sum(in, w, scale);
  for (int64_t i = 0; i < in.rows; ++i) {
    scale[i] = scale[i] > T{0} ? T{1} / std::sqrt(scale[i]) : T{0};
  }
  each_row(in, kEntries, [&](int64_t i, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const T factor = scale[i] * scale[in.index[k]];
      y[k] = w ? w[k] * factor : factor;
    }
  });
}

// With r = deg^-1/2: dw_ji = dy_ji r_i r_j - (r_i^2 / 2) t_i, where t_i sums dy y over all pairs
// that i takes part in; w_ji moves the degree of its target i only.
template <class T>
void normalise_backward(const Pattern& in, const Pattern& out, const T* w, const T* scale,
                        const T* dy, T* dw) {
  each_row(in, kEntries, [&](int64_t i, int64_t begin, int64_t end) {
    const T into = sum_over<T>(
        begin, end, [&](int64_t k) { return dy[k] * (w ? w[k] : T{1}) * scale[in.index[k]]; });
    const T from = sum_over<T>(out.offset[i], out.offset[i + 1], [&](int64_t k) {
      const int64_t e = out.edge[k];
      return dy[e] * (w ? w[e] : T{1}) * scale[out.index[k]];
    });
    const T r = scale[i];
    const T through_degree = T(0.5) * r * r * (r * (into + from));
    for (int64_t k = begin; k < end; ++k) {
      dw[k] = dy[k] * (r * scale[in.index[k]]) - through_degree;
    }
  });
}

template <class T>
void row_softmax(const Pattern& a, const T* s, int64_t heads, T* y) {
  const auto rows = heads == 1   ? softmax_rows<T, 1>
                    : heads == 2 ? softmax_rows<T, 2>
                    : heads == 4 ? softmax_rows<T, 4>
                    : heads == 8 ? softmax_rows<T, 8>
                                 : softmax_rows<T, 0>;
  parallel_rows(a.offset, a.rows, kEntries / heads + 1,
                [&](int64_t first, int64_t last) { rows(a, s, heads, y, first, last); });
}

template <class T>
void row_softmax_backward(const Pattern& a, const T* y, const T* dy, int64_t heads, T* ds) {
  const auto rows = heads == 1   ? softmax_backward_rows<T, 1>
                    : heads == 2 ? softmax_backward_rows<T, 2>
                    : heads == 4 ? softmax_backward_rows<T, 4>
                    : heads == 8 ? softmax_backward_rows<T, 8>
                                 : softmax_backward_rows<T, 0>;
  parallel_rows(a.offset, a.rows, kEntries / heads + 1,
                [&](int64_t first, int64_t last) { rows(a, y, dy, heads, ds, first, last); });
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(row_sum)
GRM_CPU_KERNEL(row_spread)
GRM_CPU_KERNEL(normalise)
GRM_CPU_KERNEL(normalise_backward)
GRM_CPU_KERNEL(row_softmax)
GRM_CPU_KERNEL(row_softmax_backward)
