#include "grm/data/own_data.h"

#include <torch/types.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <mutex>

#include "data/mapped/read.h"
#include "data/own/description.h"
#include "data/own/entry.h"
#include "data/own/load.h"
#include "grm/core/error.h"

namespace grm {
namespace {

class OwnDataset final : public Dataset {
 public:
  explicit OwnDataset(std::string path) : path_(std::move(path)) {}
  Task load(const DataContext& context) const override {
    if (mapped::is_mapped(path_)) {
      return mapped::load(path_, {context.processes, context.row_cache_mib});
    }
    own::Problems problems(false);
    return own::load(path_, context.allow_missing, problems);
  }

 private:
  std::string path_;
};

}  // namespace

bool is_own_data(const std::string& name) {
  const std::vector<DatasetEntry>& known = datasets();
  if (std::any_of(known.begin(), known.end(),
                  [&](const DatasetEntry& entry) { return entry.name == name; })) {
    return false;
  }
  const std::filesystem::path path(name);
  std::error_code ignored;
  return name.find('/') != std::string::npos || path.extension() == ".toml" ||
         path.extension() == ".npz" ||
         (!name.empty() && (std::filesystem::is_directory(path, ignored) ||
                            (own::is_table(name) && std::filesystem::exists(path, ignored))));
}

Task load_own(const std::string& path) {
  if (mapped::is_mapped(path)) return mapped::load(path);
  own::Problems problems(false);
  return own::load(path, false, problems);
}

std::vector<Problem> check_own(const std::string& path, bool allow_missing,
                               std::vector<Problem>* warnings) {
  if (mapped::is_mapped(path)) {
    try {
      mapped::verify(path);
      return {};
    } catch (const Error& error) {
      return {{path, 0, 0, error.what(), "write the folder again, or bring the file back"}};
    }
  }
  own::Problems problems(true);
  try {
    own::load(path, allow_missing, problems);
  } catch (const own::Stopped&) {
    // The reasons are in the list.
  }
  if (warnings) *warnings = problems.warnings();
  return problems.take();
}

OwnHead read_own_head(const std::string& path) {
  if (mapped::is_mapped(path)) return {mapped::name_of(path), Level::node};
  own::Problems problems(false);
  const own::Description d = own::read_description(path, own::Purpose::training, problems);
  return {d.name, d.level};
}

const DatasetEntry& own_entry(const std::string& path) {
  static std::mutex mutex;
  static std::deque<DatasetEntry> entries;  // whoever holds a reference keeps it
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  const OwnHead head = read_own_head(name);
  const std::lock_guard<std::mutex> lock(mutex);
  for (const DatasetEntry& entry : entries) {
    if (entry.name == name && entry.label == head.name && entry.level == head.level) return entry;
  }
  entries.push_back({name, "own data", "", [name] { return std::make_unique<OwnDataset>(name); },
                     head.level, head.name});
  return entries.back();
}

}  // namespace grm
