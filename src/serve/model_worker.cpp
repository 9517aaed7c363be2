#include "serve/model_worker.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>

#include "core/clock.h"
#include "core/files.h"
#include "core/stop.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"

namespace grm::serve {

struct ModelWorker::Task {
  std::string key;
  Work work;
  std::atomic<bool> given_up{false};  // nobody waits any more
  bool done = false;
  HttpReply reply;
  std::exception_ptr error;
};

ModelWorker::ModelWorker(std::string name, std::string path, const std::string& device,
                         const Limits& limits)
    : name_(std::move(name)),
      path_(std::move(path)),
      limits_(limits),
      log_(context().log),
      memory_limit_(context().memory_limit) {
  std::promise<void> loaded;
  thread_ = std::thread([this, device, &loaded] {
    run(device, [&loaded](std::exception_ptr error) {
      if (error) {
        loaded.set_exception(error);
      } else {
        loaded.set_value();
      }
    });
  });
  try {
    loaded.get_future().get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

ModelWorker::~ModelWorker() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void ModelWorker::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  work_came_.notify_all();
}

std::shared_ptr<const ModelAbout> ModelWorker::about() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return about_;
}

std::string ModelWorker::file_digest() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return digest_;
}

WorkerCounts ModelWorker::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  WorkerCounts counts = counts_;
  counts.waiting = queue_.size();
  return counts;
}

std::string ModelWorker::signature() const {
  struct stat about {};
  if (stat(file_.c_str(), &about) != 0) return "";
  return fmt::format("{}-{}-{}-{}.{}", about.st_dev, about.st_ino, about.st_size,
                     about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

void ModelWorker::load_model() {
  auto fresh = std::make_unique<Model>(load(path_));
  auto about = std::make_shared<const ModelAbout>(fresh->about());
  const std::string digest = sha256_file(fresh->path());
  model_ = std::move(fresh);
  const std::lock_guard<std::mutex> lock(mutex_);
  file_ = model_->path();
  about_ = std::move(about);
  digest_ = digest;
  signature_ = signature();
}

void ModelWorker::run(const std::string& device, std::function<void(std::exception_ptr)> ready) {
  Context own;
  own.log = log_;
  own.memory_limit = memory_limit_;
  const ContextScope scope(own);
  try {
    set_threads(threads());  // libtorch counts by thread
    set_compute_device(parse_device(device));
    load_model();
  } catch (...) {
    ready(std::current_exception());
    return;
  }
  ready(nullptr);
  while (true) {
    std::deque<std::shared_ptr<Task>> batch;
    bool reload = false;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      work_came_.wait(lock, [this] { return stop_ || reload_ || !queue_.empty(); });
      if (stop_ && queue_.empty()) return;
      std::swap(reload, reload_);
      const size_t count = std::min(queue_.size(), limits_.batch);
      batch.assign(queue_.begin(), queue_.begin() + static_cast<long>(count));
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<long>(count));
      if (count > 0) ++counts_.batches;
    }
    answer(batch);
    if (reload) try_reload();
  }
}

void ModelWorker::answer(std::deque<std::shared_ptr<Task>>& batch) {
  std::map<std::string, std::shared_ptr<Task>> known;
  for (const std::shared_ptr<Task>& task : batch) {
    if (task->given_up) continue;
    const auto equal = task->key.empty() ? known.end() : known.find(task->key);
    const bool shared = equal != known.end();
    bool stopped = false;
    const Stopwatch watch;
    if (shared) {
      task->reply = equal->second->reply;
      task->error = equal->second->error;
    } else {
      const StopScope scope([&] { return task->given_up || stop_; });
      try {
        task->reply = task->work(*model_);
      } catch (const Stopped&) {
        stopped = true;  // an equal one that still waits is computed by itself
        task->reply = error_reply(503, "stopping", "the service ends");
      } catch (...) {
        task->error = std::current_exception();
      }
      if (!task->key.empty() && !stopped) known[task->key] = task;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    task->done = true;
    if (!stopped) ++(shared ? counts_.shared : counts_.computed);
    counts_.seconds += watch.seconds();
    answered_.notify_all();
  }
}

HttpReply ModelWorker::ask(const std::string& key, Work work) {
  auto task = std::make_shared<Task>();
  task->key = key;
  task->work = std::move(work);
  std::unique_lock<std::mutex> lock(mutex_);
  if (stop_ || queue_.size() >= limits_.waiting) {
    HttpReply busy = error_reply(
        503, "busy", fmt::format("{} requests wait for this model already", queue_.size()));
    busy.headers.emplace_back("Retry-After", "1");
    return busy;
  }
  queue_.push_back(task);
  work_came_.notify_one();
  if (!answered_.wait_for(lock, std::chrono::duration<double>(limits_.seconds),
                          [&] { return task->done; })) {
    task->given_up = true;
    ++counts_.late;
    return error_reply(504, "time",
                       fmt::format("there was no answer within {:g} s", limits_.seconds));
  }
  lock.unlock();
  if (task->error) std::rethrow_exception(task->error);
  return task->reply;
}

void ModelWorker::reload(bool always) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string now = signature();
  if (!always && (now.empty() || now == signature_)) return;
  signature_ = now;  // one that cannot be loaded is not tried again and again
  reload_ = true;
  work_came_.notify_one();
}

void ModelWorker::try_reload() {
  try {
    load_model();
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_.reloads;
    log_info("{}: loaded anew from {}", name_, path_);
  } catch (const std::exception& error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_.failed_reloads;
    log_warning("{}: the old model stays, the new one cannot be loaded: {}", name_, error.what());
  }
}

}  // namespace grm::serve
