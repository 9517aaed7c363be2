#include "serve/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/clock.h"
#include "core/json.h"
#include "core/system/memory.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/core/options.h"
#include "grm/version.h"
#include "serve/ask_model.h"
#include "serve/embedded.h"

namespace grm::serve {
namespace {

constexpr double kBounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};

// RUN or NAME=RUN; a run without a name is called by its method and seed.
struct Named {
  std::string name, path;
};
Named split(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || word.find('/') < equals) return {"", word};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

HttpReply text_reply(const std::string& text, const std::string& type) {
  HttpReply reply;
  reply.type = type;
  reply.body = text;
  return reply;
}

// A label of Prometheus: backslash, quote and line end are escaped.
std::string label(const std::string& text) {
  return replaced(utf8_text(text), {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

class Metrics {
 public:
  void about(const std::string& name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  template <class T>
  void value(const std::string& name, const std::string& labels, T number) {
    text_ += fmt::format("{}{} {}\n", name, labels.empty() ? "" : "{" + labels + "}", number);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Service::Service(const ServiceOptions& options)
    : server_(options.http), seconds_(std::size(kBounds) + 1, 0) {
  for (const std::string& word : options.models) {
    Named named = split(word);
    if (named.name.empty()) {
      const ModelAbout about = read_model(named.path).about;
      named.name = fmt::format("{}-{}", about.method, about.seed);
    }
    for (const auto& other : workers_) {
      if (other->name() != named.name) continue;
      fail(ErrorKind::config, "{} and {} are both called '{}'; fix: name them, NAME={}",
           other->path(), named.path, named.name, named.path);
    }
    workers_.push_back(
        std::make_unique<ModelWorker>(named.name, named.path, options.device, options.worker));
  }
  add_routes();
  gate_.token = options.token;
  server_.app().set_guard([this](const HttpRequest& request) {
    // Health says nothing that is worth a secret.
    Gate gate = gate_;
    if (request.path == "/healthz") gate.token.clear();
    return gate.check(request);
  });
  const int port = server_.bind_to(options.address, options.port);
  if (is_loopback(options.address)) gate_.hosts = loopback_hosts(port);
  address_ = base_address(options.address, port);
  server_.start();
}

Service::~Service() {
  stop(0.0);  // before the workers that the server's threads ask
}

void Service::stop(double seconds) {
  server_.stop(seconds, [this] {
    for (const auto& worker : workers_) worker->stop();
  });
}

std::vector<std::string> Service::names() const {
  std::vector<std::string> names;
  for (const auto& worker : workers_) names.push_back(worker->name());
  return names;
}

void Service::reload(bool all) {
  for (const auto& worker : workers_) worker->reload(all);
}

void Service::add_routes() {
  HttpApp& app = server_.app();
  const auto timed = [this](HttpReply (Service::*answer)(const HttpRequest&)) {
    return [this, answer](const HttpRequest& request) {
      const Stopwatch watch;
      HttpReply reply = (this->*answer)(request);
      time(watch.seconds());
      return reply;
    };
  };
  app.route("POST", "/v1/predict", timed(&Service::predict));
  app.route("POST", "/v1/explain", timed(&Service::explain));
  app.route("GET", "/v1/models", [this](const HttpRequest& request) { return models(request); });
  app.route("GET", "/metrics", [this](const HttpRequest&) { return metrics(); });
  app.route("GET", "/healthz", [this](const HttpRequest&) {
    return text_reply(
        json_text(nlohmann::ordered_json{{"status", "ok"}, {"models", workers_.size()}}) + "\n",
        "application/json");
  });
  app.route("GET", "/openapi.json", [](const HttpRequest&) {
    return text_reply(replaced(service_files().front().text, {{"GRM_VERSION", GRM_VERSION}}),
                      "application/json");
  });
}

ModelWorker& Service::find(const std::string& name) {
  if (name.empty() && workers_.size() == 1) return *workers_.front();
  for (const auto& worker : workers_) {
    if (worker->name() == name) return *worker;
  }
  const std::vector<std::string> known = names();
  if (name.empty()) fail(ErrorKind::config, "'model' says which: {}", joined(known));
  fail(ErrorKind::config, "there is no model '{}'{}; there are: {}", name,
       did_you_mean(name, known), joined(known));
}

HttpReply Service::predict(const HttpRequest& request) {
  const Body body(request);
  return ask_prediction(find(body.asking().model), request, body);
}

HttpReply Service::explain(const HttpRequest& request) {
  const Body body(request);
  return ask_explanation(find(body.asking().model), request, body);
}

HttpReply Service::models(const HttpRequest&) const {
  std::string list;
  for (const auto& worker : workers_) list += (list.empty() ? "" : ",\n") + model_json(*worker);
  return text_reply("{\"models\":[\n" + list + "]}\n", "application/json");
}

void Service::time(double seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto* bound = std::lower_bound(std::begin(kBounds), std::end(kBounds), seconds);
  ++seconds_[static_cast<size_t>(bound - std::begin(kBounds))];
  all_seconds_ += seconds;
}

HttpReply Service::metrics() const {
  Metrics out;
  const HttpCounts http = server_.counts();
  out.about("grm_http_responses_total", "counter", "answers by status");
  for (const auto& [status, count] : http.by_status) {
    out.value("grm_http_responses_total", fmt::format("status=\"{}\"", status), count);
  }
  out.about("grm_http_connections", "gauge", "open connections");
  out.value("grm_http_connections", "", http.open);
  out.about("grm_http_connections_total", "counter", "connections so far");
  out.value("grm_http_connections_total", "", http.accepted);
  out.about("grm_http_turned_away_total", "counter", "connections beyond the limit");
  out.value("grm_http_turned_away_total", "", http.turned_away);
  out.about("process_resident_memory_bytes", "gauge", "memory of the process");
  out.value("process_resident_memory_bytes", "", own_memory());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    out.about("grm_request_seconds", "histogram", "time of predictions and explanations");
    uint64_t count = 0;
    for (size_t k = 0; k < seconds_.size(); ++k) {
      count += seconds_[k];
      const bool last = k == std::size(kBounds);
      out.value("grm_request_seconds_bucket",
                last ? "le=\"+Inf\"" : fmt::format("le=\"{}\"", kBounds[k]), count);
    }
    out.value("grm_request_seconds_sum", "", all_seconds_);
    out.value("grm_request_seconds_count", "", count);
  }
  struct Kind {
    const char *name, *type, *help;
    double (*of)(const WorkerCounts&);
  };
  static constexpr Kind kinds[] = {
      {"grm_model_requests_total", "counter", "requests that were computed",
       [](const WorkerCounts& c) { return static_cast<double>(c.computed); }},
      {"grm_model_shared_total", "counter", "requests answered with an equal one's answer",
       [](const WorkerCounts& c) { return static_cast<double>(c.shared); }},
      {"grm_model_batches_total", "counter", "times that waiting requests were taken together",
       [](const WorkerCounts& c) { return static_cast<double>(c.batches); }},
      {"grm_model_late_total", "counter", "requests that waited too long",
       [](const WorkerCounts& c) { return static_cast<double>(c.late); }},
      {"grm_model_reloads_total", "counter", "times that the file was loaded anew",
       [](const WorkerCounts& c) { return static_cast<double>(c.reloads); }},
      {"grm_model_failed_reloads_total", "counter", "files that could not be loaded",
       [](const WorkerCounts& c) { return static_cast<double>(c.failed_reloads); }},
      {"grm_model_waiting", "gauge", "requests in the queue",
       [](const WorkerCounts& c) { return static_cast<double>(c.waiting); }},
      {"grm_model_seconds_total", "counter", "seconds of computing",
       [](const WorkerCounts& c) { return c.seconds; }},
  };
  for (const Kind& kind : kinds) {
    out.about(kind.name, kind.type, kind.help);
    for (const auto& worker : workers_) {
      out.value(kind.name, fmt::format("model=\"{}\"", label(worker->name())),
                kind.of(worker->counts()));
    }
  }
  return text_reply(out.text(), "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace grm::serve
