#include "core/system/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace grm {

FileLock::FileLock(const std::string& path, bool make, int tries)
    : file_(::open(path.c_str(), O_CLOEXEC | (make ? O_RDWR | O_CREAT : O_RDONLY), 0644)) {
  constexpr int kPause = 100000;  // microseconds
  if (file_ < 0) error_ = errno;
  while (file_ >= 0) {
    error_ = flock(file_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (!busy() || --tries <= 0) return;
    usleep(kPause);
  }
}

bool FileLock::busy() const {
  return file_ >= 0 && error_ == EWOULDBLOCK;
}

FileLock::~FileLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace grm
