#pragma once

#include <cstdint>
#include <string>

#include "core/system/lock.h"

namespace grm {

/// The append-only log of a run. After a restart it is cut back to where the checkpoint stood, so
/// no epoch appears twice. Error(io) with the system's reason; Error(data) if it is shorter than
/// the checkpoint says.
class MetricsLog {
 public:
  MetricsLog(const std::string& path, int64_t keep_bytes);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  void add(const std::string& line) { add_bytes(line + "\n"); }
  void add_bytes(const std::string& bytes);
  /// A checkpoint counts on the lines before it: they must be on the disk first.
  void flush();
  int64_t bytes() const { return bytes_; }

 private:
  [[noreturn]] void failed(const char* what);

  std::string path_;
  int file_ = -1;
  int64_t bytes_;
};

/// Keeps other processes out of a run folder until this one ends, however it ends, and removes the
/// halves of files that a killed process left there.
class FolderGuard {
 public:
  explicit FolderGuard(const std::string& path);

 private:
  FileLock lock_;
};

}  // namespace grm
