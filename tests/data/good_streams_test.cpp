#include "data/good/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace grm::good_streams_tests {
namespace {

using ::testing::ElementsAre;
using namespace grm::good;

template <class Draw>
std::vector<int64_t> draws(int count, const Draw& draw) {
  std::vector<int64_t> all;
  for (int k = 0; k < count; ++k) all.push_back(draw());
  return all;
}

// Expected values: random.seed(123) and numpy.random.seed(123) of CPython 3.11.2 and NumPy 1.24.2.
TEST(GoodStreams, AreThoseOfCPython) {
  PythonStream real(123), below(123), shuffle(123);
  EXPECT_EQ(real.real(), 0.052363598850944326);
  EXPECT_EQ(real.real(), 0.08718667752263232);
  EXPECT_EQ(real.real(), 0.4072417636703983);
  EXPECT_THAT(draws(10, [&] { return below.below(10); }),
              ElementsAre(0, 4, 1, 6, 4, 1, 0, 6, 8, 8));
  std::vector<int64_t> items = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  shuffle.shuffle(items);
  EXPECT_THAT(items, ElementsAre(8, 7, 5, 9, 2, 3, 6, 1, 4, 0));
}

TEST(GoodStreams, AreThoseOfNumpy) {
  NumpyStream real(123), ints(123), order(123), choice(123), ends(123);
  EXPECT_EQ(real.real(), 0.6964691855978616);
  EXPECT_EQ(real.real(), 0.28613933495037946);
  EXPECT_EQ(real.real(), 0.2268514535642031);
  EXPECT_THAT(draws(10, [&] { return ints.randint(-5, 6); }),
              ElementsAre(-3, -3, 1, -4, -2, 5, 4, 1, -4, -5));
  EXPECT_THAT(order.permutation(10), ElementsAre(4, 0, 7, 5, 8, 3, 1, 6, 9, 2));
  EXPECT_THAT(draws(10,
                    [&] {
                      return choice.choice({.2, .2, .2, .2, .2});
                    }),
              ElementsAre(3, 1, 1, 2, 3, 2, 4, 3, 2, 1));
  EXPECT_THAT(draws(5, [&] { return ends.masked(6); }), ElementsAre(6, 5, 6, 2, 4));
  EXPECT_EQ(NumpyStream(123).masked(0), 0);
}

// torch.manual_seed(123), torch.randperm(10), then torch.randint(0, 9, (8,)) of torch 1.13.
TEST(GoodStreams, AreThoseOfTorch) {
  TorchStream torch(123);
  EXPECT_THAT(torch.permutation(10), ElementsAre(2, 0, 8, 1, 3, 7, 4, 9, 5, 6));
  EXPECT_THAT(draws(8, [&] { return torch.below(9); }), ElementsAre(7, 8, 7, 3, 7, 1, 3, 0));
}

}  // namespace
}  // namespace grm::good_streams_tests
