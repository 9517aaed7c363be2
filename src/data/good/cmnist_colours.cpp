// GOOD-CMNIST's members and colours, drawn with GOOD's own random streams.
#include "data/good/cmnist_colours.h"

#include <numeric>

namespace grm::good {
namespace {

constexpr int64_t kEnvironments = 5;
using Rgb = std::array<float, 3>;
constexpr std::array<Rgb, 7> kDigitColours = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}, {1, .5F, .5F}, {1, 0, 1}}};
constexpr std::array<Rgb, 10> kDigitConcept = {{{1, 0, 0},
                                                {0, 1, 0},
                                                {0, 0, 1},
                                                {1, 1, 0},
                                                {0, 1, 1},
                                                {1, 0, 1},
                                                {1, .5F, .5F},
                                                {.5F, 1, .5F},
                                                {.5F, .5F, 1},
                                                {1, 1, .5F}}};
// How often colour and digit go together: training environments, validation, test.
constexpr std::array<double, 7> kDigitRates = {.95, .90, .85, .80, .75, .3, 0};

// Shares of a block of n items that are exact for the published 70,000.
struct Blocks {
  int64_t block, rest;
};
Blocks blocks_of(int64_t n, int64_t tenths_that_test) {
  const int64_t rest = n * tenths_that_test / 10;
  return {(n - 2 * rest) / kEnvironments, rest};
}

int64_t part_of(int64_t at, const Blocks& blocks) {
  const int64_t trained = kEnvironments * blocks.block;
  return at < trained ? at / blocks.block : at < trained + blocks.rest ? 5 : 6;
}

}  // namespace

ColouredDigits colour_digits(const std::vector<int64_t>& labels, Shift shift) {
  PythonStream python(kGoodSeed);
  const auto n = static_cast<int64_t>(labels.size());
  std::vector<int64_t> order;
  const auto shuffled = [&](const Blocks& blocks) {
    order.resize(labels.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    python.shuffle(order);
    return cut_blocks(order, kEnvironments, blocks.block, blocks.rest);
  };
  const Blocks wide = blocks_of(n, 1), even = blocks_of(n, 2);
  ColouredDigits digits{shuffled(even), {}};
  if (shift == Shift::none) return digits;
  digits.split = shuffled(wide);
  digits.colour.resize(labels.size());
  for (int64_t at = 0; at < n; ++at) {
    digits.colour[static_cast<size_t>(order[static_cast<size_t>(at)])] = part_of(at, wide);
  }
  cut_inside(digits.split, n / 10, python);
  if (shift == Shift::covariate) return digits;
  digits.split = shuffled(even);
  for (int64_t at = 0; at < n; ++at) {
    const auto digit = static_cast<size_t>(order[static_cast<size_t>(at)]);
    const int64_t any = python.below(static_cast<int64_t>(kDigitConcept.size()));
    const bool own = python.real() < kDigitRates[static_cast<size_t>(part_of(at, even))];
    digits.colour[digit] = own ? labels[digit] : any;
  }
  const auto trained = static_cast<double>(digits.split[Subset::train].size());
  cut_inside(digits.split, static_cast<int64_t>(.15 * trained), python);
  return digits;
}

std::array<float, 3> digit_colour(Shift shift, int64_t number) {
  const auto k = static_cast<size_t>(number);
  return shift == Shift::covariate ? kDigitColours.at(k) : kDigitConcept.at(k);
}

}  // namespace grm::good
