#include "study/dataset_names.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "grm/core/error.h"
#include "grm/data/dataset.h"
#include "grm/data/own_data.h"

namespace grm::study {
namespace {

namespace fs = std::filesystem;

// The parts of the whole path of a folder of own data, or of a description with another name.
std::vector<std::string> parts_of(const std::string& name) {
  std::error_code ignored;
  fs::path path = fs::absolute(name, ignored).lexically_normal();
  if (path.filename().empty() || path.filename() == "dataset.toml") path = path.parent_path();
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  return parts;
}

std::string end_of(const std::vector<std::string>& parts, size_t count) {
  std::string text;
  for (size_t k = parts.size() - std::min(count, parts.size()); k < parts.size(); ++k) {
    text += (text.empty() || text == "/" ? "" : "/") + parts[k];
  }
  return text;
}

std::string own_name(const std::string& name) {
  try {
    return find_dataset(name).short_name();
  } catch (const Error&) {
    const std::string folder = end_of(parts_of(name), 1);
    return folder.empty() ? name : folder;
  }
}

}  // namespace

std::vector<std::string> dataset_labels(const std::vector<std::string>& names,
                                        const std::set<std::string>& taken) {
  std::set<std::string> others = taken;
  for (const DatasetEntry& entry : datasets()) others.insert(entry.name);
  std::map<std::string, std::set<std::vector<std::string>>> folders;  // by name
  for (const std::string& name : names) {
    if (is_own_data(name)) folders[own_name(name)].insert(parts_of(name));
  }
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    labels.push_back(name);
    if (!is_own_data(name)) continue;
    const std::string base = own_name(name);
    const std::set<std::vector<std::string>>& same = folders[base];
    labels.back() = base;
    if (same.size() == 1 && !others.count(base)) continue;
    // As many parts of the paths as tell all folders of this name apart.
    size_t count = 0;
    std::set<std::string> ends;
    while (ends.size() < same.size()) {
      ends.clear();
      ++count;
      for (const auto& parts : same) ends.insert(end_of(parts, count));
    }
    labels.back() = fmt::format("{} ({})", base, end_of(parts_of(name), count));
  }
  return labels;
}

}  // namespace grm::study
