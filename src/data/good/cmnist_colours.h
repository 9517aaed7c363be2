#pragma once

#include <array>
#include <vector>

#include "data/good/laws.h"

namespace grm::good {

/// GOOD-CMNIST's split of digits, and the colour of each digit.
struct ColouredDigits {
  Split split;
  std::vector<int64_t> colour;  // number of each digit's colour; empty without a shift
};
ColouredDigits colour_digits(const std::vector<int64_t>& labels, Shift shift);

/// The colour of that number: red, green, blue.
std::array<float, 3> digit_colour(Shift shift, int64_t number);

}  // namespace grm::good
