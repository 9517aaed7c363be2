// Fills from the Philox sequence. A thread takes one counter: four floats, two uniform doubles or
// one normal double, at the positions that they have on the CPU.
#include "core/cuda/philox.cuh"

namespace grm::cuda {
namespace {

// 24 bits to (0, 1): never 0, so that the logarithm is finite.
__device__ inline float open_unit(uint32_t bits) {
  return (static_cast<float>(bits >> 8) + 0.5f) * 0x1.0p-24f;
}

__device__ inline void write_four(float* out, int64_t n, int64_t at, bool wide, const float* v) {
  if (wide && at + 4 <= n) {
    store<float, 4>(out + at, {v[0], v[1], v[2], v[3]});
    return;
  }
  for (int u = 0; u < 4 && at + u < n; ++u) out[at + u] = v[u];
}

__global__ void uniform_kernel(float* out, int64_t n, StreamKey key, uint64_t block, float low,
                               float scale, bool wide) {
  const int64_t k = global_thread();
  if (4 * k >= n) return;
  uint32_t word[4];
  philox(read_key(key), block + k, word);
  float value[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) value[w] = fmaf(scale, static_cast<float>(word[w] >> 8), low);
  write_four(out, n, 4 * k, wide, value);
}

// Box-Muller: words 0 and 1 give values 0 and 1, words 2 and 3 the others.
__global__ void normal_kernel(float* out, int64_t n, StreamKey key, uint64_t block, bool wide) {
  const int64_t k = global_thread();
  if (4 * k >= n) return;
  uint32_t word[4];
  philox(read_key(key), block + k, word);
  float value[4];
#pragma unroll
  for (int w = 0; w < 4; w += 2) {
    const float radius = sqrtf(-2.0f * logf(open_unit(word[w])));
    float sine, cosine;
    sincospif(2.0f * open_unit(word[w + 1]), &sine, &cosine);
    value[w] = radius * cosine;
    value[w + 1] = radius * sine;
  }
  write_four(out, n, 4 * k, wide, value);
}

__global__ void uniform_kernel(double* out, int64_t n, StreamKey key, uint64_t block, double low,
                               double range) {
  const int64_t k = global_thread();
  if (2 * k >= n) return;
  uint32_t word[4];
  philox(read_key(key), block + k, word);
  // Two roundings, as in core/rng.cpp, which is not compiled for machines with FMA.
  const auto place = [&](double unit) { return __dadd_rn(low, __dmul_rn(range, unit)); };
  out[2 * k] = place(unit_double(word[0], word[1]));
  if (2 * k + 1 < n) out[2 * k + 1] = place(unit_double(word[2], word[3]));
}

__global__ void normal_kernel(double* out, int64_t n, StreamKey key, uint64_t block) {
  const int64_t k = global_thread();
  if (k >= n) return;
  uint32_t word[4];
  philox(read_key(key), block + k, word);
  const double radius = sqrt(-2.0 * log(1.0 - unit_double(word[0], word[1])));
  out[k] = radius * cospi(2.0 * unit_double(word[2], word[3]));
}

}  // namespace

void philox_uniform(const Queue& queue, float* out, int64_t n, StreamKey key, uint64_t block,
                    float low, float high) {
  if (n == 0) return;
  uniform_kernel<<<blocks_for((n + 3) / 4, kBlock), kBlock, 0, stream_of(queue)>>>(
      out, n, key, block, low, (high - low) * 0x1.0p-24f, aligned16(out));
  check_launch("philox_uniform");
}

void philox_normal(const Queue& queue, float* out, int64_t n, StreamKey key, uint64_t block) {
  if (n == 0) return;
  normal_kernel<<<blocks_for((n + 3) / 4, kBlock), kBlock, 0, stream_of(queue)>>>(
      out, n, key, block, aligned16(out));
  check_launch("philox_normal");
}

void philox_uniform(const Queue& queue, double* out, int64_t n, StreamKey key, uint64_t block,
                    double low, double high) {
  if (n == 0) return;
  uniform_kernel<<<blocks_for((n + 1) / 2, kBlock), kBlock, 0, stream_of(queue)>>>(
      out, n, key, block, low, high - low);
  check_launch("philox_uniform");
}

void philox_normal(const Queue& queue, double* out, int64_t n, StreamKey key, uint64_t block) {
  if (n == 0) return;
  normal_kernel<<<blocks_for(n, kBlock), kBlock, 0, stream_of(queue)>>>(out, n, key, block);
  check_launch("philox_normal");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::philox_uniform<float>, philox_uniform)
GRM_CUDA_KERNEL_OF(kernels::philox_uniform<double>, philox_uniform)
GRM_CUDA_KERNEL_OF(kernels::philox_normal<float>, philox_normal)
GRM_CUDA_KERNEL_OF(kernels::philox_normal<double>, philox_normal)
