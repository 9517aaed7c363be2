// Whether data is the one that a run was made with.
#include <filesystem>

#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/data/own_data.h"
#include "train/environment.h"

namespace grm {
namespace {

constexpr size_t kNamed = 5;  // files in a message

}  // namespace

Hashes recorded_hashes(const std::string& environment, const std::string& origin) {
  const auto env = try_json<nlohmann::json>(environment);
  Hashes hashes;
  bool good = env.is_object() && env.contains("data_hashes") &&
              (env["data_hashes"].is_object() || env["data_hashes"].is_null());
  if (good) {
    for (const auto& [file, hash] : env["data_hashes"].items()) {
      good = good && hash.is_string();
      if (good) hashes[file] = hash.get<std::string>();
    }
  }
  if (!good) {
    fail(ErrorKind::data,
         "{}: damaged: it does not say which data the run was made with; start a new run", origin);
  }
  return hashes;
}

std::vector<DataChange> data_changes(const Hashes& then, const Hashes& now) {
  std::vector<DataChange> changes;
  for (const auto& [file, hash] : then) {
    const auto found = now.find(file);
    if (found == now.end()) {
      changes.push_back({file, "gone"});
    } else if (found->second != hash) {
      changes.push_back({file, "changed"});
    }
  }
  for (const auto& [file, hash] : now) {
    if (!then.count(file)) changes.push_back({file, "new"});
  }
  return changes;
}

std::string changes_text(const std::vector<DataChange>& changes) {
  std::string text;
  for (size_t k = 0; k < std::min(kNamed, changes.size()); ++k) {
    text += (k == 0 ? "" : ", ") + changes[k].text();
  }
  if (changes.size() > kNamed) text += fmt::format(" and {} more", changes.size() - kNamed);
  return text;
}

std::vector<DataChange> DataOnDisk::changes(const std::string& dataset, const Hashes& then) {
  namespace fs = std::filesystem;
  std::error_code code;
  fs::path folder = context_.root;
  if (is_own_data(dataset)) {
    folder = fs::is_directory(dataset, code) ? fs::path(dataset) : fs::path(dataset).parent_path();
  }
  Hashes now;
  for (const auto& [file, hash] : then) {
    const fs::path path = folder / file;
    const auto [known, fresh] = known_.try_emplace(path.string());
    if (fresh && fs::is_regular_file(path, code)) {
      try {
        known->second = sha256_file(path.string());
      } catch (const Error&) {
        // Not readable for us: not at hand.
      }
    }
    now[file] = known->second.empty() ? hash : known->second;
  }
  return data_changes(then, now);
}

}  // namespace grm
