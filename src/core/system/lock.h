#pragma once

#include <string>

namespace grm {

/// Keeps other processes, and other locks of this one, out of a file or folder until this process
/// ends, however it ends.
class FileLock {
 public:
  /// `make`: a file that is not there is made. Asks every tenth of a second, at most `tries` times:
  /// a process that was just killed may hold its files for a moment longer.
  FileLock(const std::string& path, bool make, int tries = 1);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return file_ >= 0 && error_ == 0; }
  bool busy() const;  // others have it; not so where the file system has no locks
  bool open() const { return file_ >= 0; }
  int error() const { return error_; }  // of the system, where it is not held

 private:
  int file_, error_ = 0;
};

}  // namespace grm
