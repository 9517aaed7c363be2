#pragma once

#include <cmath>

#include "core/cuda/launch.cuh"

// An edge that is there with probability sigmoid(s), and its divergence from probability theta.
namespace grm::cuda {

/// Logarithms of the prior, taken once on the host in double.
template <class T>
struct LogTheta {
  explicit LogTheta(double theta)
      : on(static_cast<T>(std::log(theta))),
        off(static_cast<T>(std::log1p(-theta))),
        logit(static_cast<T>(std::log(theta) - std::log1p(-theta))) {}
  T on, off, logit;
};

/// 0 times infinity must not turn an infinite logit into NaN.
template <class T>
__device__ inline T finite(T s) {
  constexpr T kMax = sizeof(T) == 4 ? T(0x1.fffffep127) : T(0x1.fffffffffffffp1023);
  s = s > kMax ? kMax : s;
  return s < -kMax ? -kMax : s;
}

template <class T>
struct Bernoulli {
  __device__ explicit Bernoulli(T s)
      : t(exp(s < T{0} ? s : -s)),
        inverse(T{1} / (T{1} + t)),
        on(s < T{0} ? t * inverse : inverse) {}

  /// The derivative of sigmoid: e (1 - e), without the cancellation of 1 - e.
  __device__ T slope() const { return t * inverse * inverse; }

  __device__ T divergence(T s, const LogTheta<T>& prior) const {
    const T q = t * inverse, size = s < T{0} ? -s : s;
    const T off = s < T{0} ? inverse : q;
    const T value = -(q * size + log1p(t)) - on * prior.on - off * prior.off;
    return value < T{0} ? T{0} : value;
  }

  T t, inverse, on;
};

}  // namespace grm::cuda
