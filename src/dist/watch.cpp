#include "dist/watch.h"

#ifdef GRM_WITH_GLOO

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>

#include "grm/core/error.h"

namespace grm::dist {
namespace {

constexpr double kGrace = 2.0;  // seconds for the thread that computes to notice by itself

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

std::chrono::duration<double> in_seconds(double seconds) {
  return std::chrono::duration<double>(seconds);
}

std::vector<uint8_t> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

}  // namespace

Watch::Watch(const Members& members, std::shared_ptr<c10d::Store> store,
             std::function<void()> last_word)
    : members_(members),
      store_(std::move(store)),
      last_word_(std::move(last_word)),
      pause_(std::clamp(members.timeout / 10.0, 0.05, 0.5)),
      answered_(Clock::now()),
      seen_(static_cast<size_t>(members.launch.world), Seen{-1, Clock::now()}),
      beats_([this] { beat(); }),
      next_([this] { wait_for_next(); }),
      clock_([this] { look_at_clock(); }) {}

std::string Watch::lost() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

std::string Watch::wait_for_reason(double seconds) const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, in_seconds(seconds), [this] { return !lost_.empty(); });
  return lost_;
}

void Watch::set_lost(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!lost_.empty() || over_) return;
  lost_ = why;
  changed_.notify_all();
}

void Watch::leave_it_to_the_caller() {
  const std::lock_guard<std::mutex> lock(mutex_);
  known_ = true;
  changed_.notify_all();
}

bool Watch::over(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, in_seconds(seconds), [this] { return over_ || !lost_.empty(); });
  return over_;
}

void Watch::look_at(int rank) {
  Seen& seen = seen_[static_cast<size_t>(rank)];
  const int64_t beats = store_->add("beat/" + std::to_string(rank), 0);
  if (beats != seen.beats) seen = {beats, Clock::now()};
  const double silent = seconds_since(seen.when);
  if (silent <= members_.timeout) return;
  set_lost(fmt::format("{} has given no sign of life for {:.0f} s: it hangs, or cannot be reached",
                       members_.names[static_cast<size_t>(rank)], silent));
}

void Watch::beat_once() {
  const Launch& launch = members_.launch;
  store_->add("beat/" + std::to_string(launch.rank), 1);
  const bool known = store_->check({"lost"});
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Stopped for a while itself (a suspended machine), it knows nothing about the others.
    if (seconds_since(answered_) > members_.timeout / 2) {
      for (Seen& seen : seen_) seen.when = Clock::now();
    }
    answered_ = Clock::now();
  }
  if (known) {
    const std::vector<uint8_t> text = store_->get("lost");
    set_lost({text.begin(), text.end()});
  } else if (launch.rank == 0) {
    for (int rank = 1; rank < launch.world; ++rank) look_at(rank);
  } else {
    look_at(0);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++rounds_;
  changed_.notify_all();
}

// The first reason that any member writes is that of all.
void Watch::publish() {
  std::string mine = lost();
  const std::vector<uint8_t> said = store_->compareSet("lost", bytes_of(""), bytes_of(mine));
  const std::string theirs(said.begin(), said.end());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!theirs.empty()) lost_ = theirs;
  }
  // Rank 0 may keep the store: it goes last, but waits for nobody who cannot come.
  store_->add("seen", 1);
  const Clock::time_point begin = Clock::now();
  while (members_.launch.rank == 0 && seconds_since(begin) < kGrace &&
         store_->add("seen", 0) < members_.launch.world) {
    std::this_thread::sleep_for(in_seconds(0.05));
  }
}

void Watch::beat() {
  try {
    while (!over(pause_)) {
      if (lost().empty()) beat_once();
      if (lost().empty()) continue;
      publish();
      break;
    }
  } catch (const std::exception&) {
    // In the end rank 0 may be gone first.
    const Launch& launch = members_.launch;
    const std::string owner = members_.names.front();
    if (!ending_) {
      set_lost(launch.store_is_there
                   ? fmt::format("the store at {}:{} is lost: the launcher that keeps it has ended",
                                 launch.address, launch.port)
                   : fmt::format("{}, which keeps the store, has ended", owner));
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  published_ = true;
  changed_.notify_all();
}

void Watch::wait_for_next() {
  const Launch& launch = members_.launch;
  try {
    last_word_();
  } catch (const std::exception&) {
    if (ending_) return;
    // It may have gone because of another, whom the store names, or because of the store itself.
    std::unique_lock<std::mutex> lock(mutex_);
    const int64_t whole = rounds_ + 2;
    changed_.wait(lock, [&] { return over_ || !lost_.empty() || rounds_ >= whole; });
    lock.unlock();
    const auto next = static_cast<size_t>((launch.rank + 1) % launch.world);
    set_lost(fmt::format("{} has ended", members_.names[next]));
  }
}

void Watch::look_at_clock() {
  Clock::time_point looked = Clock::now();
  while (!over(pause_)) {
    double silent = 0;
    const bool slept = seconds_since(looked) > members_.timeout / 2;  // stopped, or suspended
    looked = Clock::now();
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (!lost_.empty()) {
        // The thread that computes may be far from its next call.
        const auto cared_for = [this] { return over_ || known_; };
        changed_.wait_for(lock, in_seconds(kGrace), cared_for);
        changed_.wait_for(lock, in_seconds(kGrace), [&] { return cared_for() || published_; });
        if (cared_for() || !members_.on_lost) return;
        const std::string why = lost_;
        lock.unlock();
        members_.on_lost(why);
        return;
      }
      if (slept) answered_ = looked;
      silent = seconds_since(answered_);
    }
    if (silent <= members_.timeout) continue;
    const Launch& launch = members_.launch;
    set_lost(launch.store_is_there
                 ? fmt::format("the store at {}:{} has not answered for {:.0f} s", launch.address,
                               launch.port, silent)
                 : fmt::format("{}, which keeps the store, has given no sign of life for {:.0f} s: "
                               "it hangs, or cannot be reached",
                               members_.names.front(), silent));
  }
}

bool Watch::end() {
  const bool in_order = lost().empty();
  if (in_order) {
    next_.join();
  } else {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, in_seconds(2 * kGrace), [this] { return published_; });
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  if (in_order) beats_.join();
  clock_.join();
  return in_order;
}

}  // namespace grm::dist

#endif
