// Elementwise parts of the generator's losses. All quantities come from t = exp(-|s|), which can
// neither overflow nor cancel.
#include <algorithm>
#include <cmath>

#include "grm/core/threads.h"
#include "ops/cpu/vector_math.h"
#include "ops/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int64_t kElements = 8192;  // per chunk
constexpr int kLanes = 16;

// 0 times infinity must not turn an infinite logit into NaN.
template <class T>
inline T finite(T s) {
  s = s > Float<T>::kMax ? Float<T>::kMax : s;
  return s < -Float<T>::kMax ? -Float<T>::kMax : s;
}

}  // namespace

// With q = min(e, 1 - e) = t / (1 + t), the negative entropy e log e + (1 - e) log(1 - e) is
// -(q |s| + log(1 + t)).
template <class T>
void bernoulli_forward(const T* s, int64_t n, double theta, T* e, T* kl) {
  const T log_theta = static_cast<T>(std::log(theta));
  const T log_rest = static_cast<T>(std::log1p(-theta));
  parallel_chunks(n, kElements, [&](int64_t begin, int64_t end) {
    const auto sigmoid = [](T x, T t) {
      const T inverse = T{1} / (T{1} + t);
      return x < T{0} ? t * inverse : inverse;
    };
    if (!kl) {
      for (int64_t k = begin; k < end; ++k) e[k] = sigmoid(s[k], fast_exp(-absolute(s[k])));
      return;
    }
    const auto divergence = [&](T x, T t) {
      const T size = absolute(x), inverse = T{1} / (T{1} + t), q = t * inverse;
      const T on = x < T{0} ? q : inverse, off = x < T{0} ? inverse : q;
      const T value = -(q * size + fast_log1p(t)) - on * log_theta - off * log_rest;
      return value < T{0} ? T{0} : value;
    };
    if (!e) {
      for (int64_t k = begin; k < end; ++k) {
        const T x = finite(s[k]);
        kl[k] = divergence(x, fast_exp(-absolute(x)));
      }
      return;
    }
    for (int64_t k = begin; k < end; ++k) {
      const T x = finite(s[k]), t = fast_exp(-absolute(x));
      e[k] = sigmoid(x, t);
      kl[k] = divergence(x, t);
    }
  });
}

template <class T>
void bernoulli_backward(const T* s, const T* de, const T* dkl, int64_t n, double theta, T* ds) {
  const T logit_theta = static_cast<T>(std::log(theta) - std::log1p(-theta));
  parallel_chunks(n, kElements, [&](int64_t begin, int64_t end) {
    const auto slope = [](T x) {  // e (1 - e)
      const T t = fast_exp(-absolute(x)), inverse = T{1} / (T{1} + t);
      return t * inverse * inverse;
    };
    if (!dkl) {
      for (int64_t k = begin; k < end; ++k) ds[k] = slope(s[k]) * de[k];
    } else if (!de) {
      for (int64_t k = begin; k < end; ++k) {
        const T x = finite(s[k]);
        ds[k] = slope(x) * (x - logit_theta) * dkl[k];
      }
    } else {
      for (int64_t k = begin; k < end; ++k) {
        const T x = finite(s[k]);
        ds[k] = slope(x) * (de[k] + (x - logit_theta) * dkl[k]);
      }
    }
  });
}

template <class T>
void gaussian_forward(const T* mu, const T* log_sigma, int64_t rows, int64_t d, T* kl) {
  parallel_chunks(rows, kElements / std::max<int64_t>(d, 1) + 1, [&](int64_t begin, int64_t end) {
    const auto term = [](T m, T l) { return T(0.5) * (fast_exp(T{2} * l) + m * m - T{1}) - l; };
    for (int64_t i = begin; i < end; ++i) {
      const T* m = mu + i * d;
      const T* l = log_sigma + i * d;
      T lane[kLanes] = {};
      int64_t c = 0;
      for (; c + kLanes <= d; c += kLanes) {
        for (int u = 0; u < kLanes; ++u) lane[u] += term(m[c + u], l[c + u]);
      }
      for (int u = 0; c + u < d; ++u) lane[u] += term(m[c + u], l[c + u]);
      for (int half = kLanes / 2; half > 0; half /= 2) {
        for (int u = 0; u < half; ++u) lane[u] += lane[u + half];
      }
      kl[i] = lane[0];
    }
  });
}

template <class T>
void gaussian_backward(const T* mu, const T* log_sigma, const T* dkl, int64_t rows, int64_t d,
                       T* dmu, T* dlog_sigma) {
  parallel_chunks(rows, kElements / std::max<int64_t>(d, 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T g = dkl[i];
      if (dmu) {
        for (int64_t c = i * d; c < (i + 1) * d; ++c) dmu[c] = g * mu[c];
      }
      if (dlog_sigma) {
        for (int64_t c = i * d; c < (i + 1) * d; ++c) {
          dlog_sigma[c] = g * (fast_exp(T{2} * log_sigma[c]) - T{1});
        }
      }
    }
  });
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(bernoulli_forward)
GRM_CPU_KERNEL(bernoulli_backward)
GRM_CPU_KERNEL(gaussian_forward)
GRM_CPU_KERNEL(gaussian_backward)
