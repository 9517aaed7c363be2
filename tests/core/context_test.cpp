#include "grm/core/context.h"

#include <gtest/gtest.h>

#include <thread>

#include "grm/core/threads.h"

namespace grm {
namespace {

TEST(Context, AThreadHasThatOfItsInnermostScope) {
  Context outer, inner;
  EXPECT_NE(&context(), &outer);
  {
    const ContextScope of_outer(outer);
    EXPECT_EQ(&context(), &outer);
    {
      const ContextScope of_inner(inner);
      EXPECT_EQ(&context(), &inner);
    }
    EXPECT_EQ(&context(), &outer);
  }
  EXPECT_NE(&context(), &outer);
}

TEST(Context, TwoThreadsDoNotSeeEachOther) {
  std::vector<std::string> said[2];
  double limits[2] = {0, 0};
  const auto run = [&](int k) {
    Context own;
    own.log = [&, k](LogLevel, const std::string& text) { said[k].push_back(text); };
    own.memory_limit = 100.0 * (k + 1);
    const ContextScope scope(own);
    for (int i = 0; i < 200; ++i) log_info("{}", k);
    limits[k] = context().memory_limit;
  };
  std::thread first(run, 0), second(run, 1);
  first.join();
  second.join();
  EXPECT_EQ(said[0], std::vector<std::string>(200, "0"));
  EXPECT_EQ(said[1], std::vector<std::string>(200, "1"));
  EXPECT_EQ(limits[0], 100.0);
  EXPECT_EQ(limits[1], 200.0);
}

TEST(Context, ChunksHaveThatOfTheirCaller) {
  const int before = threads();
  set_threads(3);
  Context own;
  const ContextScope scope(own);
  std::vector<Context*> seen(64, nullptr);
  parallel_chunks(64, 1,
                  [&](int64_t begin, int64_t) { seen[static_cast<size_t>(begin)] = &context(); });
  EXPECT_EQ(seen, std::vector<Context*>(64, &own));
  set_threads(before);
}

}  // namespace
}  // namespace grm
