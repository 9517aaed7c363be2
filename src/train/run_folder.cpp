#include "grm/train/run_folder.h"

#include <dlfcn.h>
#include <torch/types.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "grm/core/clock.h"
#include "grm/core/error.h"
#include "grm/core/files.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"
#include "grm/version.h"

namespace grm {
namespace fs = std::filesystem;

bool RunFolder::has(const std::string& name) const {
  std::error_code code;
  return !path_.empty() && fs::exists(file(name), code);
}

RunFolder create_run_folder(const std::string& root, const RunConfig& config, int64_t seed) {
  const std::string parent =
      root + "/" + config.dataset.entry().short_name() + "/" + config.method_name();
  std::error_code code;
  fs::create_directories(parent, code);
  if (code) fail(ErrorKind::io, "{}: folder cannot be made: {}", parent, code.message());
  // Filled under a hidden name and then renamed: a run folder has its configuration from the moment
  // it exists, and two programs never share one.
  const std::string hidden = fmt::format("{}/.new-{}-{}", parent, getpid(), seed);
  fs::remove_all(hidden, code);
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

// A run may go on where it did not begin, so the device does not tell runs apart here.
std::string without_device(const std::string& config) {
  const size_t at = config.find("\ndevice = ", config.find("\n[train]\n"));
  if (at == std::string::npos) return config;
  const size_t end = config.find('\n', at + 1);
  return config.substr(0, at) + (end == std::string::npos ? "" : config.substr(end));
}

}  // namespace

RunFolder find_run_folder(const std::string& root, const RunConfig& config, int64_t seed) {
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
  for (const std::string& path : candidates) {
    const RunFolder folder(path);
    if (folder.has("config.toml") &&
        without_device(read_file(folder.file("config.toml"))) == wanted) {
      return folder;
    }
  }
  return RunFolder("");
}

std::string blas_name() {
  // OpenBLAS exports a function that describes its build; other libraries do not have it.
  using Describe = char* (*)();
  if (auto describe = reinterpret_cast<Describe>(dlsym(RTLD_DEFAULT, "openblas_get_config"))) {
    return describe();
  }
  // "MKL-DNN", which every torch names, is another library.
  if (at::show_config().find("Math Kernel Library") != std::string::npos) return "MKL";
  return "unknown";
}

std::string blas_core() {
  using Describe = char* (*)();
  if (auto describe = reinterpret_cast<Describe>(dlsym(RTLD_DEFAULT, "openblas_get_corename"))) {
    return describe();
  }
  return "";
}

std::string environment_json(const Task& task) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string device = describe_device(compute_device());
  const nlohmann::ordered_json env = {{"grm", GRM_VERSION},       {"git", GRM_GIT_ID},
                                      {"compiler", GRM_COMPILER}, {"torch", TORCH_VERSION},
                                      {"blas", blas_name()},      {"threads", threads()},
                                      {"device", device},         {"host", host},
                                      {"started", timestamp()},   {"data_hashes", task.hashes},
                                      {"missing", task.missing},  {"notes", task.notes}};
  return env.dump(2) + "\n";
}

}  // namespace grm
