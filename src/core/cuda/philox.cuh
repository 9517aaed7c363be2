#pragma once

#include "core/cuda/launch.cuh"
#include "core/kernels.h"

namespace grm::cuda {

/// Philox4x32-10 of counter (counter, 0) under a key, as core/rng.cpp has it.
__host__ __device__ inline void philox(uint64_t key, uint64_t counter, uint32_t (&word)[4]) {
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32);
  uint32_t c2 = 0, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53u} * c0, second = uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<uint32_t>(second >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(second);
    c2 = static_cast<uint32_t>(first >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(first);
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

/// grm::mix64.
__host__ __device__ inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + (b ^ 0xD1B54A32D192ED03u) * 0x8CB92BA72F3D8DD7u;
  for (int i = 0; i < 2; ++i) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
  }
  return x;
}

/// Element `at` of the 64-bit numbers of a stream.
__host__ __device__ inline uint64_t number(uint64_t key, uint64_t at) {
  uint32_t word[4];
  philox(key, at / 2, word);
  const int first = static_cast<int>(at % 2) * 2;
  return word[first] | (static_cast<uint64_t>(word[first + 1]) << 32);
}

/// 24 bits in [0, 1).
__host__ __device__ inline float unit_float(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1.0p-24f;
}

/// The numbers of a grm::Stream one after the other, as its functions of the same names give them.
struct Draws {
  uint64_t key, at = 0;
  __host__ __device__ double uniform() {
    return static_cast<double>(number(key, at++) >> 11) * 0x1.0p-53;
  }
  __host__ __device__ uint64_t below(uint64_t n) {
    if (n <= 1) return 0;
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t x = number(key, at++);
    while (x >= limit) x = number(key, at++);
    return x % n;
  }
};

/// 53 bits in [0, 1) from two words, as Stream::uniform().
__device__ inline double unit_double(uint32_t low, uint32_t high) {
  const uint64_t bits = low | (static_cast<uint64_t>(high) << 32);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace grm::cuda
