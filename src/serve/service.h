#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/gate.h"
#include "serve/http_server.h"
#include "serve/model_worker.h"

namespace grm::serve {

struct ServiceOptions {
  std::vector<std::string> models;  // RUN or NAME=RUN
  std::string address = "127.0.0.1";
  int port = 0;
  std::string device = "cpu";
  std::string token;  // "": none is asked for
  HttpLimits http;
  ModelWorker::Limits worker;
};

/// Models behind HTTP: /v1/predict, /v1/explain, /v1/models, /healthz, /metrics, /openapi.json.
class Service {
 public:
  /// Loads all models, then listens.
  explicit Service(const ServiceOptions& options);
  ~Service();
  const std::string& address() const { return address_; }
  std::vector<std::string> names() const;
  /// Models whose files have changed, or all, are loaded anew beside the requests.
  void reload(bool all);
  /// Answers what has begun, for at most so many seconds.
  void stop(double seconds);

 private:
  void add_routes();
  HttpReply predict(const HttpRequest& request);
  HttpReply explain(const HttpRequest& request);
  HttpReply models(const HttpRequest& request) const;
  HttpReply metrics() const;
  ModelWorker& find(const std::string& name);
  void time(double seconds);

  std::vector<std::unique_ptr<ModelWorker>> workers_;
  HttpServer server_;
  Gate gate_;
  std::string address_;

  mutable std::mutex mutex_;
  std::vector<uint64_t> seconds_;  // requests by how long they took
  double all_seconds_ = 0.0;
};

}  // namespace grm::serve
