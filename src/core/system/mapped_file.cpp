#include "core/system/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "grm/core/error.h"

namespace grm {
namespace {

std::mutex& mapped_mutex() {
  static std::mutex mutex;
  return mutex;
}

// First address of every mapped file, and its size.
std::map<const char*, size_t>& mapped_ranges() {
  static std::map<const char*, size_t> ranges;
  return ranges;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  struct stat about = {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(file);
    fail(ErrorKind::io, "{}: not a plain file", path);
  }
  size_ = static_cast<size_t>(about.st_size);
  if (size_ > 0) {
    void* at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    const int reason = errno;
    if (at == MAP_FAILED) {
      ::close(file);
      fail(ErrorKind::io, "{}: cannot be mapped: {}", path, std::strerror(reason));
    }
    bytes_ = static_cast<char*>(at);
    const std::lock_guard<std::mutex> lock(mapped_mutex());
    mapped_ranges()[bytes_] = size_;
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (!bytes_) return;
  {
    const std::lock_guard<std::mutex> lock(mapped_mutex());
    mapped_ranges().erase(bytes_);
  }
  ::munmap(bytes_, size_);
}

void MappedFile::read_in_order() const {
  if (bytes_) ::madvise(bytes_, size_, MADV_SEQUENTIAL);
}

void MappedFile::read_here_and_there() const {
  if (bytes_) ::madvise(bytes_, size_, MADV_RANDOM);
}

void MappedFile::forget() const {
  if (bytes_) ::madvise(bytes_, size_, MADV_DONTNEED);
}

bool in_mapped_file(const void* address) {
  const std::lock_guard<std::mutex> lock(mapped_mutex());
  const auto* at = static_cast<const char*>(address);
  auto next = mapped_ranges().upper_bound(at);
  if (next == mapped_ranges().begin()) return false;
  --next;
  return at < next->first + next->second;
}

}  // namespace grm
