#include "data/good/streams.h"

#include <algorithm>
#include <numeric>

namespace grm::good {
namespace {

std::vector<int64_t> counted_up(int64_t n) {
  std::vector<int64_t> items(static_cast<size_t>(n));
  std::iota(items.begin(), items.end(), int64_t{0});
  return items;
}

}  // namespace

Mt19937::Mt19937(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < 624; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
}

Mt19937 Mt19937::of_key(uint32_t key) {
  Mt19937 made(19650218u);
  auto& s = made.state_;
  size_t i = 1;
  const auto wrap = [&] {
    if (++i < 624) return;
    s[0] = s[623];
    i = 1;
  };
  for (int k = 0; k < 624; ++k, wrap()) {
    s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1664525u)) + key;
  }
  for (int k = 0; k < 623; ++k, wrap()) {
    s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1566083941u)) - static_cast<uint32_t>(i);
  }
  s[0] = 0x80000000u;
  return made;
}

uint32_t Mt19937::next() {
  if (at_ == 624) {
    for (size_t i = 0; i < 624; ++i) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % 624] & 0x7fffffffu);
      state_[i] = state_[(i + 397) % 624] ^ (y >> 1) ^ ((y & 1u) != 0 ? 0x9908b0dfu : 0u);
    }
    at_ = 0;
  }
  uint32_t y = state_[at_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

double Mt19937::real() {
  const uint32_t high = next() >> 5, low = next() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

int64_t PythonStream::below(int64_t n) {
  int bits = 0;
  while ((n >> bits) != 0) ++bits;
  int64_t found = n;
  while (found >= n) found = twister_.next() >> (32 - bits);
  return found;
}

void PythonStream::shuffle(std::vector<int64_t>& items) {
  for (size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }
}

int64_t NumpyStream::masked(int64_t most) {
  if (most == 0) return 0;
  uint32_t mask = 1;
  while (mask < static_cast<uint64_t>(most)) mask = 2 * mask + 1;
  int64_t found = most + 1;
  while (found > most) found = twister_.next() & mask;
  return found;
}

std::vector<int64_t> NumpyStream::permutation(int64_t n) {
  std::vector<int64_t> items = counted_up(n);
  for (int64_t i = n - 1; i > 0; --i) {
    std::swap(items[static_cast<size_t>(i)], items[static_cast<size_t>(masked(i))]);
  }
  return items;
}

int64_t NumpyStream::one_of(int64_t n) {
  return permutation(n).front();
}

int64_t NumpyStream::choice(const std::vector<double>& probabilities) {
  std::vector<double> sums(probabilities.size());
  std::partial_sum(probabilities.begin(), probabilities.end(), sums.begin());
  for (double& sum : sums) sum /= sums.back();
  return std::upper_bound(sums.begin(), sums.end(), real()) - sums.begin();
}

std::vector<int64_t> TorchStream::permutation(int64_t n) {
  std::vector<int64_t> items = counted_up(n);
  for (int64_t i = 0; i < n - 1; ++i) {
    std::swap(items[static_cast<size_t>(i)], items[static_cast<size_t>(i + below(n - i))]);
  }
  return items;
}

}  // namespace grm::good
