#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>

#include "serve/gate.h"
#include "serve/http_server.h"
#include "serve/model_worker.h"
#include "serve/run_index.h"
#include "serve/run_starter.h"

namespace grm::serve {

struct StudioOptions {
  std::string folder = "runs";
  std::string address = "127.0.0.1";
  int port = 0;
  bool write = false;  // whether runs may be started and stopped
  std::string database = "results.db";
  std::string program;  // grm-engine, for reports and runs
  HttpLimits http;
};

/// The page of web/ with live data: runs and studies of a folder. docs/studio.md lists what it serves.
class Studio {
 public:
  explicit Studio(const StudioOptions& options);
  ~Studio();
  /// With the token, which is drawn anew at every start.
  std::string address() const { return base_ + "/?token=" + gate_.token; }
  void stop(double seconds);

 private:
  void add_pages();
  void add_routes();
  HttpReply runs(const HttpRequest& request);
  HttpReply studies(const HttpRequest& request);
  HttpReply document(const HttpRequest& request);
  HttpReply form(const HttpRequest& request) const;
  HttpReply file(const HttpRequest& request);
  HttpReply start(const HttpRequest& request);
  HttpReply stop_job(const HttpRequest& request);
  HttpReply events(const HttpRequest& request);
  HttpReply ask(const HttpRequest& request, bool explanation);
  std::shared_ptr<ModelWorker> worker_of(const std::string& path);
  std::string jobs_text() const;

  StudioOptions options_;
  RunIndex index_;
  Gate gate_;
  std::string base_;
  std::unique_ptr<RunStarter> starter_;  // with options_.write
  std::mutex mutex_;
  std::list<std::shared_ptr<ModelWorker>> workers_;  // the last used first
  std::atomic<int> followers_{0};
  HttpServer server_;
};

}  // namespace grm::serve
