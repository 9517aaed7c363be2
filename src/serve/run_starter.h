#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/system/process.h"

namespace grm::serve {

/// A program that the studio was asked to run.
struct Job {
  int64_t id = 0;
  std::string command;  // as a shell would take it
  std::string state;    // "running", "stopping", "done", "stopped" or "failed"
  std::string message;  // why it failed
};

/// Starts and stops programs. One thread does both and lives as long as this: a child dies with
/// the thread that made it. For several threads.
class RunStarter {
 public:
  explicit RunStarter(size_t at_once);
  /// Running ones are asked to stop, and stopped after some seconds.
  ~RunStarter();

  /// Error(config) if too many run already; Error(io) if none can be started.
  int64_t start(const std::vector<std::string>& argv);
  /// Asks it to stop with a checkpoint. False: there is no such job, or it has ended.
  bool stop(int64_t id);
  std::vector<Job> jobs() const;

 private:
  void run();
  void look();

  size_t at_once_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  struct Wish {
    std::vector<std::string> argv;
    std::promise<int64_t> id;
  };
  std::vector<std::shared_ptr<Wish>> wishes_;
  std::map<int64_t, Job> jobs_;
  std::map<int64_t, std::unique_ptr<ChildProcess>> children_;  // of the thread
  int64_t last_ = 0;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace grm::serve
