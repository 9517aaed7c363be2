#include "data/own/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "grm/core/rng.h"

namespace grm::own::own_numbers_tests {
namespace {

// Whatever comes in comes out again, in any order: the same bits, but for the sign of NaN.
void expect_same(const std::vector<double>& values) {
  Numbers numbers;
  int64_t nonzeros = 0;
  for (const double value : values) {
    numbers.add(value);
    nonzeros += value != 0.0 || std::signbit(value);
  }
  ASSERT_EQ(numbers.size(), static_cast<int64_t>(values.size()));
  EXPECT_EQ(numbers.nonzeros(), nonzeros);
  Numbers::Reader ascending(numbers), jumping(numbers);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t j = i * 7919 % values.size();
    for (const auto& [got, expected] :
         {std::pair<double, double>{ascending(static_cast<int64_t>(i)), values[i]},
          {jumping(static_cast<int64_t>(j)), values[j]}}) {
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got));
      } else {
        EXPECT_EQ(got, expected);
        EXPECT_EQ(std::signbit(got), std::signbit(expected));
      }
    }
  }
}

TEST(Trust15Numbers, AreKeptExactly) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_same({});
  expect_same({0, 0, 0, 0});
  expect_same({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  expect_same({0, 0.1, 0, 1e300, -0.0, nan, 0, 1.0 / 3, 5});
  expect_same({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.1, 0, 0, 0, 0, 0, 0, 0, nan, 2});
  Stream draws = Rng(3).stream("numbers");
  for (const double share : {0.01, 0.3, 0.9}) {
    std::vector<double> values(5000, 0.0);
    for (double& value : values) {
      if (draws.uniform() < share) {
        value = draws.uniform() < 0.5 ? static_cast<double>(draws.below(9)) : draws.uniform();
      }
    }
    expect_same(values);
  }
}

TEST(Trust15Numbers, ZerosInARowAreZeros) {
  Numbers numbers;
  numbers.add_zeros(100000);
  numbers.add(3);
  numbers.add_zeros(2);
  Numbers::Reader read(numbers);
  EXPECT_EQ(numbers.size(), 100003);
  EXPECT_EQ(read(99999), 0.0);
  EXPECT_EQ(read(100000), 3.0);
  EXPECT_EQ(read(100002), 0.0);
  EXPECT_EQ(read(0), 0.0);
}

}  // namespace
}  // namespace grm::own::own_numbers_tests
