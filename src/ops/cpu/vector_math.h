#pragma once

#include <cstdint>
#include <cstring>

// Elementary functions without branches or calls, so that loops over them become vector code.
// Relative error a few units in the last place.
namespace grm::cpu::GRM_CPU_VARIANT {

template <class T>
struct Float;

template <>
struct Float<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kMax = 0x1.fffffep127f, kInfinity = __builtin_inff();
  static constexpr float kRounder = 0x1.8p23f;  // x + kRounder has no fraction bits
  static constexpr float kExpLow = -87.3f, kExpHigh = 88.3f;
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr int kExpTerms = 7, kAtanhTerms = 8;
};

template <>
struct Float<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kMax = 0x1.fffffffffffffp1023, kInfinity = __builtin_inf();
  static constexpr double kRounder = 0x1.8p52;
  static constexpr double kExpLow = -708.3, kExpHigh = 709.4;
  static constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;
  static constexpr int kExpTerms = 13, kAtanhTerms = 17;
};

template <class T>
inline T absolute(T x) {
  return x < T{0} ? -x : x;
}

/// e^x; 0 where the result would be below the normal numbers, infinite above kExpHigh.
/// x = n ln 2 + r with |r| <= ln 2 / 2, then 2^n times the Taylor series of e^r.
template <class T>
inline T fast_exp(T x) {
  using F = Float<T>;
  T y = x < F::kExpLow ? F::kExpLow : x;
  y = y > F::kExpHigh ? F::kExpHigh : y;
  const T shifted = y * T(1.4426950408889634074) + F::kRounder;
  const T n = shifted - F::kRounder;
  const T r = (y - n * F::kLn2High) - n * F::kLn2Low;
  T series = T{1};
#pragma GCC unroll 16
  for (int k = F::kExpTerms; k > 0; --k) series = series * r * (T{1} / static_cast<T>(k)) + T{1};
  typename F::Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + F::kBias) << F::kMantissa;  // the rounder's low bits are zero: these are n's
  T power;
  std::memcpy(&power, &bits, sizeof power);
  T result = series * power;
  result = x < F::kExpLow ? T{0} : result;
  return x > F::kExpHigh ? F::kInfinity : result;
}

/// log(1 + t) for t in [0, 1]: 2 atanh(t / (2 + t)) by its series.
template <class T>
inline T fast_log1p(T t) {
  const T u = t / (T{2} + t), u2 = u * u;
  T series = T{0};
#pragma GCC unroll 32
  for (int k = Float<T>::kAtanhTerms; k >= 0; --k) {
    series = series * u2 + T{1} / static_cast<T>(2 * k + 1);
  }
  return T{2} * u * series;
}

}  // namespace grm::cpu::GRM_CPU_VARIANT
