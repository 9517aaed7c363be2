#include "data/own/locate.h"

#include <algorithm>
#include <filesystem>

#include "data/own/raw_domain.h"

namespace grm::own {
namespace fs = std::filesystem;

DomainFiles find_domain(const std::string& folder, const std::string& name, const CsvNames& csv) {
  DomainFiles files;
  files.name = name;
  std::error_code ignored;
  const std::string npz = folder + "/" + name + ".npz", tables = folder + "/" + name;
  if (fs::is_regular_file(npz, ignored)) {
    files.npz = npz;
  } else if (!existing_table(tables, csv.nodes).empty() || fs::is_directory(tables, ignored)) {
    files.folder = tables;
  }
  return files;
}

std::vector<std::string> domains_in(const std::string& folder, const CsvNames& csv) {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const fs::path& path = entry.path();
    if (path.filename().string()[0] == '.') continue;
    if (path.extension() == ".npz") {
      names.push_back(path.stem().string());
    } else if (!existing_table(path.string(), csv.nodes).empty()) {
      names.push_back(path.filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> tables_in(const std::string& folder, const CsvNames& csv, Level level) {
  std::vector<std::string> paths;
  std::vector<std::string> names = {csv.nodes, csv.edges};
  if (level == Level::graph) names.push_back(csv.graphs);
  if (!csv.features.empty()) names.push_back(csv.features);
  for (const std::string& name : names) {
    const std::string path = existing_table(folder, name);
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

}  // namespace grm::own
