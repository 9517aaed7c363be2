#include "grm/core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "grm/core/threads.h"

namespace grm {
namespace {

using Words = std::array<uint32_t, 4>;

// The known answers that Random123 ships for philox4x32 with ten rounds (Salmon et al., SC 2011).
TEST(Philox, AgreesWithTheKnownAnswersOfRandom123) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Stream, HandsOutTheWordsOfConsecutiveCounters) {
  const uint64_t key = 0x299f31d0a4093822;
  Stream stream(key), later(key, 1), far(key, uint64_t{1} << 32);
  for (uint32_t block = 0; block < 3; ++block) {
    for (const uint32_t word : philox4x32({block, 0, 0, 0}, {0xa4093822, 0x299f31d0})) {
      EXPECT_EQ(stream.next_u32(), word);
      if (block > 0) {
        EXPECT_EQ(later.next_u32(), word);
      }
    }
  }
  EXPECT_EQ(far.next_u32(), philox4x32({0, 1, 0, 0}, {0xa4093822, 0x299f31d0})[0]);
}

TEST(Rng, StreamsDifferByNameCountersAndSeed) {
  std::set<uint64_t> keys;
  int made = 0;
  for (const uint64_t seed : {0, 1, 2}) {
    for (const char* name : {"init", "dropout", "neighbours", "latent", "split", ""}) {
      for (uint64_t a = 0; a < 5; ++a) {
        for (uint64_t b = 0; b < 5; ++b, ++made) keys.insert(Rng(seed).stream(name, a, b).key());
      }
    }
  }
  EXPECT_EQ(static_cast<int>(keys.size()), made);
  EXPECT_EQ(Rng(3).stream("init", 1, 2).key(), Rng(3).stream("init", 1, 2).key());
}

// Pearson's statistic against equal expectations.
double chi_square(const std::vector<int64_t>& counts) {
  const double expected =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0})) /
      static_cast<double>(counts.size());
  double sum = 0;
  for (const int64_t count : counts) {
    sum += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) /
           expected;
  }
  return sum;
}

// Mean k, variance 2 k: five deviations above the mean are beyond any reasonable doubt.
double chi_square_limit(size_t cells) {
  const auto k = static_cast<double>(cells - 1);
  return k + 5 * std::sqrt(2 * k);
}

TEST(Stream, BelowIsUniformAndStaysBelow) {
  for (const uint64_t n : {2, 3, 7, 10, 64, 1000}) {
    Stream stream = Rng(1).stream("below", n);
    std::vector<int64_t> counts(n);
    for (int i = 0; i < 100000; ++i) {
      const uint64_t x = stream.below(n);
      ASSERT_LT(x, n);
      ++counts[x];
    }
    EXPECT_LT(chi_square(counts), chi_square_limit(n)) << n;
  }
  Stream stream(5);
  EXPECT_EQ(stream.below(1), 0u);
  // With n = 3 * 2^62 a modulo would fall below 2^62 in half of all cases instead of a third.
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += stream.below(uint64_t{3} << 62) < (uint64_t{1} << 62);
  EXPECT_NEAR(low, 10000, 5 * std::sqrt(30000.0 * 2 / 9));
}

TEST(Stream, UniformFillsTheUnitInterval) {
  Stream stream(7);
  std::vector<int64_t> counts(100);
  for (int i = 0; i < 100000; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++counts[static_cast<size_t>(u * 100)];
    const double v = stream.uniform(-3, 5);
    ASSERT_GE(v, -3);
    ASSERT_LT(v, 5);
  }
  EXPECT_LT(chi_square(counts), chi_square_limit(100));
}

TEST(Stream, ChooseTakesDistinctElements) {
  Stream stream(11);
  for (const auto& [n, count] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {5, 5}, {10, 3}, {1000, 10}, {1000, 249}, {1000, 251}, {1000000, 20}, {4, 9}}) {
    const std::vector<int64_t> chosen = stream.choose(n, count);
    EXPECT_EQ(static_cast<int64_t>(chosen.size()), std::min(n, count));
    const std::set<int64_t> distinct(chosen.begin(), chosen.end());
    EXPECT_EQ(distinct.size(), chosen.size());
    EXPECT_GE(*distinct.begin(), 0);
    EXPECT_LT(*distinct.rbegin(), n);
  }
  EXPECT_TRUE(stream.choose(5, 0).empty());
  EXPECT_TRUE(stream.choose(0, 3).empty());
}

// Both ways of choosing (dense and sparse) must give every ordered pair equally often.
TEST(Stream, ChooseGivesEveryOrderedPairEquallyOften) {
  for (const int64_t n : {5, 20}) {
    Stream stream = Rng(2).stream("choose", static_cast<uint64_t>(n));
    std::map<std::pair<int64_t, int64_t>, int64_t> seen;
    for (int64_t i = 0; i < 400 * n * (n - 1); ++i) {
      const std::vector<int64_t> pair = stream.choose(n, 2);
      ++seen[{pair[0], pair[1]}];
    }
    ASSERT_EQ(static_cast<int64_t>(seen.size()), n * (n - 1));
    std::vector<int64_t> counts;
    for (const auto& entry : seen) counts.push_back(entry.second);
    EXPECT_LT(chi_square(counts), chi_square_limit(counts.size())) << n;
  }
}

TEST(Stream, SparseAndDenseChoiceAreTheSamePermutation) {
  // 25 of 100 is chosen through the map, 26 of 100 through the array; one is a prefix of the other.
  Stream sparse(13), dense(13);
  const std::vector<int64_t> few = sparse.choose(100, 25), more = dense.choose(100, 26);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), more.begin()));
}

