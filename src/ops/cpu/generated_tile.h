#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/cpu/generated_products.h"
#include "ops/cpu/vector_math.h"
#include "ops/kernels.h"

// What the fused generator does to the elements of a graph's matrices, and the task at hand.
namespace grm::cpu::GRM_CPU_VARIANT::tile {

/// Logarithms of the prior.
template <class T>
struct Prior {
  explicit Prior(double theta)
      : on(static_cast<T>(std::log(theta))),
        off(static_cast<T>(std::log1p(-theta))),
        logit(static_cast<T>(std::log(theta) - std::log1p(-theta))) {}
  T on, off, logit;
};

template <class T>
using Lanes = Vec<T, kLane<T>>;

// The functions below are those of vector_math.h on vectors: rows of some twenty numbers are too
// short for what the compiler makes of loops.

// 0 times infinity must not turn an infinite logit into NaN.
template <class T>
inline Lanes<T> finite(const Lanes<T>& s) {
  const Lanes<T> most = Lanes<T>{} + Float<T>::kMax;
  const Lanes<T> below = s > most ? most : s;
  return below < -most ? -most : below;
}

template <class T>
inline Lanes<T> absolute_lanes(const Lanes<T>& x) {
  return x < T{0} ? -x : x;
}

/// e^x for x <= 0; 0 where the result would be below the normal numbers.
template <class T>
inline Lanes<T> exp_lanes(const Lanes<T>& x) {
  using F = Float<T>;
  using Bits = Vec<typename F::Bits, kLane<T>>;
  const Lanes<T> low = Lanes<T>{} + F::kExpLow;
  const Lanes<T> y = x < low ? low : x;
  const Lanes<T> shifted = y * T(1.4426950408889634074) + F::kRounder;
  const Lanes<T> n = shifted - F::kRounder;
  const Lanes<T> r = (y - n * F::kLn2High) - n * F::kLn2Low;
  Lanes<T> series = Lanes<T>{} + T{1};
#pragma GCC unroll 16
  for (int k = F::kExpTerms; k > 0; --k) series = series * (r * (T{1} / static_cast<T>(k))) + T{1};
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + F::kBias) << F::kMantissa;
  Lanes<T> power;
  std::memcpy(&power, &bits, sizeof power);
  return x < low ? Lanes<T>{} : series * power;
}

/// log(1 + t) for t in [0, 1].
template <class T>
inline Lanes<T> log1p_lanes(const Lanes<T>& t) {
  const Lanes<T> u = t / (T{2} + t), u2 = u * u;
  Lanes<T> series = {};
#pragma GCC unroll 32
  for (int k = Float<T>::kAtanhTerms; k >= 0; --k) {
    series = series * u2 + T{1} / static_cast<T>(2 * k + 1);
  }
  return T{2} * u * series;
}

/// e = sigmoid(s) of whole vectors. In place is fine, here and below.
template <class T>
inline void weights(const T* s, int64_t count, T* e) {
  for (int64_t k = 0; k < count; k += kLane<T>) {
    const Lanes<T> x = load<T, kLane<T>>(s + k), t = exp_lanes<T>(-absolute_lanes<T>(x));
    const Lanes<T> inverse = T{1} / (T{1} + t);
    store<T, kLane<T>>(e + k, x < T{0} ? t * inverse : inverse);
  }
}

/// e, and the divergence as in bernoulli_forward.
template <class T>
inline void weights_and_kl(const T* s, int64_t count, const Prior<T>& prior, T* e, T* kl) {
  for (int64_t k = 0; k < count; k += kLane<T>) {
    const Lanes<T> x = finite<T>(load<T, kLane<T>>(s + k)), size = absolute_lanes<T>(x);
    const Lanes<T> t = exp_lanes<T>(-size), inverse = T{1} / (T{1} + t), q = t * inverse;
    const Lanes<T> on = x < T{0} ? q : inverse, off = x < T{0} ? inverse : q;
    const Lanes<T> value = -(q * size + log1p_lanes<T>(t)) - on * prior.on - off * prior.off;
    store<T, kLane<T>>(e + k, on);
    store<T, kLane<T>>(kl + k, value < T{0} ? Lanes<T>{} : value);
  }
}

