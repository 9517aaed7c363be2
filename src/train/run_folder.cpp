#include "train/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/clock.h"
#include "core/files.h"
#include "grm/core/error.h"

namespace grm {
namespace fs = std::filesystem;

bool RunFolder::has(const std::string& name) const {
  std::error_code code;
  return !path_.empty() && fs::exists(file(name), code);
}

std::vector<DataChange> RunFolder::changes(const Hashes& now) const {
  const std::string path = file("env.json");
  if (!has("env.json")) {
    fail(ErrorKind::data, "{}: is missing, so nobody knows the run's data; start a new run", path);
  }
  return data_changes(recorded_hashes(read_file(path), path), now);
}

RunFolder create_run_folder(const std::string& root, const RunConfig& config, int64_t seed) {
  const std::string parent =
      root + "/" + config.dataset.entry().short_name() + "/" + config.method_name();
  std::error_code code;
  fs::create_directories(parent, code);
  if (code) fail(ErrorKind::io, "{}: folder cannot be made: {}", parent, code.message());
  // Filled under a hidden name and then renamed: a run folder has its configuration from the moment
  // it exists, and two programs never share one.
  const std::string hidden = fmt::format("{}/.new-{}-{}", parent, getpid(), unpredictable());
  if (!fs::create_directory(hidden, code)) {
    fail(ErrorKind::io, "{}: folder cannot be made: {}", hidden, code.message());
  }
  write_file_atomic(hidden + "/config.toml", config.to_toml(seed));
  const std::string base = fmt::format("{}/{}-{}", parent, timestamp(), seed);
  std::string path = base;
  for (int copy = 2;; ++copy) {
    code.clear();
    if (!fs::exists(path)) fs::rename(hidden, path, code);
    if (!fs::exists(hidden)) return RunFolder(path);
    if (code && !fs::exists(path)) {
      fail(ErrorKind::io, "{}: folder cannot be made: {}", path, code.message());
    }
    path = fmt::format("{}.{}", base, copy);
  }
}

namespace {

// A run may resume where it did not begin, so the device does not tell runs apart here.
std::string without_device(const std::string& config) {
  const size_t at = config.find("\ndevice = ", config.find("\n[train]\n"));
  if (at == std::string::npos) return config;
  const size_t end = config.find('\n', at + 1);
  return config.substr(0, at) + (end == std::string::npos ? "" : config.substr(end));
}

bool made_with(const RunFolder& folder, const Hashes& data) {
  if (!folder.has("env.json")) return !folder.finished();  // killed before its first line
  try {
    return folder.changes(data).empty();
  } catch (const Error&) {
    return false;  // damaged
  }
}

}  // namespace

RunFolder find_run_folder(const std::string& root, const RunConfig& config, int64_t seed,
                          const Hashes* data) {
  const fs::path parent =
      fs::path(root) / config.dataset.entry().short_name() / config.method_name();
  const std::string wanted = without_device(config.to_toml(seed));
  std::vector<std::string> candidates;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(parent, code)) {
    const std::string name = entry.path().filename().string();
    if (name[0] != '.') candidates.push_back(entry.path().string());
  }
  std::sort(candidates.rbegin(), candidates.rend());  // names begin with the time: newest first
  RunFolder newest("");
  for (const std::string& path : candidates) {
    const RunFolder folder(path);
    if (!folder.has("config.toml") ||
        without_device(read_file(folder.file("config.toml"))) != wanted) {
      continue;
    }
    if (!data || made_with(folder, *data)) return folder;
    if (newest.path().empty()) newest = folder;
  }
  return newest;
}

}  // namespace grm
