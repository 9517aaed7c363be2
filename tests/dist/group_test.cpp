#include "dist/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <thread>

#include "core/clock.h"
#include "dist/sharded_sum.h"
#include "grm/core/error.h"
#include "support/world.h"

namespace grm::dist_group_tests {

using dist::Group;
using dist::ShardedSum;

// Without ownership: what the bodies below need.
void as_world(int world, const std::function<void(Group&)>& body) {
  test::as_world(world, [&](const std::shared_ptr<Group>& group) { body(*group); });
}

class Worlds : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (GetParam() > 1 && !dist::can_join()) GTEST_SKIP() << "skipped: built without Gloo";
  }
};

TEST_P(Worlds, GatherHasARowOfEachRank) {
  as_world(GetParam(), [](Group& group) {
    const torch::Tensor all = group.gather(torch::full({2, 3}, group.rank(), torch::kInt64));
    ASSERT_EQ(all.sizes(), (std::vector<int64_t>{group.world(), 2, 3}));
    for (int r = 0; r < group.world(); ++r) EXPECT_TRUE(all[r].eq(r).all().item<bool>());
  });
}

TEST_P(Worlds, BroadcastAndText) {
  as_world(GetParam(), [](Group& group) {
    const int last = group.world() - 1;
    const torch::Tensor x = torch::full({5}, group.rank(), torch::kFloat32);
    group.broadcast(x, last);
    EXPECT_TRUE(x.eq(last).all().item<bool>());
    EXPECT_EQ(group.text_of_first("said by " + std::to_string(group.rank())), "said by 0");
    EXPECT_EQ(group.text_of_first(group.first() ? "" : "nothing"), "");
  });
}

TEST_P(Worlds, ExchangesMayBeOnTheirWayTogether) {
  as_world(GetParam(), [](Group& group) {
    const int world = group.world();
    std::vector<std::unique_ptr<Group::Exchange>> sent;
    for (int k = 0; k < 3; ++k) {
      torch::Tensor rows = torch::arange(world).unsqueeze(1) + 10 * group.rank() + 100 * k;
      sent.push_back(group.exchange(rows));
    }
    for (int k = 0; k < 3; ++k) {
      const torch::Tensor came = sent[k]->wait();
      for (int r = 0; r < world; ++r) {
        EXPECT_EQ(came[r][0].item<int64_t>(), group.rank() + 10 * r + 100 * k);
      }
    }
  });
}

// Rank r sends (r + 2 s) % 5 numbers to rank s, which may be none.
TEST_P(Worlds, ListsOfDifferentLengthsAreExchanged) {
  as_world(GetParam(), [](Group& group) {
    const int world = group.world();
    const auto list = [](int from, int to) {
      return torch::arange((from + 2 * to) % 5, torch::kInt32) + 100 * from + 10 * to;
    };
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<torch::Tensor> mine;
      for (int r = 0; r < world; ++r) mine.push_back(list(group.rank(), r));
      const std::vector<torch::Tensor> came = group.exchange_lists(mine);
      ASSERT_EQ(static_cast<int>(came.size()), world);
      for (int r = 0; r < world; ++r) EXPECT_TRUE(torch::equal(came[r], list(r, group.rank())));
    }
  });
}

