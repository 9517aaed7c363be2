#pragma once

#include <functional>
#include <stdexcept>

namespace grm {

/// Thrown by check_stop().
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("stopped: nobody waits for the answer any more") {}
};

/// While it lives, long computations of this thread ask `wanted` now and then, and end early where it
/// says so: an answer that nobody waits for shall not keep others waiting.
class StopScope {
 public:
  explicit StopScope(std::function<bool()> wanted);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  std::function<bool()> wanted_;
  StopScope* outer_;
  friend void check_stop();
};

/// Throws Stopped where a StopScope of this thread wants an end. Called between the parts of what
/// may take long, by the thread that was asked.
void check_stop();

}  // namespace grm