/// e and its slope e (1 - e).
template <class T>
inline void weights_and_slope(const T* s, int64_t count, T* e, T* slope) {
  for (int64_t k = 0; k < count; k += kLane<T>) {
    const Lanes<T> x = load<T, kLane<T>>(s + k), t = exp_lanes<T>(-absolute_lanes<T>(x));
    const Lanes<T> inverse = T{1} / (T{1} + t);
    store<T, kLane<T>>(e + k, x < T{0} ? t * inverse : inverse);
    store<T, kLane<T>>(slope + k, t * inverse * inverse);
  }
}

/// Sets what lies behind the first n numbers of a padded row to zero.
template <class T>
inline void clear_padding(T* row, int64_t n, int64_t p) {
  static constexpr T kPlaces[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int64_t k = n / kLane<T> * kLane<T>; k < p; k += kLane<T>) {
    const Lanes<T> left = static_cast<T>(n - k) - load<T, kLane<T>>(kPlaces);
    store<T, kLane<T>>(row + k, left > T{0} ? load<T, kLane<T>>(row + k) : Lanes<T>{});
  }
}

/// Sum of whole vectors.
template <class T>
inline T sum(const T* x, int64_t count) {
  Vec<T, kLane<T>> total = {};
  for (int64_t k = 0; k < count; k += kLane<T>) total += load<T, kLane<T>>(x + k);
  return sum_lanes<T, kLane<T>>(total);
}

/// Sum of x y z over whole vectors.
template <class T>
inline T sum_of_products(const T* x, const T* y, const T* z, int64_t count) {
  Vec<T, kLane<T>> total = {};
  for (int64_t k = 0; k < count; k += kLane<T>) {
    total += load<T, kLane<T>>(x + k) * load<T, kLane<T>>(y + k) * load<T, kLane<T>>(z + k);
  }
  return sum_lanes<T, kLane<T>>(total);
}

/// degree^-1/2, or 0 where the degree is not positive.
template <class T>
inline T inverse_root(T degree) {
  return degree > T{0} ? T{1} / std::sqrt(degree) : T{0};
}

/// row_k *= own r_k
template <class T>
inline void scale_row(T* row, T own, const T* r, int64_t count) {
  for (int64_t k = 0; k < count; k += kLane<T>) {
    const Lanes<T> factor = own * load<T, kLane<T>>(r + k);
    store<T, kLane<T>>(row + k, load<T, kLane<T>>(row + k) * factor);
  }
}

/// h = slope (m r_i r_j - u_i - u_j + divergence (s - logit theta)); m null: 0.
template <class T>
struct LogitGradient {
  T own_r, own_u;  // r_i and u_i
  const T *r, *u;  // of the columns
  T divergence, logit;

  void row(const T* s, const T* slope, const T* m, int64_t count, T* h) const {
    for (int64_t k = 0; k < count; k += kLane<T>) {
      Lanes<T> gradient = divergence * (finite<T>(load<T, kLane<T>>(s + k)) - logit);
      if (m) {
        const Lanes<T> factor = own_r * load<T, kLane<T>>(r + k);
        gradient += load<T, kLane<T>>(m + k) * factor - (own_u + load<T, kLane<T>>(u + k));
      }
      store<T, kLane<T>>(h + k, load<T, kLane<T>>(slope + k) * gradient);
    }
  }
};

/// Everything a call works on. `n` and `first` belong to the graph at hand.
template <class T>
struct Task {
  GeneratorBatch batch;
  Prior<T> prior;
  const T *f, *x, *dy, *dkl;
  T *y, *kl, *df, *dx;

  int64_t first(int64_t g) const { return batch.offset[g]; }
  int64_t nodes(int64_t g) const { return batch.offset[g + 1] - batch.offset[g]; }
  /// What one pair counts in the divergence of a graph.
  T pair_share(int64_t n) const {
    return batch.mean_kl ? T{1} / (static_cast<T>(n) * static_cast<T>(n)) : T{1};
  }
};

/// Graphs whose matrices do not fit in cache: rows in panels, which run in parallel, and logits
/// anew for every pass over them.
template <class T>
void large_forward(const Task<T>& task, int64_t graph);
template <class T>
void large_backward(const Task<T>& task, int64_t graph);

}  // namespace grm::cpu::GRM_CPU_VARIANT::tile