// The sum, from left to right, of numbers whose sum depends on the order.
TEST_P(Worlds, ShardedSumHasTheBitsOfTheSumInOrder) {
  constexpr int64_t kShards = 8, kSize = 1001;
  const auto part = [](int64_t shard, int64_t turn) {
    std::vector<float> numbers(kSize);
    for (int64_t i = 0; i < kSize; ++i) {
      numbers[i] = 1e4f / static_cast<float>(1 + (i * 37 + shard * 101 + turn) % 911) *
                   ((shard + i) % 2 == 0 ? 1.0f : -1.001f);
    }
    return numbers;
  };
  as_world(GetParam(), [&](Group& group) {
    ShardedSum sum(group, kShards);
    EXPECT_EQ(sum.count() * group.world(), kShards);
    for (int64_t turn = 0; turn < 2; ++turn) {
      std::vector<float> expected = part(0, turn), backwards = part(kShards - 1, turn);
      for (int64_t s = 1; s < kShards; ++s) {
        const std::vector<float> next = part(s, turn), before = part(kShards - 1 - s, turn);
        for (int64_t i = 0; i < kSize; ++i) {
          expected[i] += next[i];
          backwards[i] += before[i];
        }
      }
      ASSERT_NE(std::memcmp(expected.data(), backwards.data(), kSize * sizeof(float)), 0);
      for (int64_t s = sum.first(); s < sum.first() + sum.count(); ++s) {
        sum.add(torch::tensor(part(s, turn)));
      }
      const torch::Tensor total = sum.total().contiguous();
      ASSERT_EQ(total.numel(), kSize);
      EXPECT_EQ(std::memcmp(total.data_ptr<float>(), expected.data(), kSize * sizeof(float)), 0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(One, Worlds, testing::Values(1, 2, 4));

TEST(Shards, MustBeSharedEqually) {
  EXPECT_NO_THROW(dist::check_shards(8, 4));
  try {
    dist::check_shards(6, 4);
    FAIL() << "6 shards on 4 processes";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_NE(std::string(error.what()).find("train.shards = 8"), std::string::npos);
  }
}

// One member ends with an error; all others say whose it was.
TEST(Loss, NamesTheMemberAndItsReason) {
  if (!dist::can_join()) GTEST_SKIP() << "skipped: built without Gloo";
  std::atomic<int> told{0};
  const Stopwatch watch;
  EXPECT_THROW(as_world(3,
                        [&](Group& group) {
                          group.gather(torch::zeros({1}));
                          if (group.rank() == 1) fail(ErrorKind::data, "its disk is full");
                          try {
                            group.gather(torch::zeros({1}));
                          } catch (const Error& error) {
                            const std::string text = error.what();
                            if (text.find("rank 1 (process") != std::string::npos &&
                                text.find("its disk is full") != std::string::npos) {
                              ++told;
                            }
                            throw;
                          }
                        }),
               Error);
  EXPECT_EQ(told, 2);
  EXPECT_LT(watch.seconds(), 15.0);
}

// A member that computes for long asks for nothing: it is told from outside, by a call that ends the
// process where there is one.
TEST(Loss, IsToldToWhoComputes) {
  if (!dist::can_join()) GTEST_SKIP() << "skipped: built without Gloo";
  std::promise<int> port;
  std::shared_future<int> listens = port.get_future().share();
  std::promise<std::string> told;
  std::thread other([&] {
    dist::Launch launch;
    launch.rank = 1;
    launch.world = 2;
    launch.address = "127.0.0.1";
    launch.port = listens.get();
    dist::join(launch, {})->ends("its disk is full");
  });
  dist::Launch launch;
  launch.world = 2;
  launch.address = "127.0.0.1";
  dist::JoinOptions options;
  options.on_listen = [&](int at) { port.set_value(at); };
  options.on_lost = [&](const std::string& why) { told.set_value(why); };
  const std::shared_ptr<Group> group = dist::join(launch, options);
  std::future<std::string> why = told.get_future();
  ASSERT_EQ(why.wait_for(std::chrono::seconds(15)), std::future_status::ready);
  EXPECT_THAT(why.get(), testing::HasSubstr("its disk is full"));
  other.join();
}

TEST(Loss, MissesWhoNeverComes) {
  if (!dist::can_join()) GTEST_SKIP() << "skipped: built without Gloo";
  dist::Launch launch;
  launch.world = 2;
  launch.address = "127.0.0.1";
  dist::JoinOptions options;
  options.patience = 0.5;
  try {
    dist::join(launch, options);
    FAIL() << "a world of two with one member";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 of 2 has not come"), std::string::npos);
  }
}

}  // namespace grm::dist_group_tests
