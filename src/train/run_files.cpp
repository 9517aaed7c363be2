#include "train/run_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/files.h"
#include "grm/core/error.h"

namespace grm {
namespace {

constexpr int kTries = 20;  // two seconds for a process that was just killed

void remove_leftovers(const std::string& path) {
  std::error_code ignored;
  std::vector<std::filesystem::path> leftovers;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    if (is_temporary(entry.path().filename().string())) leftovers.push_back(entry.path());
  }
  for (const auto& file : leftovers) std::filesystem::remove(file, ignored);
}

}  // namespace

MetricsLog::MetricsLog(const std::string& path, int64_t keep_bytes)
    : path_(path), bytes_(keep_bytes) {
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) failed("opening");
  const int64_t size = lseek(file_, 0, SEEK_END);
  if (size < keep_bytes) {
    close(file_);
    fail(ErrorKind::data,
         "{}: has {} bytes, but the checkpoint was written when it had {}; the run cannot be "
         "continued, start a new one",
         path, size, keep_bytes);
  }
  if (size > keep_bytes && ftruncate(file_, keep_bytes) != 0) failed("cutting");
}

MetricsLog::~MetricsLog() {
  if (file_ >= 0) close(file_);
}

void MetricsLog::add_bytes(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed("writing");
    done += static_cast<size_t>(n);
  }
  bytes_ += static_cast<int64_t>(text.size());
}

void MetricsLog::flush() {
  if (fsync(file_) != 0) failed("flushing to disk");
}

void MetricsLog::failed(const char* what) {
  const int reason = errno;
  if (file_ >= 0) close(file_);
  file_ = -1;
  fail(ErrorKind::io, "{}: {} failed: {}", path_, what, std::strerror(reason));
}

FolderGuard::FolderGuard(const std::string& path) : lock_(path, false, kTries) {
  if (!lock_.open()) {
    fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(lock_.error()));
  }
  if (lock_.busy()) {
    fail(ErrorKind::io,
         "{}: another process works in this run; wait for it, or start a new run without "
         "--resume",
         path);
  }
  remove_leftovers(path);
}

}  // namespace grm
