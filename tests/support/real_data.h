#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace grm::test {

/// Folder of the published datasets: $GRM_DATA, if it is set and exists.
inline std::optional<std::string> real_data_root() {
  const char* root = std::getenv("GRM_DATA");
  if (root == nullptr || *root == '\0' || !std::filesystem::is_directory(root)) return std::nullopt;
  return std::string(root);
}

}  // namespace grm::test
