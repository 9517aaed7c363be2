#pragma once

#include <cstdint>

// Counter-based random numbers on a GPU; the conventions of ops/cuda/cuda_kernels.h.
namespace grm::cuda {

/// The key of a stream, as grm::Stream::key() gives it. A launch that is captured in a CUDA graph
/// and replayed with other keys names the place in device memory where the key will stand instead.
struct StreamKey {
  uint64_t value = 0;
  const uint64_t* place = nullptr;  // wins over `value`
};

/// Stream::fill_uniform and Stream::fill_normal from counter `block` on: the same integers as on
/// the CPU, normal numbers to 1e-6 (float) and 1e-14 (double).
void philox_uniform(float* out, int64_t n, StreamKey key, uint64_t block, float low, float high,
                    void* stream);
void philox_uniform(double* out, int64_t n, StreamKey key, uint64_t block, double low, double high,
                    void* stream);
void philox_normal(float* out, int64_t n, StreamKey key, uint64_t block, void* stream);
void philox_normal(double* out, int64_t n, StreamKey key, uint64_t block, void* stream);

}  // namespace grm::cuda
