// Messages that pass a ReLU on their way. Loops go over columns; a row's sums stay in the nearest
// cache, and what is read once (e, ds) streams past. Sums of numbers over columns are kept in
// sixteen lanes that are folded in a fixed order.
#include "ops/kernels.h"

#include <algorithm>

#include "ops/cpu/vec.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int kLanes = 16;

// The sum over c < d of term(c).
template <class T, class Term>
inline T sum_columns(int64_t d, const Term& term) {
  T lane[kLanes] = {};
  int64_t c = 0;
  for (; c + kLanes <= d; c += kLanes) {
    for (int l = 0; l < kLanes; ++l) lane[l] += term(c + l);
  }
  for (int l = 0; c + l < d; ++l) lane[l] += term(c + l);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

template <class T>
inline T relu(T m) {
  return m > T{0} ? m : T{0};
}

}  // namespace

template <class T>
void relu_messages(const Pattern& in, const T* w, const T* x, const T* e, int64_t d, T* y) {
  parallel_rows(in.offset, in.rows, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* __restrict to = y + i * d;
      std::fill(to, to + d, T{0});
      for (int64_t k = in.offset[i]; k < in.offset[i + 1]; ++k) {
        const T* from = x + in.index[k] * d;
        const T* edge = e + k * d;
        const T weight = w ? w[k] : T{1};
        for (int64_t c = 0; c < d; ++c) to[c] += weight * relu(from[c] + edge[c]);
      }
    }
  });
}

template <class T>
void relu_messages_backward(const Pattern& out, const T* w, const T* x, const T* e, const T* dy,
                            int64_t d, T* dx, T* de, T* dw) {
  parallel_rows(out.offset, out.rows, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const T* from = x + j * d;
      T* __restrict sum = dx + j * d;
      std::fill(sum, sum + d, T{0});
      for (int64_t k = out.offset[j]; k < out.offset[j + 1]; ++k) {
        const T* edge = e + out.edge[k] * d;
        const T* g = dy + out.index[k] * d;
        const T weight = w ? w[out.edge[k]] : T{1};
        if (de) {
          T* __restrict to = de + out.edge[k] * d;
          for (int64_t c = 0; c < d; ++c) {
            const T share = from[c] + edge[c] > T{0} ? weight * g[c] : T{0};
            to[c] = share;
            sum[c] += share;
          }
        } else {
          for (int64_t c = 0; c < d; ++c) {
            sum[c] += from[c] + edge[c] > T{0} ? weight * g[c] : T{0};
          }
        }
        if (dw) {
          dw[out.edge[k]] =
              sum_columns<T>(d, [&](int64_t c) { return g[c] * relu(from[c] + edge[c]); });
        }
      }
    }
  });
}

template <class T>
void pair_scores(const Pattern& in, const T* own, const T* other, const T* v, int64_t d, T* s) {
  parallel_rows(in.offset, in.rows, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* q = own + i * d;
      for (int64_t k = in.offset[i]; k < in.offset[i + 1]; ++k) {
        const T* p = other + in.index[k] * d;
        s[k] = sum_columns<T>(d, [&](int64_t c) { return v[c] * relu(p[c] + q[c]); });
      }
    }
  });
}

template <class T>
void pair_scores_backward(const Pattern& a, const T* own, const T* other, const T* v, const T* ds,
                          int64_t d, T* down, T* dv) {
  parallel_rows(a.offset, a.rows, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* q = own + i * d;
      T* __restrict to = down + i * d;
      std::fill(to, to + d, T{0});
      if (dv) std::fill(dv + i * d, dv + (i + 1) * d, T{0});
      for (int64_t k = a.offset[i]; k < a.offset[i + 1]; ++k) {
        const T* p = other + a.index[k] * d;
        const T g = ds[a.edge ? a.edge[k] : k];
        if (dv) {
          T* __restrict sum = dv + i * d;
          for (int64_t c = 0; c < d; ++c) {
            const T m = p[c] + q[c];
            to[c] += m > T{0} ? g : T{0};
            sum[c] += g * relu(m);
          }
        } else {
          for (int64_t c = 0; c < d; ++c) to[c] += p[c] + q[c] > T{0} ? g : T{0};
        }
      }
      for (int64_t c = 0; c < d; ++c) to[c] *= v[c];
    }
  });
}

template <class T>
void segment_max(const int64_t* offset, int64_t segments, const T* x, int64_t d, T* y,
                 int64_t* row) {
  parallel_rows(offset, segments, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* __restrict best = y + i * d;
      int64_t* __restrict at = row + i * d;
      const bool some = offset[i] < offset[i + 1];
      for (int64_t c = 0; c < d; ++c) {
        best[c] = some ? x[offset[i] * d + c] : T{0};
        at[c] = some ? offset[i] : -1;
      }
      for (int64_t r = offset[i] + 1; r < offset[i + 1]; ++r) {
        for (int64_t c = 0; c < d; ++c) {
          const bool larger = x[r * d + c] > best[c];
          best[c] = larger ? x[r * d + c] : best[c];
          at[c] = larger ? r : at[c];
        }
      }
    }
  });
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(relu_messages)
GRM_CPU_KERNEL(relu_messages_backward)
GRM_CPU_KERNEL(pair_scores)
GRM_CPU_KERNEL(pair_scores_backward)
GRM_CPU_KERNEL(segment_max)
