// The studio's runs: the form, start and stop, and what goes on as events.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "core/clock.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/data/own_data.h"
#include "grm/train/config.h"
#include "serve/studio.h"

namespace grm::serve {
namespace {

using nlohmann::ordered_json;

constexpr int kFollowers = 32;            // pages that follow at once
constexpr int64_t kMostAtOnce = 1 << 20;  // bytes of a log that are read at a time

void add_options(ordered_json& list, const char* section, const OptionList& options) {
  for (const Option& option : options.options()) {
    list.push_back({{"section", section},
                    {"key", option.key},
                    {"type", option.type},
                    {"help", option.help},
                    {"default", option.get()},
                    {"allowed", option.allowed}});
  }
}

std::string text_of(const ordered_json& body, const char* key) {
  if (!body.contains(key)) return "";
  if (!body[key].is_string()) fail(ErrorKind::config, "'{}' must be a text", key);
  return body[key].get<std::string>();
}

ordered_json object_of(const HttpRequest& request) {
  ordered_json body = ordered_json(ordered_json::value_t::discarded);
  if (request.header("content-type").rfind("application/json", 0) == 0) {
    body = try_json<ordered_json>(request.body);
  }
  if (!body.is_object()) fail(ErrorKind::config, "the body must be a JSON object");
  return body;
}

// The lines that were added to a file, whole ones only.
class Follower {
 public:
  explicit Follower(std::string path, bool from_end) : path_(std::move(path)) {
    std::error_code code;
    const auto size = std::filesystem::file_size(path_, code);
    // Enough for the last line of what is there already.
    if (from_end && !code && size > 4096) at_ = static_cast<int64_t>(size) - 4096;
  }
  std::string last_line() {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(at_);
    std::string text(static_cast<size_t>(kMostAtOnce), '\0');
    file.read(text.data(), kMostAtOnce);
    text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    const size_t end = text.rfind('\n');
    if (end == std::string::npos) return "";
    at_ += static_cast<int64_t>(end) + 1;
    const size_t begin = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    return text.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1));
  }

 private:
  std::string path_;
  int64_t at_ = 0;
};

std::string event(const char* type, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", type, data);
}

// What one page has been told.
class Events {
 public:
  Events(RunIndex& index, const std::function<std::string()>& jobs) : index_(index), jobs_(jobs) {}

  std::string next() {
    std::string text;
    const std::vector<IndexedRun> runs = index_.runs();
    std::string states;
    for (const IndexedRun& run : runs) {
      if (run.state != "done") states += run.path + run.state + "\n";
    }
    const std::string all = fmt::format("{} {}\n{}", runs.size(), jobs_(), states);
    if (all != told_) {
      text += event("runs", json_text(ordered_json{{"all", runs.size()}}));
      told_ = all;
    }
    std::map<std::string, Follower> still;
    for (const IndexedRun& run : runs) {
      const auto known = followed_.find(run.path);
      if (run.state != "running") {
        if (known != followed_.end()) text += progress(run, known->second);
        continue;
      }
      auto& follower =
          still
              .emplace(run.path,
                       known != followed_.end()
                           ? known->second
                           : Follower(index_.folder() + "/" + run.path + "/metrics.jsonl", true))
              .first->second;
      text += progress(run, follower);
    }
    followed_ = std::move(still);
    return text;
  }

 private:
  std::string progress(const IndexedRun& run, Follower& follower) {
    const auto line = try_json<ordered_json>(follower.last_line());
    if (!line.is_object()) return "";
    ordered_json data = {{"path", run.path}, {"state", run.state}};
    for (const char* key : {"epoch", "seconds", "loss", "validation"}) {
      if (line.contains(key)) data[key] = line[key];
    }
    return event("progress", json_text(data));
  }

  RunIndex& index_;
  std::function<std::string()> jobs_;
  std::string told_;
  std::map<std::string, Follower> followed_;
};

}  // namespace

HttpReply Studio::form(const HttpRequest& request) const {
  ordered_json names = ordered_json::array(), rows = ordered_json::array();
  for (const DatasetEntry& entry : datasets()) {
    names.push_back({{"name", entry.name}, {"level", to_string(entry.level)}});
  }
  for (const MethodEntry& entry : methods()) {
    ordered_json presets = ordered_json::array();
    for (const Preset& preset : entry.presets) presets.push_back(preset.name);
    rows.push_back({{"name", entry.name},
                    {"level", to_string(entry.level)},
                    {"summary", entry.summary},
                    {"presets", presets}});
  }
  ordered_json answer = {{"write", options_.write}, {"datasets", names}, {"methods", rows}};
  if (!request.param("dataset").empty() && !request.param("method").empty()) {
    RunConfig config(request.param("dataset"), request.param("method"), request.param("preset"));
    ordered_json options = ordered_json::array();
    OptionList train;
    config.train.declare(train);
    add_options(options, "train", train);
    add_options(options, "method", config.method.options());
    add_options(options, "dataset", config.dataset.options());
    answer["options"] = options;
  }
  HttpReply reply;
  reply.body = json_text(answer) + "\n";
  return reply;
}

HttpReply Studio::start(const HttpRequest& request) {
  if (!starter_) {
    return error_reply(403, "write", "this studio only shows; start it with --write to start runs");
  }
  const ordered_json body = object_of(request);
  const std::string dataset = text_of(body, "dataset"), method = text_of(body, "method");
  const std::string preset = text_of(body, "preset");
  // Everything is checked as the command line would, before a process is made.
  RunConfig config(dataset, method, preset);
  std::vector<std::string> words = {
      options_.program,           "train",
      "--dataset=" + dataset,     "--method=" + method + (preset.empty() ? "" : ":" + preset),
      "--out=" + options_.folder, "--quiet"};
  if (body.contains("set")) {
    if (!body["set"].is_object()) fail(ErrorKind::config, "'set' is an object of options");
    for (const auto& [key, value] : body["set"].items()) {
      if (!value.is_string()) fail(ErrorKind::config, "values of options are texts");
      config.set(key, value.get<std::string>());
      words.push_back("--set=" + key + "=" + value.get<std::string>());
    }
  }
  const int64_t id = starter_->start(words);
  HttpReply reply;
  reply.body = json_text(ordered_json{{"id", id}}) + "\n";
  return reply;
}

HttpReply Studio::stop_job(const HttpRequest& request) {
  if (!starter_) {
    return error_reply(403, "write", "this studio only shows; start it with --write to stop runs");
  }
  const ordered_json body = object_of(request);
  if (!body.contains("id") || !body["id"].is_number_integer() ||
      !starter_->stop(body["id"].get<int64_t>())) {
    return error_reply(404, "config", "no such run goes on");
  }
  HttpReply reply;
  reply.body = "{\"stopping\":true}\n";
  return reply;
}

HttpReply Studio::events(const HttpRequest&) {
  if (++followers_ > kFollowers) {
    --followers_;
    return error_reply(503, "busy", "too many pages follow this studio");
  }
  // Counted down whether or not the stream ever begins.
  const std::shared_ptr<void> counted(nullptr, [this](void*) { --followers_; });
  HttpReply reply;
  reply.type = "text/event-stream";
  reply.stream = [this, counted](const Push& push) {
    Events told(index_, [this] { return jobs_text(); });
    Stopwatch quiet;
    if (!push("retry: 2000\n\n")) return;
    while (!server_.stopping()) {
      std::string text = told.next();
      if (text.empty() && quiet.seconds() > 5.0) text = ": still here\n\n";
      if (!text.empty()) {
        if (!push(text)) return;
        quiet = Stopwatch();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  };
  return reply;
}

}  // namespace grm::serve