// Mean, variance, skewness and kurtosis of n normals have deviations sqrt(1, 2, 6, 24 / n).
template <class T>
void expect_normal_moments(const std::vector<T>& x) {
  const auto n = static_cast<double>(x.size());
  double moment[5] = {};
  for (const T value : x) {
    double power = 1;
    for (double& m : moment) m += power / n, power *= value;
  }
  EXPECT_NEAR(moment[1], 0, 5 * std::sqrt(1 / n));
  EXPECT_NEAR(moment[2], 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(moment[3], 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(moment[4], 3, 5 * std::sqrt(96 / n));
}

// Kolmogorov's distance to the normal distribution; sqrt(n) D exceeds 2 with probability 0.0007.
template <class T>
double kolmogorov(std::vector<T> x) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double distance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double phi = 0.5 * std::erfc(-static_cast<double>(x[i]) / std::sqrt(2.0));
    distance = std::max({distance, std::abs(phi - static_cast<double>(i) / n),
                         std::abs(phi - static_cast<double>(i + 1) / n)});
  }
  return distance * std::sqrt(n);
}

TEST(Stream, NormalsHaveTheDistributionOfANormal) {
  Stream stream(17);
  std::vector<double> one_by_one(200000), doubles(200000);
  for (double& x : one_by_one) x = stream.normal();
  Stream(19).fill_normal(doubles.data(), 200000);
  std::vector<float> floats(1000000);
  Stream(23).fill_normal(floats.data(), 1000000);
  for (const auto* sample : {&one_by_one, &doubles}) {
    expect_normal_moments(*sample);
    EXPECT_LT(kolmogorov(*sample), 2);
  }
  expect_normal_moments(floats);
  EXPECT_LT(kolmogorov(floats), 2);
  for (const float x : floats) ASSERT_TRUE(std::isfinite(x));
}

TEST(Stream, NeighbouringNormalsAreUncorrelated) {
  std::vector<float> x(400001);
  Stream(29).fill_normal(x.data(), 400001);
  for (const int lag : {1, 2, 3, 4, 64}) {
    double sum = 0;
    for (size_t i = 0; i + lag < x.size(); ++i) sum += double{x[i]} * x[i + lag];
    EXPECT_LT(std::abs(sum), 5 * std::sqrt(400000.0)) << lag;
  }
}

// Box-Muller from the words of the counter, in double: what the vectorised kernel approximates.
TEST(Stream, FilledNormalsAreBoxMullerOfTheCountersWords) {
  const uint64_t key = 31;
  std::vector<float> x(10003);
  Stream(key).fill_normal(x.data(), 10003);
  for (uint32_t i = 0; i + 1 < x.size(); i += 2) {
    const Words words = philox4x32({i / 4, 0, 0, 0}, {31, 0});
    const double u = ((words[i % 4] >> 8) + 0.5) * 0x1.0p-24;
    const double v = ((words[i % 4 + 1] >> 8) + 0.5) * 0x1.0p-24;
    const double radius = std::sqrt(-2 * std::log(u));
    EXPECT_NEAR(x[i], radius * std::cos(2 * M_PI * v), 1e-5) << i;
    EXPECT_NEAR(x[i + 1], radius * std::sin(2 * M_PI * v), 1e-5) << i;
  }
}

TEST(Stream, FilledUniformsLieInTheIntervalAndFillItEvenly) {
  std::vector<float> x(100000);
  Stream(37).fill_uniform(x.data(), 100000, -2.0f, 6.0f);
  std::vector<int64_t> counts(50);
  for (const float value : x) {
    ASSERT_GE(value, -2.0f);
    ASSERT_LE(value, 6.0f);
    ++counts[std::min<size_t>(49, static_cast<size_t>((value + 2) / 8 * 50))];
  }
  EXPECT_LT(chi_square(counts), chi_square_limit(50));
  std::vector<double> y(1000);
  Stream(37).fill_uniform(y.data(), 1000, 1.0, 2.0);
  for (const double value : y) EXPECT_TRUE(value >= 1 && value < 2);
}

template <class T, class Fill>
void expect_independent_of_threads_and_size(Fill fill) {
  const int before = threads();
  const int64_t n = 100003;
  std::vector<T> one(n);
  set_threads(1);
  fill(one.data(), n);
  for (const int count : {2, 3}) {
    set_threads(count);
    std::vector<T> many(n);
    fill(many.data(), n);
    EXPECT_EQ(one, many) << count;
  }
  set_threads(before);
  // Element i depends on the key and i alone, so a shorter fill is a prefix.
  for (const int64_t shorter : {1, 2, 3, 5, 63, 64, 65, 16383, 16384, 16385, 50001}) {
    std::vector<T> part(shorter + 1, T{-99});
    fill(part.data(), shorter);
    EXPECT_TRUE(std::equal(part.begin(), part.end() - 1, one.begin())) << shorter;
    EXPECT_EQ(part.back(), T{-99}) << "wrote beyond the end";
  }
}

TEST(Stream, FillsAreTheSameForAnyThreadCountAndAnyLength) {
  const Stream stream(41);
  expect_independent_of_threads_and_size<float>(
      [&](float* out, int64_t n) { stream.fill_uniform(out, n, 0, 1); });
  expect_independent_of_threads_and_size<float>(
      [&](float* out, int64_t n) { stream.fill_normal(out, n); });
  expect_independent_of_threads_and_size<double>(
      [&](double* out, int64_t n) { stream.fill_uniform(out, n, 0, 1); });
  expect_independent_of_threads_and_size<double>(
      [&](double* out, int64_t n) { stream.fill_normal(out, n); });
}

}  // namespace
}  // namespace grm
