#include "core/system/temporary_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "grm/core/error.h"

namespace grm {

TemporaryFolder::TemporaryFolder(const std::string& prefix)
    : path_(std::filesystem::temp_directory_path().string() + "/" + prefix + "-XXXXXX") {
  if (!mkdtemp(path_.data())) fail(ErrorKind::io, "{}: cannot make a folder", path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace grm
