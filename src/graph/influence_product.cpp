#include "graph/influence_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace grm {
namespace {

// A positive integer times a power of two, with as many digits as it needs.
class BigNumber {
 public:
  void multiply(double factor) {
    int exponent = 0;
    const double fraction = std::frexp(factor, &exponent);
    auto digits = static_cast<uint64_t>(std::ldexp(fraction, 53));
    exponent -= 53;
    const int zeros = __builtin_ctzll(digits);
    digits >>= zeros;
    exponent_ += exponent + zeros;
    if (digits == 1) return;
    uint64_t carry = 0;
    for (uint64_t& word : words_) {
      const auto product = static_cast<unsigned __int128>(word) * digits + carry;
      word = static_cast<uint64_t>(product);
      carry = static_cast<uint64_t>(product >> 64);
    }
    if (carry != 0) words_.push_back(carry);
  }

  bool at_least(const BigNumber& other) const {
    const int64_t top = bits() + exponent_, other_top = other.bits() + other.exponent_;
    if (top != other_top) return top > other_top;
    // Odd mantissas of equal top bit: compare from the top, the shorter one filled with zeros.
    for (int64_t done = 0; done < std::max(bits(), other.bits()); done += 64) {
      const uint64_t mine = from_top(done), theirs = other.from_top(done);
      if (mine != theirs) return mine > theirs;
    }
    return true;
  }

 private:
  int64_t bits() const {
    return static_cast<int64_t>(words_.size()) * 64 - __builtin_clzll(words_.back());
  }
  // The 64 bits that follow the `skip` highest ones, zeros beyond the lowest.
  uint64_t from_top(int64_t skip) const {
    uint64_t value = 0;
    const int64_t high = bits() - 1 - skip;
    for (int64_t b = 0; b < 64; ++b) {
      const int64_t bit = high - b;
      const bool set = bit >= 0 && (words_[bit / 64] >> (bit % 64) & 1) != 0;
      value = value << 1 | static_cast<uint64_t>(set);
    }
    return value;
  }

  std::vector<uint64_t> words_ = {1};  // least significant first
  int64_t exponent_ = 0;
};

}  // namespace

bool geometric_mean_reaches(const std::vector<double>& counts, double limit) {
  if (limit <= 1.0) return true;  // every count is at least one
  long double sum = 0.0L;
  for (const double count : counts) sum += std::log2(static_cast<long double>(count));
  const auto n = static_cast<long double>(counts.size());
  const long double target = n * std::log2(static_cast<long double>(limit));
  // Rounding of n terms of which each partial sum is at most about the target, with room to spare.
  const long double error = target * (n + 8.0L) * 0x1p-60L;
  if (sum >= target + error) return true;
  if (sum <= target - error) return false;
  BigNumber product, power;
  for (const double count : counts) {
    product.multiply(count);
    power.multiply(limit);
  }
  return product.at_least(power);
}

}  // namespace grm
