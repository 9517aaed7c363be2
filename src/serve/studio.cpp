#include "serve/studio.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/files.h"
#include "core/json.h"
#include "core/system/temporary_folder.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/version.h"
#include "report/web_page.h"
#include "serve/ask_model.h"
#include "study/store.h"

namespace grm::serve {
namespace {

using nlohmann::ordered_json;

constexpr size_t kWarmModels = 3;
constexpr size_t kRunsAtOnce = 4;
constexpr double kReportSeconds = 120.0;
constexpr int64_t kMostListed = 500;
// What a run leaves behind, and anybody may keep.
const std::vector<std::string>& run_files() {
  static const std::vector<std::string> names = {"config.toml",  "env.json", "metrics.jsonl",
                                                 "summary.json", "log.txt",  "model.safetensors"};
  return names;
}

HttpReply json_reply(const std::string& text) {
  HttpReply reply;
  reply.body = text;
  return reply;
}

int64_t number_of(const std::string& text, int64_t otherwise, int64_t most) {
  int64_t value = otherwise;
  if (!text.empty() &&
      std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
    value = otherwise;
  }
  return std::clamp<int64_t>(value, 0, most);
}

// Every answer tells the browser to trust nothing but this server.
void harden(HttpReply& reply) {
  reply.headers.insert(
      reply.headers.end(),
      {{"Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
        "'self' "
        "data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
       {"X-Content-Type-Options", "nosniff"},
       {"Referrer-Policy", "no-referrer"},
       {"Cross-Origin-Opener-Policy", "same-origin"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Cache-Control", "no-store"}});
}

HttpHandler hardened(HttpHandler handler) {
  return [handler = std::move(handler)](const HttpRequest& request) {
    HttpReply reply = handler(request);
    harden(reply);
    return reply;
  };
}

std::string type_of_file(const std::string& name) {
  const std::string end = std::filesystem::path(name).extension().string();
  if (end == ".js") return "text/javascript; charset=utf-8";
  if (end == ".css") return "text/css; charset=utf-8";
  if (end == ".html") return "text/html; charset=utf-8";
  if (end == ".json") return "application/json";
  return end == ".safetensors" ? "application/octet-stream" : "text/plain; charset=utf-8";
}

// A page without results, so that the studio has something to stand on.
std::string empty_document(const std::string& folder, const std::string& note) {
  const ordered_json none = ordered_json::array();
  ordered_json document = {{"schema", "grm.report"},
                           {"version", 1},
                           {"title", "GRM studio"},
                           {"about", folder},
                           {"notes", none},
                           {"missing", none},
                           {"left_out", none},
                           {"sections", none},
                           {"runs", none},
                           {"datasets", none},
                           {"curves", none},
                           {"repeat",
                            {{"commands", none},
                             {"study_commands", none},
                             {"spec", ""},
                             {"configs", none},
                             {"sources", none},
                             {"versions", none},
                             {"data", none}}},
                           {"program", GRM_VERSION}};
  if (!note.empty()) document["notes"].push_back(note);
  return json_text(document);
}

}  // namespace

Studio::Studio(const StudioOptions& options)
    : options_(options), index_(options.folder), server_(options.http) {
  std::error_code code;
  if (!std::filesystem::is_directory(options.folder, code)) {
    fail(ErrorKind::io,
         "{}: there is no such folder; fix: name the folder of your runs, or train one first",
         options.folder);
  }
  if (options.write) starter_ = std::make_unique<RunStarter>(kRunsAtOnce);
  gate_.token = random_token();
  add_pages();
  add_routes();
  const int port = server_.bind_to(options.address, options.port);
  if (is_loopback(options.address)) gate_.hosts = loopback_hosts(port);
  base_ = base_address(options.address, port);
  server_.app().set_guard([this](const HttpRequest& request) {
    // The page itself is no secret. What it shows is; events and downloads cannot set a header.
    Gate gate = gate_;
    const bool page = request.path.rfind("/api/", 0) != 0;
    const bool in_address =
        request.method == "GET" && same_secret(request.param("token"), gate_.token);
    if (page || in_address) gate.token.clear();
    HttpReply reply = gate.check(request);
    if (reply.status != 200) harden(reply);
    return reply;
  });
  server_.start();
}

Studio::~Studio() {
  stop(0.0);
}

void Studio::stop(double seconds) {
  server_.stop(seconds, [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& worker : workers_) worker->stop();
  });
}

void Studio::add_pages() {
  for (const EmbeddedFile& file : report::web_files()) {
    const HttpHandler hand_out = hardened([&file](const HttpRequest&) {
      HttpReply reply;
      reply.type = type_of_file(file.name);
      reply.body = file.text;
      return reply;
    });
    server_.app().route("GET", "/" + file.name, hand_out);
    if (file.name == "index.html") server_.app().route("GET", "/", hand_out);
  }
}

void Studio::add_routes() {
  const auto add = [this](const char* method, const char* path, auto answer) {
    server_.app().route(method, path, hardened([this, answer](const HttpRequest& request) {
                          return (this->*answer)(request);
                        }));
  };
  add("GET", "/api/runs", &Studio::runs);
  add("GET", "/api/studies", &Studio::studies);
  add("GET", "/api/document", &Studio::document);
  add("GET", "/api/form", &Studio::form);
  add("GET", "/api/file", &Studio::file);
  add("GET", "/api/events", &Studio::events);
  add("POST", "/api/start", &Studio::start);
  add("POST", "/api/stop", &Studio::stop_job);
  const auto asks = [this](const char* path, bool explanation) {
    server_.app().route("POST", path, hardened([this, explanation](const HttpRequest& request) {
                          return ask(request, explanation);
                        }));
  };
  asks("/api/predict", false);
  asks("/api/explain", true);
}

HttpReply Studio::runs(const HttpRequest& request) {
  const std::vector<IndexedRun> all = index_.runs();
  std::vector<const IndexedRun*> matching;
  const std::string words = request.param("search"), state = request.param("state");
  for (const IndexedRun& run : all) {
    if (!state.empty() && run.state != state) continue;
    if (run.path.find(words) != std::string::npos) matching.push_back(&run);
  }
  // The newest first: names of folders begin with their time.
  std::stable_sort(matching.begin(), matching.end(), [](const IndexedRun* a, const IndexedRun* b) {
    return a->path.substr(a->path.rfind('/') + 1) > b->path.substr(b->path.rfind('/') + 1);
  });
  const auto offset = static_cast<size_t>(number_of(request.param("offset"), 0, 1'000'000));
  const auto limit = static_cast<size_t>(number_of(request.param("limit"), 100, kMostListed));
  std::string rows;
  for (size_t k = offset; k < matching.size() && k < offset + limit; ++k) {
    rows += (rows.empty() ? "" : ",\n") + index_.words_of(*matching[k]);
  }
  return json_reply(
      fmt::format("{{\"folder\":{},\"write\":{},\"all\":{},\"matching\":{},\"offset\":{},\"jobs\":{"
                  "},\"runs\":[{}]}}\n",
                  json_text(ordered_json(options_.folder)), options_.write, all.size(),
                  matching.size(), offset, jobs_text(), rows));
}

std::string Studio::jobs_text() const {
  ordered_json list = ordered_json::array();
  if (starter_) {
    for (const Job& job : starter_->jobs()) {
      list.push_back({{"id", job.id},
                      {"command", job.command},
                      {"state", job.state},
                      {"message", job.message}});
    }
  }
  return json_text(list);
}

HttpReply Studio::studies(const HttpRequest&) {
  ordered_json list = ordered_json::array();
  if (study::Store::exists(options_.database)) {
    for (const study::StudyRow& row :
         study::Store(options_.database, study::Open::read).studies()) {
      list.push_back({{"name", row.name}, {"about", row.about}, {"states", row.states}});
    }
  }
  return json_reply(json_text(ordered_json{{"studies", list}}) + "\n");
}

// The document is made by a process of its own: it may take long, and much memory.
HttpReply Studio::document(const HttpRequest& request) {
  const std::string path = request.param("path"), study = request.param("study");
  if (path.empty() && study.empty()) return json_reply(empty_document(options_.folder, ""));
  const TemporaryFolder folder("grm-studio");
  std::vector<std::string> words = {options_.program, "report"};
  if (!study.empty()) {
    words.insert(words.end(), {"--study=" + study, "--db=" + options_.database});
  } else {
    const std::vector<IndexedRun> all = index_.runs();
    std::string below;
    for (const IndexedRun& run : all) {
      if (run.path == path || run.path.rfind(path + "/", 0) == 0)
        below = options_.folder + "/" + path;
    }
    if (below.empty()) return error_reply(404, "data", "there are no runs below this path");
    words.push_back(below);
  }
  if (request.param("data") != "1") words.emplace_back("--no-data");
  const std::string out = folder.file("document.json");
  words.insert(words.end(),
               {"--out=" + folder.file("report.html"), "--document=" + out, "--quiet"});
  const std::string fault = run_program(words, kReportSeconds);
  std::error_code code;
  if (!fault.empty() || !std::filesystem::exists(out, code)) {
    return json_reply(empty_document(options_.folder, fault));
  }
  return json_reply(read_file(out));
}

HttpReply Studio::file(const HttpRequest& request) {
  const std::string run = index_.find(request.param("run")), name = request.param("name");
  const auto& names = run_files();
  if (run.empty() || std::find(names.begin(), names.end(), name) == names.end()) {
    return error_reply(404, "data", "a run of the list, and one of " + joined(names));
  }
  std::error_code code;
  if (!std::filesystem::is_regular_file(run + "/" + name, code)) {
    return error_reply(404, "data", "this run has no " + name);
  }
  HttpReply reply;
  reply.type = type_of_file(name);
  reply.body = read_file(run + "/" + name);
  reply.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
  return reply;
}

std::shared_ptr<ModelWorker> Studio::worker_of(const std::string& path) {
  const std::string folder = index_.find(path);
  if (folder.empty()) fail(ErrorKind::config, "'run' must be a run of the list");
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto each = workers_.begin(); each != workers_.end(); ++each) {
    if ((*each)->path() != folder) continue;
    workers_.splice(workers_.begin(), workers_, each);
    workers_.front()->reload(false);
    return workers_.front();
  }
  workers_.push_front(
      std::make_shared<ModelWorker>(path, folder, "cpu", ModelWorker::Limits{16, 8, 300.0}));
  const std::shared_ptr<ModelWorker> fresh = workers_.front();
  if (workers_.size() > kWarmModels) workers_.pop_back();
  return fresh;
}

HttpReply Studio::ask(const HttpRequest& request, bool explanation) {
  const std::shared_ptr<ModelWorker> worker = worker_of(request.param("run"));
  const Body body(request);
  return explanation ? ask_explanation(*worker, request, body)
                     : ask_prediction(*worker, request, body);
}

}  // namespace grm::serve
