#include <cmath>

#include "grm/core/threads.h"
#include "nn/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int64_t kChunk = 1 << 14;

template <class T>
void step_chunk(T* __restrict p, const T* __restrict gradient, T* __restrict first,
                T* __restrict second, int64_t n, const AdamStep& step) {
  const T beta1 = static_cast<T>(step.beta1), rest1 = static_cast<T>(1.0 - step.beta1);
  const T beta2 = static_cast<T>(step.beta2), rest2 = static_cast<T>(1.0 - step.beta2);
  const T eps = static_cast<T>(step.eps), keep = static_cast<T>(step.keep);
  const T coupled_decay = static_cast<T>(step.coupled_decay);
  const T step_size = static_cast<T>(step.step_size);
  const T second_scale = static_cast<T>(step.second_scale);
  for (int64_t i = 0; i < n; ++i) {
    const T g = gradient[i] + coupled_decay * p[i];
    const T m = beta1 * first[i] + rest1 * g;
    const T v = beta2 * second[i] + rest2 * g * g;
    first[i] = m;
    second[i] = v;
    p[i] = keep * p[i] - step_size * m / (std::sqrt(v) * second_scale + eps);
  }
}

}  // namespace

template <class T>
void adam(const std::vector<AdamTensor<T>>& tensors, const AdamStep& step, const AdamStep*) {
  for (const AdamTensor<T>& t : tensors) {
    parallel_chunks(t.n, kChunk, [&](int64_t begin, int64_t end) {
      step_chunk(t.p + begin, t.gradient + begin, t.first + begin, t.second + begin, end - begin,
                 step);
    });
  }
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(adam)
