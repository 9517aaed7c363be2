#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dist/launch.h"

namespace c10d {
class Store;
}

namespace grm::dist {

/// Watches over the members of a group, in threads of its own. Every member counts up a number in
/// the store several times a second; rank 0 looks at all of them, the others at that of rank 0. Each
/// member waits for a last word of the next one, too, and so learns at once when that one's
/// connections close; it asks the store first whether that one went because of another. Whoever
/// finds somebody missing writes who it was into the store, where all others read it: they agree on
/// one sentence.
class Watch {
 public:
  struct Members {
    Launch launch;
    std::vector<std::string> names;  // "rank 1 (process 77 on host)"
    double timeout = 60.0;
    std::function<void(const std::string&)> on_lost;
  };
  /// `store`: a connection that nobody else uses. `last_word` waits for the next member's last word
  /// and throws when its connection closes.
  Watch(const Members& members, std::shared_ptr<c10d::Store> store,
        std::function<void()> last_word);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Why the run is lost; empty while it is not.
  std::string lost() const;
  /// The same, after waiting for it: somebody has noticed that a connection closed.
  std::string wait_for_reason(double seconds) const;
  /// The run is lost, and that is why. The first reason of all members counts.
  void set_lost(const std::string& why);
  /// The thread that computes knows of the loss and ends by itself.
  void leave_it_to_the_caller();
  /// This member is about to leave in order: the next one may, too.
  void expect_the_end() { ending_ = true; }
  /// Waits for the next member's last word and ends the threads. False if the run is lost: threads may
  /// wait for answers that never come, so this object must stay until the process ends.
  bool end();

 private:
  using Clock = std::chrono::steady_clock;
  void beat();           // thread: the store
  void wait_for_next();  // thread: the next member
  void look_at_clock();  // thread: a store that does not answer, a caller that does not ask
  void beat_once();
  void look_at(int rank);
  void publish();
  bool over(double seconds);  // waits; whether the threads shall end

  Members members_;
  std::shared_ptr<c10d::Store> store_;
  std::function<void()> last_word_;
  double pause_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string lost_;
  bool published_ = false;  // all that can know the reason do
  bool over_ = false;
  bool known_ = false;          // to the thread that computes
  int64_t rounds_ = 0;          // times that the store has been asked, begun and ended
  Clock::time_point answered_;  // last answer of the store
  struct Seen {
    int64_t beats = -1;
    Clock::time_point when;
  };
  std::vector<Seen> seen_;
  std::atomic<bool> ending_{false};
  std::thread beats_, next_, clock_;
};

}  // namespace grm::dist
