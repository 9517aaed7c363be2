#include "grm/core/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "grm/core/error.h"

namespace grm {
namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) fail(ErrorKind::io, "{}: is a folder, a file is needed", path);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  std::string content;
  in.seekg(0, std::ios::end);
  if (const std::streamoff size = in.tellg(); size >= 0) {
    in.seekg(0);
    content.resize(static_cast<size_t>(size));
    if (!in.read(content.data(), size)) fail(ErrorKind::io, "{}: reading failed", path);
  } else {  // a pipe: its length is known only at its end
    in.clear();
    content.assign(std::istreambuf_iterator<char>(in), {});
  }
  return content;
}

void write_file_atomic(const std::string& path, std::string_view content) {
  std::error_code code;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) {
    fs::create_directories(parent, code);
    if (code) {
      fail(ErrorKind::io, "{}: folder cannot be made: {}", parent.string(), code.message());
    }
  }
  // Process and count keep two writers of the same file from sharing a temporary name.
  static std::atomic<int> g_count{0};
  const std::string temporary = fmt::format("{}.tmp{}-{}", path, getpid(), g_count++);
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    fail(ErrorKind::io, "{}: cannot be written: {}", temporary, std::strerror(errno));
  }
  const auto give_up = [&](const char* what) {
    const int reason = errno;
    close(file);
    unlink(temporary.c_str());
    fail(ErrorKind::io, "{}: {} failed: {} (the old content, if any, is untouched)", path, what,
         std::strerror(reason));
  };
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = write(file, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) give_up("writing");
    done += static_cast<size_t>(n);
  }
  if (fsync(file) != 0) give_up("flushing to disk");
  if (close(file) != 0 || rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary.c_str());
    fail(ErrorKind::io, "{}: renaming the finished file failed: {}", path, std::strerror(reason));
  }
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = rest.substr(0, colon) + "/" + name;
    if (colon > 0 && access(candidate.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(candidate)) {
      return candidate;
    }
    rest.erase(0, colon + 1);
  }
  return "";
}

std::string cache_folder() {
  if (const char* set = std::getenv("GRM_CACHE"); set && *set) return set;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) {
    return std::string(xdg) + "/grm";
  }
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/tmp") + "/.cache/grm";
}

}  // namespace grm
