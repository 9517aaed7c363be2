// Elementwise passes over rows of the latent sample, and the gradient of a bias.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/cpu/vec.h"
#include "ops/cpu/vector_math.h"
#include "ops/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int64_t kElements = 16384;  // per chunk
constexpr int64_t kPieceRows = 256;   // of a long sum

template <class Rows>
void by_rows(int64_t n, int64_t k, const Rows& rows) {
  parallel_chunks(n, kElements / std::max<int64_t>(k, 1) + 1, rows);
}

// Sum of k numbers in the lanes of one register, folded in a fixed order.
template <class T>
inline T sum_row(const T* x, int64_t k) {
  constexpr int W = kWidth<T>;
  Vec<T, W> total = {};
  int64_t c = 0;
  for (; c + W <= k; c += W) total += load<T, W>(x + c);
  T rest = T{0};
  for (; c < k; ++c) rest += x[c];
  return sum_lanes<T, W>(total) + rest;
}

template <class T>
inline T square_distance(const T* a, const T* b, int64_t k) {
  constexpr int W = kWidth<T>;
  Vec<T, W> total = {};
  int64_t c = 0;
  for (; c + W <= k; c += W) {
    const Vec<T, W> difference = load<T, W>(a + c) - load<T, W>(b + c);
    total += difference * difference;
  }
  T rest = T{0};
  for (; c < k; ++c) rest += (a[c] - b[c]) * (a[c] - b[c]);
  return sum_lanes<T, W>(total) + rest;
}

template <class T>
struct Bounds {
  explicit Bounds(const LogSigma& rule)
      : shift(static_cast<T>(rule.shift)),
        low(static_cast<T>(rule.low)),
        high(static_cast<T>(rule.high)) {}
  T clamp(T raw) const {
    const T l = raw + shift;
    return l < low ? low : l > high ? high : l;
  }
  T shift, low, high;
};

}  // namespace

template <class T>
void latent_forward(const T* heads, const T* eps, int64_t n, int64_t k, const LogSigma& rule, T* z,
                    T* kl) {
  const Bounds<T> bounds(rule);
  by_rows(n, k, [&](int64_t begin, int64_t end) {
    std::vector<T> sigma(k), log_sigma(k);
    for (int64_t i = begin; i < end; ++i) {
      const T *mu = heads + i * 2 * k, *raw = mu + k;
      T *s = sigma.data(), *l = log_sigma.data(), *to = z + i * k;
      for (int64_t c = 0; c < k; ++c) {
        l[c] = bounds.clamp(raw[c]);
        s[c] = fast_exp(l[c]);
      }
      if (eps) {
        const T* e = eps + i * k;
        for (int64_t c = 0; c < k; ++c) to[c] = mu[c] + s[c] * e[c];
      } else {
        std::copy_n(mu, k, to);
      }
      if (kl) {
        for (int64_t c = 0; c < k; ++c) {
          l[c] = T(0.5) * (s[c] * s[c] + mu[c] * mu[c] - T{1}) - l[c];
        }
        kl[i] = sum_row(l, k);
      }
    }
  });
}

template <class T>
void latent_backward(const T* heads, const T* eps, const T* dz, const T* dkl, int64_t n, int64_t k,
                     const LogSigma& rule, T* dheads) {
  const Bounds<T> bounds(rule);
  by_rows(n, k, [&](int64_t begin, int64_t end) {
    std::vector<T> sigma(k);
    for (int64_t i = begin; i < end; ++i) {
      const T *mu = heads + i * 2 * k, *raw = mu + k;
      const T* g = dz ? dz + i * k : nullptr;
      T *dmu = dheads + i * 2 * k, *draw = dmu + k, *s = sigma.data();
      const T divergence = dkl ? dkl[i] : T{0};
      for (int64_t c = 0; c < k; ++c) s[c] = fast_exp(bounds.clamp(raw[c]));
      if (g) {
        for (int64_t c = 0; c < k; ++c) dmu[c] = g[c] + divergence * mu[c];
      } else {
        for (int64_t c = 0; c < k; ++c) dmu[c] = divergence * mu[c];
      }
      if (g && eps) {
        const T* e = eps + i * k;
        for (int64_t c = 0; c < k; ++c) {
          draw[c] = s[c] * (g[c] * e[c]) + divergence * (s[c] * s[c] - T{1});
        }
      } else {
        for (int64_t c = 0; c < k; ++c) draw[c] = divergence * (s[c] * s[c] - T{1});
      }
      for (int64_t c = 0; c < k; ++c) {
        const T l = raw[c] + bounds.shift;
        draw[c] = l < bounds.low || l > bounds.high ? T{0} : draw[c];
      }
    }
  });
}

template <class T>
void distance_forward(const T* h, const T* z, const int64_t* index, int64_t n, int64_t k, T tiny,
                      T* d) {
  by_rows(n, k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T *a = h + (index ? index[i] : i) * k, *b = z + i * k;
      d[i] = std::sqrt(square_distance(a, b, k) + tiny);
    }
  });
}

template <class T>
void distance_backward(const T* h, const T* z, const int64_t* index, const T* d, const T* dd,
                       int64_t n, int64_t k, T* dz) {
  by_rows(n, k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T *a = h + (index ? index[i] : i) * k, *b = z + i * k;
      const T factor = dd[i] / d[i];
      T* to = dz + i * k;
      for (int64_t c = 0; c < k; ++c) to[c] = factor * (b[c] - a[c]);
    }
  });
}

template <class T>
void bias_gradient(const T* y, const T* dy, int64_t rows, int64_t cols, T* g, T* sums) {
  const int64_t pieces = (rows + kPieceRows - 1) / kPieceRows;
  std::vector<T> partial(pieces * cols, T{0});
  parallel_chunks(rows, kPieceRows, [&](int64_t begin, int64_t end) {
    T* sum = partial.data() + begin / kPieceRows * cols;
    for (int64_t i = begin * cols; i < end * cols; i += cols) {
      if (y) {
        for (int64_t c = 0; c < cols; ++c) g[i + c] = y[i + c] > T{0} ? dy[i + c] : T{0};
        for (int64_t c = 0; c < cols; ++c) sum[c] += g[i + c];
      } else {
        for (int64_t c = 0; c < cols; ++c) sum[c] += dy[i + c];
      }
    }
  });
  std::fill(sums, sums + cols, T{0});
  for (int64_t p = 0; p < pieces; ++p) {
    for (int64_t c = 0; c < cols; ++c) sums[c] += partial[p * cols + c];
  }
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(latent_forward)
GRM_CPU_KERNEL(latent_backward)
GRM_CPU_KERNEL(distance_forward)
GRM_CPU_KERNEL(distance_backward)
GRM_CPU_KERNEL(bias_gradient)
