#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace grm {

/// One sequence of random numbers: Philox4x32-10 under a key, addressed by position. It has no
/// hidden state besides the position, so any element can be computed by any thread.
class Stream {
 public:
  explicit Stream(uint64_t key, uint64_t position = 0) : key_(key), block_(position) {}

  uint32_t next_u32();
  uint64_t next_u64();
  /// Uniform in [0, 1) with 53 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in {0, ..., n - 1}, without modulo bias.
  uint64_t below(uint64_t n);
  double normal();

  /// First `count` elements of a random permutation of 0 .. n-1 (sampling without replacement).
  std::vector<int64_t> choose(int64_t n, int64_t count);

  /// Fill whole arrays; element i depends on the key and i alone. Parallel and vectorised.
  void fill_uniform(float* out, int64_t n, float low, float high) const;
  void fill_uniform(double* out, int64_t n, double low, double high) const;
  void fill_normal(float* out, int64_t n) const;
  void fill_normal(double* out, int64_t n) const;

  uint64_t key() const { return key_; }
  /// This stream for work on a GPU that is recorded and replayed with other keys: its kernels read
  /// the key from `place` in device memory when they run. Host functions do not know it.
  Stream at_place(const uint64_t* place) const {
    Stream copy = *this;
    copy.place_ = place;
    return copy;
  }
  const uint64_t* place() const { return place_; }

 private:
  uint64_t key_;
  uint64_t block_;  // next block of four numbers
  const uint64_t* place_ = nullptr;
  std::array<uint32_t, 4> buffer_{};
  int used_ = 4;  // numbers of buffer_ already handed out
};

/// The root of all randomness of one run. Streams are named ("init", "dropout", "neighbours",
/// "latent", "split") and may carry up to two counters, usually epoch and step: what an epoch
/// draws does not depend on what earlier epochs drew, so resuming needs no saved generator state.
class Rng {
 public:
  explicit Rng(uint64_t seed) : seed_(seed) {}
  uint64_t seed() const { return seed_; }
  Stream stream(std::string_view name, uint64_t a = 0, uint64_t b = 0) const;

 private:
  uint64_t seed_;
};

/// Philox4x32-10 of Salmon et al. (SC 2011): four 32-bit numbers from a counter and a key.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// A well mixed 64-bit number from two.
uint64_t mix64(uint64_t a, uint64_t b);

}  // namespace grm
