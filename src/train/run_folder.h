#pragma once

#include <string>

#include "grm/train/config.h"
#include "train/environment.h"

namespace grm {

/// What a run leaves behind: runs/<dataset>/<method>/<time>-<seed>/ with config.toml, env.json,
/// metrics.jsonl, summary.json, model.safetensors, state.safetensors and log.txt. summary.json is
/// written last: a folder that has it is finished.
class RunFolder {
 public:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  bool has(const std::string& name) const;
  bool finished() const { return has("summary.json"); }
  /// What became of the data that the run was made with. Error(data) if env.json does not say.
  std::vector<DataChange> changes(const Hashes& now) const;

 private:
  std::string path_;
};

/// Makes a fresh folder under `root` for this configuration and seed, and writes config.toml.
RunFolder create_run_folder(const std::string& root, const RunConfig& config, int64_t seed);

/// The newest folder under `root` whose config.toml equals this configuration and seed, finished
/// or not; an empty path if there is none. With `data` given, one that was made with that data
/// comes before newer ones that were not.
RunFolder find_run_folder(const std::string& root, const RunConfig& config, int64_t seed,
                          const Hashes* data = nullptr);

/// Name and version of the BLAS library that libtorch multiplies with, as far as it tells.
std::string blas_name();

/// The core that OpenBLAS has kernels for and uses here, "SkylakeX" or "Zen" for example; empty for
/// other libraries. Products have the same bits on one core type only.
std::string blas_core();

}  // namespace grm
