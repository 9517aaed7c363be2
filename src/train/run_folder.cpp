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
#include "grm/version.h"

namespace grm {
namespace fs = std::filesystem;

bool RunFolder::has(const std::string& name) const {
  std::error_code code;
  return !path_.empty() && fs::exists(file(name), code);
}

RunFolder create_run_folder(const std::string& root, const RunConfig& config, int64_t seed) {
  const std::string parent = root + "/" + config.dataset_name() + "/" + config.method_name();
  std::error_code code;
  fs::create_directories(parent, code);
  if (code) fail(ErrorKind::io, "{}: folder cannot be made: {}", parent, code.message());
  const std::string base = fmt::format("{}/{}-{}", parent, timestamp(), seed);
  std::string path = base;
  // create_directory reports whether it made the folder, so two programs never share one.
  for (int copy = 2; !fs::create_directory(path, code); ++copy) {
    if (code) fail(ErrorKind::io, "{}: folder cannot be made: {}", path, code.message());
    path = fmt::format("{}.{}", base, copy);
  }
  const RunFolder folder(path);
  write_file_atomic(folder.file("config.toml"), config.to_toml(seed));
  return folder;
}

RunFolder find_run_folder(const std::string& root, const RunConfig& config, int64_t seed) {
  const fs::path parent = fs::path(root) / config.dataset_name() / config.method_name();
  const std::string wanted = config.to_toml(seed);
  std::vector<std::string> candidates;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(parent, code)) {
    candidates.push_back(entry.path().string());
  }
  std::sort(candidates.rbegin(), candidates.rend());  // names begin with the time: newest first
  for (const std::string& path : candidates) {
    const RunFolder folder(path);
    if (folder.has("config.toml") && read_file(folder.file("config.toml")) == wanted) {
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
  const std::string show = at::show_config();
  if (show.find("MKL") != std::string::npos) return "MKL";
  return "unknown";
}

std::string environment_json(const Task& task) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const nlohmann::ordered_json env = {{"grm", GRM_VERSION},       {"git", GRM_GIT_ID},
                                      {"compiler", GRM_COMPILER}, {"torch", TORCH_VERSION},
                                      {"blas", blas_name()},      {"threads", threads()},
                                      {"device", "cpu"},          {"host", host},
                                      {"started", timestamp()},   {"data_hashes", task.hashes},
                                      {"missing", task.missing},  {"notes", task.notes}};
  return env.dump(2) + "\n";
}

}  // namespace grm
