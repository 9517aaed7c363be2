#include "core/files.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "grm/core/error.h"

namespace grm {
namespace fs = std::filesystem;

namespace {

// Closes a descriptor at the end of a scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

std::string read_file(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) {
    fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  }
  struct stat about {};
  if (fstat(file.number, &about) == 0 && S_ISDIR(about.st_mode)) {
    fail(ErrorKind::io, "{}: is a folder, a file is needed", path);
  }
  if (S_ISCHR(about.st_mode) && isatty(file.number) == 0) {  // /dev/zero has no end
    fail(ErrorKind::io, "{}: is a device, a file is needed", path);
  }
  // One byte more than the size shows the end; pipes have no size and grow as they come.
  std::string content(S_ISREG(about.st_mode) ? static_cast<size_t>(about.st_size) + 1 : 0, '\0');
  size_t done = 0;
  while (true) {
    if (done == content.size()) content.resize(std::max<size_t>(2 * content.size(), 1 << 16));
    const ssize_t n = read(file.number, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ErrorKind::io, "{}: reading failed: {}", path, std::strerror(errno));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  content.resize(done);
  return content;
}

uint64_t unpredictable() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, GRND_NONBLOCK) == sizeof value) return value;
  // No randomness yet, early after boot. O_EXCL still refuses what is there already.
  static std::atomic<uint64_t> g_count{0};
  return g_count++;
}

Temporary create_temporary(const std::string& path) {
  constexpr int kTries = 100;
  for (int tries = 1;; ++tries) {
    const std::string name = fmt::format("{}.tmp{}-{}", path, getpid(), unpredictable());
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file >= 0) return {name, file};
    if (errno == EEXIST && tries < kTries) continue;
    fail(ErrorKind::io, "{}: cannot be written: {}", name, std::strerror(errno));
  }
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
  const auto [temporary, file] = create_temporary(path);
  const auto give_up = [&, file = file, temporary = temporary](const char* what) {
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
  // The new name lives in the folder: without this a power failure may bring the old file back.
  // Some file systems refuse to flush a folder; nothing more can be done there.
  const Descriptor folder{
      open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.number >= 0 && fsync(folder.number) != 0 && errno == EIO) {
    fail(ErrorKind::io, "{}: is written, but flushing its folder to disk failed: {}", path,
         std::strerror(EIO));
  }
}

bool is_temporary(const std::string& name) {
  const size_t at = name.rfind(".tmp");
  if (at == std::string::npos || at == 0) return false;
  const std::string rest = name.substr(at + 4);
  const size_t dash = rest.find('-');
  return dash != std::string::npos && dash > 0 && dash + 1 < rest.size() &&
         rest.find_first_not_of("0123456789-") == std::string::npos;
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
  if (const char* home = std::getenv("HOME"); home && *home) {
    return std::string(home) + "/.cache/grm";
  }
  // Without HOME: the home of the account. Never a folder that others could make before us.
  passwd entry{};
  passwd* found = nullptr;
  std::string buffer(1 << 16, '\0');
  std::error_code ignored;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found &&
      fs::is_directory(found->pw_dir, ignored)) {
    return std::string(found->pw_dir) + "/.cache/grm";
  }
  return "";
}

std::string cache_file(const std::string& part, const std::string& name) {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/" + part + "/" + name;
}

}  // namespace grm
