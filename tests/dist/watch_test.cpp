#ifdef GRM_WITH_GLOO

#include "dist/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <atomic>
#include <stdexcept>

namespace grm::dist_watch_tests {

// A store whose keeper may be gone: whoever asks it then is told so a little later.
class Store final : public c10d::HashStore {
 public:
  std::atomic<bool> gone{false};
  int64_t add(const std::string& key, int64_t value) override {
    if (!gone) return c10d::HashStore::add(key, value);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    throw std::runtime_error("connection reset");
  }
};

dist::Watch::Members rank_2_of_4() {
  dist::Watch::Members members;
  members.launch.rank = 2;
  members.launch.world = 4;
  for (int r = 0; r < 4; ++r) members.names.push_back("rank " + std::to_string(r));
  members.timeout = 3.0;
  return members;
}

// What a watch says that finds the next member's connection closed. A watch that lost somebody must
// stay until the process ends.
std::string reason_with(const std::shared_ptr<Store>& store) {
  static auto* all = new std::vector<std::unique_ptr<dist::Watch>>;
  const auto closed = [] { throw std::runtime_error("connection closed"); };
  all->push_back(std::make_unique<dist::Watch>(rank_2_of_4(), store, closed));
  const std::string why = all->back()->wait_for_reason(10.0);
  all->back()->end();
  return why;
}

// Rank 0 has gone with its store. Rank 3, which notices first, goes too: rank 2 names rank 0.
TEST(Watch, NamesTheKeeperOfTheStoreAndNotWhoWentBecauseOfIt) {
  const auto store = std::make_shared<Store>();
  store->gone = true;
  EXPECT_THAT(reason_with(store), testing::StartsWith("rank 0"));
}

// Rank 1 has gone, and rank 3 because of it: it has said so in the store.
TEST(Watch, NamesWhomTheStoreNames) {
  const auto store = std::make_shared<Store>();
  const std::string why = "rank 1 has ended";
  store->set("lost", std::vector<uint8_t>(why.begin(), why.end()));
  EXPECT_EQ(reason_with(store), why);
}

// Nobody but the next member has gone.
TEST(Watch, NamesTheNextMember) {
  const auto store = std::make_shared<Store>();
  EXPECT_EQ(reason_with(store), "rank 3 has ended");
}

}  // namespace grm::dist_watch_tests

#endif
