#pragma once

#include "core/cuda/launch.cuh"
#include "core/kernels.h"

namespace grm::cuda {

/// Philox4x32-10 of counter (counter, 0) under a key, as core/rng.cpp has it.
__device__ inline void philox(uint64_t key, uint64_t counter, uint32_t (&word)[4]) {
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32);
  uint32_t c2 = 0, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint32_t high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const uint32_t high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  word[0] = c0;
  word[1] = c1;
  word[2] = c2;
  word[3] = c3;
}

__device__ inline uint64_t read_key(const StreamKey& key) {
  return key.place ? *key.place : key.value;
}

/// 24 bits in [0, 1).
__device__ inline float unit_float(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1.0p-24f;
}

/// 53 bits in [0, 1) from two words, as Stream::uniform().
__device__ inline double unit_double(uint32_t low, uint32_t high) {
  const uint64_t bits = low | (static_cast<uint64_t>(high) << 32);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace grm::cuda
