#include "serve/run_index.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "grm/train/config.h"

namespace grm::serve {
namespace {

using nlohmann::ordered_json;

constexpr int kDepth = 6;
constexpr size_t kMostRuns = 200'000;
constexpr size_t kMostKept = 20'000;
constexpr int64_t kFresh = 15;  // seconds since a line of a run that goes on

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int64_t changed_at(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 ? static_cast<int64_t>(about.st_mtime) : -1;
}

std::string bare(const std::string& text) {
  const bool quotes = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quotes ? text.substr(1, text.size() - 2) : text;
}

void add_config(const std::string& folder, ordered_json& row) {
  const std::string path = folder + "/config.toml";
  const ConfigSections sections = config_sections(read_file(path), path);
  const auto text = [&](const char* section, const char* key) -> ordered_json {
    const auto found = sections.find(section);
    if (found == sections.end() || found->second.count(key) == 0) return nullptr;
    return bare(found->second.at(key));
  };
  row["dataset"] = text("dataset", "name");
  row["method"] = text("method", "name");
  row["preset"] = text("method", "preset");
  row["epochs"] = text("train", "epochs");
}

void add_summary(const std::string& folder, ordered_json& row) {
  const auto summary = try_json<ordered_json>(read_file(folder + "/summary.json"));
  if (!summary.is_object()) return;
  for (const char* key : {"seed", "epochs", "seconds_per_epoch", "peak_memory_mib"}) {
    if (summary.contains(key)) row[key] = summary[key];
  }
  if (!summary.contains("chosen") || !summary["chosen"].is_object()) return;
  for (const char* rule : {"val", "last"}) {
    if (!summary["chosen"].contains(rule) || !summary["chosen"][rule].is_object()) continue;
    const ordered_json& chosen = summary["chosen"][rule];
    if (chosen.contains("validation")) row["validation"] = chosen["validation"];
    if (chosen.contains("epoch")) row["epoch"] = chosen["epoch"];
    return;
  }
}

}  // namespace

RunIndex::RunIndex(std::string folder) : folder_(std::move(folder)) {}

void RunIndex::walk(const std::string& from, int depth, std::vector<IndexedRun>& found) const {
  if (depth > kDepth || found.size() >= kMostRuns) return;
  const std::string here = from.empty() ? folder_ : folder_ + "/" + from;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(here.c_str()), closedir);
  if (!entries) return;
  std::vector<std::string> below;
  bool is_run = false, done = false;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name == "config.toml") is_run = true;
    if (name == "summary.json") done = true;
    // Links are not followed: they may lead out, or round.
    if (entry->d_type == DT_DIR && name.front() != '.') below.push_back(name);
  }
  if (is_run && !from.empty()) {
    IndexedRun run{from, done ? "done" : "unfinished", 0};
    run.changed = changed_at(here + (done ? "/summary.json" : "/metrics.jsonl"));
    if (!done && std::time(nullptr) - run.changed < kFresh) run.state = "running";
    found.push_back(std::move(run));
    return;
  }
  for (const std::string& name : below)
    walk(from.empty() ? name : from + "/" + name, depth + 1, found);
}

void RunIndex::look() {
  const Stopwatch watch;
  std::vector<IndexedRun> found;
  walk("", 0, found);
  std::sort(found.begin(), found.end(),
            [](const IndexedRun& a, const IndexedRun& b) { return a.path < b.path; });
  runs_ = std::move(found);
  took_ = watch.seconds();
  looked_ = steady_seconds();
}

std::vector<IndexedRun> RunIndex::runs() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (steady_seconds() - looked_ > std::max(1.0, 20 * took_)) look();
  return runs_;
}

std::string RunIndex::find(const std::string& path) {
  const std::vector<IndexedRun> all = runs();
  const auto found = std::lower_bound(
      all.begin(), all.end(), path,
      [](const IndexedRun& run, const std::string& text) { return run.path < text; });
  return found == all.end() || found->path != path ? "" : folder_ + "/" + path;
}

std::string RunIndex::words_of(const IndexedRun& run) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto kept = kept_.find(run.path);
    if (kept != kept_.end() && kept->second.changed == run.changed) return kept->second.text;
  }
  ordered_json row = {{"path", run.path}, {"state", run.state}};
  const std::string folder = folder_ + "/" + run.path;
  try {
    add_config(folder, row);
    if (run.state == "done") add_summary(folder, row);
  } catch (const std::exception& error) {
    row["problem"] = error.what();
  }
  std::string text = json_text(row);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (kept_.size() >= kMostKept) kept_.clear();
  if (run.state == "done") kept_[run.path] = {run.changed, text};
  return text;
}

}  // namespace grm::serve
