#include <algorithm>
#include <cmath>
#include <cstring>

#include "methods/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {

using namespace kernels::editor;

namespace {

constexpr int kLanes = 32;

// exp(x) = 2^k exp(r) with |r| <= log(2) / 2 through the Taylor series, so that loops stay in
// vector registers.
inline float fast_exp(float x) {
  x = std::min(std::max(x, -87.0f), 88.0f);
  const float k = std::nearbyint(x * 1.44269504f);
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  const float series =
      1.0f +
      r * (1.0f +
           r * (1.0f / 2 +
                r * (1.0f / 6 +
                     r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)))))));
  const int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, 4);
  return series * power;
}

}  // namespace

void step_entries(float* __restrict value, float* __restrict first, float* __restrict second,
                  int64_t n, double pull, const Step& step) {
  const float beta1 = kBeta1, rest1 = 1.0 - kBeta1;
  const float beta2 = kBeta2, rest2 = 1.0 - kBeta2;
  const float eps = kEps, strength = static_cast<float>(pull);
  const float keep = static_cast<float>(step.keep);
  const float step_size = static_cast<float>(step.step_size);
  const float second_scale = static_cast<float>(step.second_scale);
  for (int64_t i = 0; i < n; ++i) {
    const float g = strength * fast_exp(value[i]);
    const float m = beta1 * first[i] + rest1 * g;
    const float v = beta2 * second[i] + rest2 * g * g;
    first[i] = m;
    second[i] = v;
    value[i] = keep * value[i] - step_size * m / (std::sqrt(v) * second_scale + eps);
  }
}

void exponentials(const float* __restrict value, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = fast_exp(value[i]);
}

Mass mass(const float* value, int64_t n) {
  // Lanes of fixed width: the order of the sum does not depend on the machine.
  double sum[kLanes] = {};
  float top[kLanes] = {};
  float weight[kLanes];
  for (int64_t i = 0; i < n; i += kLanes) {
    const int count = static_cast<int>(std::min<int64_t>(kLanes, n - i));
    if (count == kLanes) {
      for (int l = 0; l < kLanes; ++l) weight[l] = fast_exp(value[i + l]);
    } else {
      for (int l = 0; l < kLanes; ++l) weight[l] = l < count ? fast_exp(value[i + l]) : 0.0f;
    }
    for (int l = 0; l < kLanes; ++l) sum[l] += weight[l];
    for (int l = 0; l < kLanes; ++l) top[l] = std::max(top[l], weight[l]);
  }
  Mass result;
  for (int l = 0; l < kLanes; ++l) {
    result.sum += sum[l];
    result.top = std::max(result.top, top[l]);
  }
  return result;
}

void chebyshev_sums(const float* x, int64_t n, double* sum) {
  constexpr int64_t kBlock = 32 * kLanes;  // added in float, blocks in double
  std::fill_n(sum, kNodes, 0.0);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    float part[kNodes][kLanes] = {};
    const int64_t whole = begin + (end - begin) / kLanes * kLanes;
    for (int64_t i = begin; i < whole; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) {
        const float y = 2.0f * x[i + l] - 1.0f, twice = 2.0f * y;
        float before = 1.0f, now = y;
        part[1][l] += y;
        for (int k = 2; k < kNodes; ++k) {
          const float next = twice * now - before;
          part[k][l] += next;
          before = now;
          now = next;
        }
      }
    }
    for (int64_t i = whole; i < end; ++i) {
      const float y = 2.0f * x[i] - 1.0f;
      float before = 1.0f, now = y;
      part[1][0] += y;
      for (int k = 2; k < kNodes; ++k) {
        const float next = 2.0f * y * now - before;
        part[k][0] += next;
        before = now;
        now = next;
      }
    }
    for (int k = 1; k < kNodes; ++k) {
      for (int l = 0; l < kLanes; ++l) sum[k] += part[k][l];
    }
  }
  sum[0] = static_cast<double>(n);
}

int64_t find(const int32_t* values, int64_t n, int32_t wanted) {
  for (int64_t begin = 0; begin < n; begin += kLanes) {
    const int count = static_cast<int>(std::min<int64_t>(kLanes, n - begin));
    if (count == kLanes) {
      int32_t hits = 0;
      for (int l = 0; l < kLanes; ++l) hits += values[begin + l] == wanted;
      if (!hits) continue;
    }
    for (int l = 0; l < count; ++l) {
      if (values[begin + l] == wanted) return begin + l;
    }
  }
  return -1;
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL_OF(kernels::editor::step_entries, step_entries)
GRM_CPU_KERNEL_OF(kernels::editor::exponentials, exponentials)
GRM_CPU_KERNEL_OF(kernels::editor::mass, mass)
GRM_CPU_KERNEL_OF(kernels::editor::chebyshev_sums, chebyshev_sums)
GRM_CPU_KERNEL_OF(kernels::editor::find, find)
