// Vectorised fills. Many Philox counters run side by side; logarithm, sine and cosine
// are short polynomials, so that the compiler keeps everything in vector registers. Their error
// (below 1e-6) is far under the resolution at which a latent sample matters.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

// Counters side by side; 4 * kLanes numbers a step. Loops of 16 would be unrolled by GCC before its
// vectoriser sees them, which costs a factor of four.
constexpr int kLanes = 32;

struct Block {
  uint32_t word[4][kLanes];
};

inline void philox_lanes(uint64_t key, uint64_t block, Block& out) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t counter = block + l;
    c0[l] = static_cast<uint32_t>(counter);
    c1[l] = static_cast<uint32_t>(counter >> 32);
    c2[l] = 0;
    c3[l] = 0;
  }
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c0[l];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * c2[l];
      const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1[l] ^ k0;
      const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3[l] ^ k1;
      c1[l] = static_cast<uint32_t>(p1);
      c3[l] = static_cast<uint32_t>(p0);
      c0[l] = n0;
      c2[l] = n2;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  std::memcpy(out.word[0], c0, sizeof c0);
  std::memcpy(out.word[1], c1, sizeof c1);
  std::memcpy(out.word[2], c2, sizeof c2);
  std::memcpy(out.word[3], c3, sizeof c3);
}

// 24 bits to (0, 1): never 0, so that the logarithm is finite.
inline float open_unit(uint32_t bits) {
  return (static_cast<float>(static_cast<int32_t>(bits >> 8)) + 0.5f) * 0x1.0p-24f;
}

// Natural logarithm of x in (0, 1]: exponent by bits, mantissa in [sqrt(1/2), sqrt(2)) by the
// series log(m) = 2 atanh((m - 1) / (m + 1)).
inline float fast_log(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, 4);
  const int32_t exponent = (bits - 0x3F3504F3) >> 23;
  bits -= exponent * (1 << 23);
  float m;
  std::memcpy(&m, &bits, 4);
  const float t = (m - 1.0f) / (m + 1.0f), t2 = t * t;
  const float series =
      2.0f * t * (1.0f + t2 * (1.0f / 3 + t2 * (1.0f / 5 + t2 * (1.0f / 7 + t2 * (1.0f / 9)))));
  return static_cast<float>(exponent) * 0.6931471806f + series;
}

// Sine and cosine of 2 pi u for u in [0, 1): the nearest quarter turn is split off, the rest
// (|r| <= pi / 4) goes through the Taylor series.
inline void fast_sincos(float u, float& s, float& c) {
  const int32_t quarter = static_cast<int32_t>(u * 4.0f + 0.5f);
  const float r = (u - static_cast<float>(quarter) * 0.25f) * 6.283185307f, r2 = r * r;
  const float sr =
      r *
      (1.0f + r2 * (-1.0f / 6 + r2 * (1.0f / 120 + r2 * (-1.0f / 5040 + r2 * (1.0f / 362880)))));
  const float cr =
      1.0f + r2 * (-0.5f + r2 * (1.0f / 24 + r2 * (-1.0f / 720 + r2 * (1.0f / 40320))));
  const bool swap = quarter & 1;
  const float a = swap ? cr : sr, b = swap ? sr : cr;
  s = (quarter & 2) ? -a : a;
  c = ((quarter + 1) & 2) ? -b : b;
}

// The numbers of counter k are elements 4k .. 4k+3 whatever the vector width. `transform` turns the
// four rows of words into four rows of values, lane by lane.
template <class Transform>
void fill(float* out, int64_t n, uint64_t key, uint64_t block, Transform transform) {
  Block words;
  float values[4][kLanes];
  float tile[4 * kLanes];
  for (int64_t i = 0; i < n; i += 4 * kLanes, block += kLanes) {
    philox_lanes(key, block, words);
    transform(words, values);
    for (int l = 0; l < kLanes; ++l) {
      for (int w = 0; w < 4; ++w) tile[4 * l + w] = values[w][l];
    }
    std::memcpy(out + i, tile, sizeof(float) * std::min<int64_t>(4 * kLanes, n - i));
  }
}

}  // namespace

void fill_uniform(float* out, int64_t n, StreamKey key, uint64_t block, float low, float high) {
  const float scale = (high - low) * 0x1.0p-24f;
  fill(out, n, key.value, block, [=](const Block& b, float(&v)[4][kLanes]) {
    for (int w = 0; w < 4; ++w) {
      for (int l = 0; l < kLanes; ++l) {
        v[w][l] = low + scale * static_cast<float>(static_cast<int32_t>(b.word[w][l] >> 8));
      }
    }
  });
}

// Box-Muller: words 0 and 1 give values 0 and 1, words 2 and 3 the others.
void fill_normal(float* out, int64_t n, StreamKey key, uint64_t block) {
  fill(out, n, key.value, block, [](const Block& b, float(&v)[4][kLanes]) {
    for (int w = 0; w < 4; w += 2) {
      for (int l = 0; l < kLanes; ++l) {
        const float radius = std::sqrt(-2.0f * fast_log(open_unit(b.word[w][l])));
        float s, c;
        fast_sincos(open_unit(b.word[w + 1][l]), s, c);
        v[w][l] = radius * c;
        v[w + 1][l] = radius * s;
      }
    }
  });
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL_OF(kernels::philox_uniform<float>, fill_uniform)
GRM_CPU_KERNEL_OF(kernels::philox_normal<float>, fill_normal)
