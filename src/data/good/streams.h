#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

// The random numbers of the programs that drew GOOD's splits (CPython's `random`, NumPy's
// RandomState, torch's generator on the CPU), so that the same splits can be drawn here.
namespace grm::good {

/// Matsumoto and Nishimura's MT19937 (1998, with the seeding of 2002).
class Mt19937 {
 public:
  explicit Mt19937(uint32_t seed);
  static Mt19937 of_key(uint32_t key);  // seeded by an array of one number
  uint32_t next();
  /// 53 bits of two numbers, in [0, 1).
  double real();

 private:
  std::array<uint32_t, 624> state_;
  size_t at_ = 624;
};

/// CPython: random.seed(seed), random.random(), randrange, shuffle.
class PythonStream {
 public:
  explicit PythonStream(uint32_t seed) : twister_(Mt19937::of_key(seed)) {}
  double real() { return twister_.real(); }
  int64_t below(int64_t n);  // n > 0
  void shuffle(std::vector<int64_t>& items);

 private:
  Mt19937 twister_;
};

/// NumPy: numpy.random.seed(seed) and the old functions of that module.
class NumpyStream {
 public:
  explicit NumpyStream(uint32_t seed) : twister_(seed) {}
  double real() { return twister_.real(); }
  int64_t masked(int64_t most);  // 0 .. most
  int64_t randint(int64_t low, int64_t high) { return low + masked(high - low - 1); }
  std::vector<int64_t> permutation(int64_t n);
  int64_t one_of(int64_t n);  // choice of one without replacement
  /// choice with probabilities.
  int64_t choice(const std::vector<double>& probabilities);

 private:
  Mt19937 twister_;
};

/// torch.manual_seed(seed) on the CPU: randperm and randint of fewer than 2^32 numbers.
class TorchStream {
 public:
  explicit TorchStream(uint32_t seed) : twister_(seed) {}
  int64_t below(int64_t n) {
    return static_cast<int64_t>(twister_.next() % static_cast<uint32_t>(n));
  }
  std::vector<int64_t> permutation(int64_t n);

 private:
  Mt19937 twister_;
};

/// All generation of GOOD begins with this seed in all three.
constexpr uint32_t kGoodSeed = 123;
struct Streams {
  PythonStream python{kGoodSeed};
  NumpyStream numpy{kGoodSeed};
  TorchStream torch{kGoodSeed};
};

}  // namespace grm::good
