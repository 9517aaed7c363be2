#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "grm/core/context.h"
#include "grm/train/predict.h"
#include "serve/http.h"

namespace grm::serve {

/// What a worker has done, for /metrics.
struct WorkerCounts {
  uint64_t computed = 0;  // requests
  uint64_t shared = 0;    // answered with what was computed for an equal one that waited beside it
  uint64_t batches = 0;   // times that it took what was waiting
  uint64_t late = 0;      // given up: waited too long, and stopped where it had begun
  uint64_t reloads = 0, failed_reloads = 0;
  size_t waiting = 0;
  double seconds = 0.0;  // of computing
};

/// A warm model with the one thread that may use it. Requests wait in a queue; the thread takes all
/// that have come, up to a batch at a time.
class ModelWorker {
 public:
  struct Limits {
    size_t waiting = 256;  // requests in the queue; more are refused with 503
    size_t batch = 32;
    double seconds = 30.0;  // a request that waits longer is answered with 504
  };
  /// Loads the model in its thread and waits for that. Error as load() gives it. `device` as
  /// --device takes it.
  ModelWorker(std::string name, std::string path, const std::string& device, const Limits& limits);
  ~ModelWorker();
  ModelWorker(const ModelWorker&) = delete;
  ModelWorker& operator=(const ModelWorker&) = delete;

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  /// Of the model that answers now.
  std::shared_ptr<const ModelAbout> about() const;
  std::string file_digest() const;  // SHA-256 of its file
  WorkerCounts counts() const;

  /// Runs in the worker's thread, under a context whose messages are kept.
  using Work = std::function<HttpReply(Model& model)>;
  /// Waits for the answer. Works with the same `key` that wait together are done once; no key:
  /// always on its own. What nobody waits for any more is stopped (core/stop.h). Error(config) is
  /// what the work throws; 503 and 504 as said above.
  HttpReply ask(const std::string& key, Work work);

  /// Takes no more requests and ends what is computed; whoever waits is answered with 503.
  void stop();
  /// Loads the file anew if it is another one than before, or `always`; what waits is answered by
  /// the old model. A file that cannot be loaded leaves the old model in place and says so.
  void reload(bool always);

 private:
  struct Task;
  void run(const std::string& device, std::function<void(std::exception_ptr)> ready);
  void answer(std::deque<std::shared_ptr<Task>>& batch);
  void load_model();
  void try_reload();
  std::string signature() const;  // changes when the file does; under the mutex

  std::string name_, path_;
  Limits limits_;
  LogSink log_;
  double memory_limit_;
  std::unique_ptr<Model> model_;  // of the thread

  mutable std::mutex mutex_;
  std::condition_variable work_came_, answered_;
  std::deque<std::shared_ptr<Task>> queue_;
  std::shared_ptr<const ModelAbout> about_;
  std::string file_, digest_, signature_;
  WorkerCounts counts_;
  std::atomic<bool> stop_{false};
  bool reload_ = false;
  std::thread thread_;
};

}  // namespace grm::serve
