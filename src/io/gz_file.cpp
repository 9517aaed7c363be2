#include "io/gz_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "grm/core/error.h"

namespace grm::io {

GzFile open_gz(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail(ErrorKind::io, "{}: is a folder, a file is needed", path);
  }
  GzFile file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  return file;
}

}  // namespace grm::io
