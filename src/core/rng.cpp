#include "grm/core/rng.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "core/kernels.h"
#include "grm/core/threads.h"

namespace grm {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

uint64_t mix64(uint64_t a, uint64_t b) {
  // Two rounds of the splitmix64 finaliser over a sum with odd multipliers.
  uint64_t x = a * 0x9E3779B97F4A7C15u + (b ^ 0xD1B54A32D192ED03u) * 0x8CB92BA72F3D8DD7u;
  for (int i = 0; i < 2; ++i) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
  }
  return x;
}

Stream Rng::stream(std::string_view name, uint64_t a, uint64_t b) const {
  uint64_t h = 0xCBF29CE484222325u;  // FNV-1a over the name
  for (const char ch : name) h = (h ^ static_cast<unsigned char>(ch)) * 0x100000001B3u;
  return Stream(mix64(mix64(mix64(seed_, h), a), b));
}

uint32_t Stream::next_u32() {
  if (used_ == 4) {
    buffer_ =
        philox4x32({static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32), 0u, 0u},
                   {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
    ++block_;
    used_ = 0;
  }
  return buffer_[used_++];
}

uint64_t Stream::next_u64() {
  const uint64_t low = next_u32();
  return low | (static_cast<uint64_t>(next_u32()) << 32);
}

double Stream::uniform() {
  return static_cast<double>(next_u64() >> 11) * 0x1.0p-53;
}

uint64_t Stream::below(uint64_t n) {
  if (n <= 1) return 0;
  const uint64_t limit = UINT64_MAX - UINT64_MAX % n;  // largest multiple of n that fits
  uint64_t x = next_u64();
  while (x >= limit) x = next_u64();
  return x % n;
}

double Stream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * M_PI * uniform());
}

std::vector<int64_t> Stream::choose(int64_t n, int64_t count) {
  count = std::min(n, count);
  std::vector<int64_t> chosen(count);
  if (count * 4 > n) {  // dense: Fisher-Yates over the whole range
    std::vector<int64_t> all(n);
    std::iota(all.begin(), all.end(), int64_t{0});
    for (int64_t i = 0; i < count; ++i) std::swap(all[i], all[i + below(n - i)]);
    std::copy_n(all.begin(), count, chosen.begin());
    return chosen;
  }
  // Sparse: the same Fisher-Yates, remembering only displaced entries.
  std::unordered_map<int64_t, int64_t> moved;
  const auto at = [&](int64_t i) {
    const auto it = moved.find(i);
    return it == moved.end() ? i : it->second;
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t j = i + static_cast<int64_t>(below(n - i));
    chosen[i] = at(j);
    moved[j] = at(i);
  }
  return chosen;
}

namespace {
// Work is cut into blocks of kFillBlock numbers; block b starts at Philox counter b * kFillBlock/4.
constexpr int64_t kFillBlock = 1 << 14;

template <class T, class Kernel>
void fill(T* out, int64_t n, Kernel kernel) {
  parallel_chunks(n, kFillBlock,
                  [&](int64_t begin, int64_t end) { kernel(out + begin, end - begin, begin / 4); });
}
}  // namespace

void Stream::fill_uniform(float* out, int64_t n, float low, float high) const {
  fill(out, n, [&](float* p, int64_t m, uint64_t block) {
    on_host<kernels::philox_uniform<float>>(p, m, kernels::StreamKey{key_}, block, low, high);
  });
}

void Stream::fill_normal(float* out, int64_t n) const {
  fill(out, n, [&](float* p, int64_t m, uint64_t block) {
    on_host<kernels::philox_normal<float>>(p, m, kernels::StreamKey{key_}, block);
  });
}

void Stream::fill_uniform(double* out, int64_t n, double low, double high) const {
  Stream sequence(key_);
  for (int64_t i = 0; i < n; ++i) out[i] = sequence.uniform(low, high);
}

void Stream::fill_normal(double* out, int64_t n) const {
  Stream sequence(key_);
  for (int64_t i = 0; i < n; ++i) out[i] = sequence.normal();
}

}  // namespace grm
