// What the operators of ops/messages.h refuse.
#include "ops/messages.h"

#include <gtest/gtest.h>

#include "harness.h"
#include "support/expect_error.h"

namespace grm::ops {
namespace {

using testing::HasSubstr;

template <class Action>
std::string refused(Action&& action) {
  return test::error_of(ErrorKind::shape, action);
}

TEST(MessageOps, WrongShapesAreNamed) {
  const AdjacencyPtr a = test::power_law(5, 4, 8);
  const int64_t nnz = a->nnz();
  const torch::Tensor x = torch::zeros({4, 3}), e = torch::zeros({nnz, 3}), none;
  EXPECT_THAT(refused([&] {
                relu_messages(a, none, torch::zeros({5, 3}), e);
              }),
              HasSubstr("relu_messages: x is [5, 3]"));
  EXPECT_THAT(refused([&] {
                relu_messages(a, none, x, torch::zeros({nnz, 2}));
              }),
              HasSubstr("relu_messages: e is"));
  EXPECT_THAT(refused([&] { relu_messages(a, torch::zeros({2}), x, e); }),
              HasSubstr("relu_messages: w is [2]"));
  EXPECT_THAT(refused([&] { relu_messages(a, none, x, e.to(torch::kFloat64)); }),
              HasSubstr("one type of number"));
  EXPECT_THAT(refused([&] { pair_scores(a, x, x, torch::zeros({3})); }),
              HasSubstr("pair_scores: q is [4, 3]"));
  EXPECT_THAT(refused([&] {
                pair_scores(a, x, torch::zeros({5, 3}), torch::zeros({2}));
              }),
              HasSubstr("pair_scores: v is [2]"));
  const auto offsets = [](std::vector<int64_t> ends) { return torch::tensor(ends, torch::kInt64); };
  EXPECT_THAT(refused([&] { segment_max(offsets({0, 3}), x); }), HasSubstr("segment_max"));
  EXPECT_THAT(refused([&] {
                segment_max(offsets({0, 3, 2, 4}), x);
              }),
              HasSubstr("fall from 3 to 2"));
}

}  // namespace
}  // namespace grm::ops
