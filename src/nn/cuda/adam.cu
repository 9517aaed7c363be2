// Adam over a list of tensors. The list travels as a kernel argument: no copy to the device, and a
// captured graph keeps it. Blocks take stretches of kStretch numbers and find their tensor in it.
#include <algorithm>

#include "core/cuda/launch.cuh"
#include "nn/kernels.h"

namespace grm::cuda {
namespace {

constexpr int kTensors = 64;
constexpr int64_t kStretch = 2048;

template <class T>
struct TensorList {
  AdamTensor<T> tensor[kTensors];
  int64_t first_block[kTensors + 1];
  bool wide[kTensors];
  int count;
};

template <class T>
struct Step {
  __device__ explicit Step(const AdamStep& s)
      : beta1(static_cast<T>(s.beta1)),
        rest1(static_cast<T>(1.0 - s.beta1)),
        beta2(static_cast<T>(s.beta2)),
        rest2(static_cast<T>(1.0 - s.beta2)),
        eps(static_cast<T>(s.eps)),
        keep(static_cast<T>(s.keep)),
        coupled_decay(static_cast<T>(s.coupled_decay)),
        step_size(static_cast<T>(s.step_size)),
        second_scale(static_cast<T>(s.second_scale)) {}

  __device__ void apply(T& p, T gradient, T& first, T& second) const {
    const T g = gradient + coupled_decay * p;
    first = beta1 * first + rest1 * g;
    second = beta2 * second + rest2 * g * g;
    p = keep * p - step_size * first / (sqrt(second) * second_scale + eps);
  }

  T beta1, rest1, beta2, rest2, eps, keep, coupled_decay, step_size, second_scale;
};

template <class T, int V>
__device__ void step_stretch(const AdamTensor<T>& t, int64_t first, const Step<T>& step) {
  const int64_t last = first + kStretch < t.n ? first + kStretch : t.n;
#pragma unroll 2
  for (int64_t i = first + threadIdx.x * V; i + V <= last; i += kBlock * V) {
    Vec<T, V> p = load<T, V>(t.p + i), m = load<T, V>(t.first + i), v = load<T, V>(t.second + i);
    const Vec<T, V> g = load<T, V>(t.gradient + i);
#pragma unroll
    for (int u = 0; u < V; ++u) step.apply(p.at[u], g.at[u], m.at[u], v.at[u]);
    store<T, V>(t.p + i, p);
    store<T, V>(t.first + i, m);
    store<T, V>(t.second + i, v);
  }
  if constexpr (V > 1) {  // what is left of the last vector
    const int64_t i = first + (last - first) / V * V + threadIdx.x;
    if (i < last) step.apply(t.p[i], t.gradient[i], t.first[i], t.second[i]);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    adam_kernel(const __grid_constant__ TensorList<T> list, AdamStep given, const AdamStep* place) {
  int low = 0, high = list.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (list.first_block[middle] <= static_cast<int64_t>(blockIdx.x) ? low : high) = middle;
  }
  const AdamTensor<T> t = list.tensor[low];
  const int64_t first = (static_cast<int64_t>(blockIdx.x) - list.first_block[low]) * kStretch;
  const Step<T> step(place ? *place : given);
  if (list.wide[low]) {
    step_stretch<T, kVector<T>>(t, first, step);
  } else {
    step_stretch<T, 1>(t, first, step);
  }
}

}  // namespace

template <class T>
void adam(const Queue& queue, const std::vector<AdamTensor<T>>& tensors, const AdamStep& step,
          const AdamStep* place) {
  TensorList<T> list;
  list.count = 0;
  int64_t blocks = 0;
  for (size_t k = 0; k <= tensors.size(); ++k) {
    if (list.count > 0 && (k == tensors.size() || list.count == kTensors)) {
      list.first_block[list.count] = blocks;
      adam_kernel<T><<<blocks_for(blocks, 1), kBlock, 0, stream_of(queue)>>>(list, step, place);
      check_launch("adam");
      list.count = 0;
      blocks = 0;
    }
    if (k == tensors.size() || tensors[k].n == 0) continue;
    const AdamTensor<T>& t = tensors[k];
    list.tensor[list.count] = t;
    list.first_block[list.count] = blocks;
    list.wide[list.count] =
        aligned16(t.p) && aligned16(t.gradient) && aligned16(t.first) && aligned16(t.second);
    ++list.count;
    blocks += (t.n + kStretch - 1) / kStretch;
  }
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(adam)
