#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/files.h"

namespace grm::fuzz {

/// A folder that lives as long as this does.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path().string() + "/grm-fuzz-" +
              std::to_string(getpid())) {
    std::filesystem::remove_all(path_);  // of a process of the same number that crashed
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Several files in one input, each behind a line "==name"; those that are not there stay unwritten
/// unless `empty` asks for empty ones.
inline void write_parts(const std::string& input, const Folder& folder, const std::string& prefix,
                        const std::vector<std::string>& names, bool empty) {
  const std::string all = "\n" + read_file(input);
  for (const std::string& name : names) {
    const std::string head = "\n==" + name + "\n";
    const size_t at = all.find(head);
    if (at == std::string::npos && !empty) continue;
    const size_t begin = at == std::string::npos ? all.size() : at + head.size();
    const size_t end = std::min(all.find("\n==", begin), all.size());
    std::ofstream(folder.file(prefix + name), std::ios::binary) << all.substr(begin, end - begin);
  }
}

}  // namespace grm::fuzz
