#include "grm/core/threads.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace grm {
namespace {

// Puts the thread count back at the end of a test.
class Threads {
 public:
  explicit Threads(int count) : before_(threads()) { set_threads(count); }
  ~Threads() { set_threads(before_); }

 private:
  int before_;
};

using Cut = std::vector<std::pair<int64_t, int64_t>>;

Cut cut(int64_t n, int64_t chunk, int count) {
  const Threads scope(count);
  std::mutex mutex;
  Cut pieces;
  parallel_chunks(n, chunk, [&](int64_t begin, int64_t end) {
    const std::lock_guard<std::mutex> lock(mutex);
    pieces.emplace_back(begin, end);
  });
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

TEST(ParallelChunks, CoverTheRangeOnceInPiecesOfTheAskedSize) {
  for (const int64_t n : {0, 1, 7, 8, 9, 1000}) {
    for (const int64_t chunk : {1, 8, 5000}) {
      int64_t at = 0;
      for (const auto& [begin, end] : cut(n, chunk, 2)) {
        EXPECT_EQ(begin, at);
        EXPECT_EQ(end, std::min(n, begin + chunk));
        at = end;
      }
      EXPECT_EQ(at, n);
    }
  }
}

TEST(ParallelChunks, CutIsTheSameForAnyThreadCount) {
  for (const int64_t n : {1, 100, 3001}) {
    for (const int64_t chunk : {3, 7, 1024}) {
      const Cut one = cut(n, chunk, 1);
      for (const int count : {2, 3, 8}) EXPECT_EQ(cut(n, chunk, count), one);
    }
  }
}

TEST(ParallelChunks, AnExceptionOfOneChunkReachesTheCaller) {
  for (const int count : {1, 2, 4}) {
    const Threads scope(count);
    EXPECT_THROW(parallel_chunks(100, 3,
                                 [](int64_t begin, int64_t) {
                                   if (begin == 51) throw std::out_of_range("51");
                                 }),
                 std::out_of_range);
    // When all fail, exactly one of the exceptions comes through.
    EXPECT_THROW(parallel_chunks(100, 3, [](int64_t, int64_t) { throw std::out_of_range("all"); }),
                 std::out_of_range);
  }
}

TEST(ParallelChunks, MayBeNested) {
  const Threads scope(2);
  std::atomic<int64_t> sum{0};
  parallel_chunks(10, 1, [&](int64_t outer, int64_t) {
    parallel_chunks(10, 3, [&](int64_t begin, int64_t end) {
      for (int64_t inner = begin; inner < end; ++inner) sum += 10 * outer + inner;
    });
  });
  EXPECT_EQ(sum, 99 * 100 / 2);
}

TEST(ParallelChunks, NothingToDoCallsNothing) {
  parallel_chunks(0, 4, [](int64_t, int64_t) { FAIL(); });
  parallel_chunks(-5, 4, [](int64_t, int64_t) { FAIL(); });
}

TEST(SetThreads, IsToldToLibtorch) {
  for (const int count : {2, 1, 3}) {
    const Threads scope(count);
    EXPECT_EQ(threads(), count);
    EXPECT_EQ(at::get_num_threads(), count);
  }
  const Threads scope(0);
  EXPECT_EQ(threads(), 1);
}

}  // namespace
}  // namespace grm
