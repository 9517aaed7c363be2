#include "serve/run_starter.h"

#include <csignal>

#include "core/clock.h"
#include "core/text.h"
#include "grm/core/error.h"

namespace grm::serve {
namespace {
constexpr double kPatience = 10.0;  // seconds for a run to leave its checkpoint at the end
constexpr size_t kMostJobs = 200;   // that are remembered
}  // namespace

RunStarter::RunStarter(size_t at_once) : at_once_(at_once), thread_([this] { run(); }) {}

RunStarter::~RunStarter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  came_.notify_all();
  thread_.join();
}

int64_t RunStarter::start(const std::vector<std::string>& argv) {
  auto wish = std::make_shared<Wish>();
  wish->argv = argv;
  std::future<int64_t> id = wish->id.get_future();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    size_t running = wishes_.size();
    for (const auto& [number, job] : jobs_) running += job.state == "running";
    if (running >= at_once_) {
      fail(ErrorKind::config, "{} runs go on already; fix: stop one, or wait for its end", running);
    }
    wishes_.push_back(wish);
  }
  came_.notify_all();
  return id.get();
}

bool RunStarter::stop(int64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto job = jobs_.find(id);
  if (job == jobs_.end() || job->second.state != "running") return false;
  job->second.state = "stopping";
  came_.notify_all();
  return true;
}

std::vector<Job> RunStarter::jobs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Job> list;
  for (const auto& [id, job] : jobs_) list.push_back(job);
  return list;
}

// Under the mutex: what was asked for, and what has ended.
void RunStarter::look() {
  for (const std::shared_ptr<Wish>& wish : wishes_) {
    try {
      auto child = std::make_unique<ChildProcess>(wish->argv);
      const int64_t id = ++last_;
      std::vector<std::string> words = {"grm"};
      for (size_t k = 1; k < wish->argv.size(); ++k) words.push_back(shell_word(wish->argv[k]));
      jobs_[id] = {id, joined(words, " "), "running", ""};
      children_[id] = std::move(child);
      if (jobs_.size() > kMostJobs && jobs_.begin()->second.state != "running") {
        jobs_.erase(jobs_.begin());
      }
      wish->id.set_value(id);
    } catch (...) {
      wish->id.set_exception(std::current_exception());
    }
  }
  wishes_.clear();
  for (auto child = children_.begin(); child != children_.end();) {
    Job& job = jobs_[child->first];
    child->second->read_output();
    if (job.state == "stopping" && job.message.empty()) {
      child->second->send(SIGTERM);
      job.message = "asked to stop";
    }
    const std::optional<std::string> end = child->second->ended();
    if (!end) {
      ++child;
      continue;
    }
    const bool stopped = job.state == "stopping";
    job.state = stopped ? "stopped" : end->empty() ? "done" : "failed";
    job.message = stopped ? "" : *end;
    child = children_.erase(child);
  }
}

void RunStarter::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!end_) {
    came_.wait_for(lock, std::chrono::milliseconds(200));
    look();
  }
  for (auto& [id, child] : children_) child->send(SIGTERM);
  const Stopwatch watch;
  while (!children_.empty() && watch.seconds() < kPatience) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    lock.lock();
    look();
  }
  children_.clear();  // kills what is left
}

}  // namespace grm::serve
