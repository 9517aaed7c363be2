#pragma once

#include <cstddef>
#include <string>

namespace grm {

/// A file mapped for reading: its pages come when they are touched and are given up when memory is
/// short, so that a file may be larger than memory.
class MappedFile {
 public:
  /// Error(io) with the system's reason.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const char* bytes() const { return bytes_; }
  size_t size() const { return size_; }
  /// What comes next reads the file from end to end, or here and there; a hint.
  void read_in_order() const;
  void read_here_and_there() const;
  /// Lets go of the pages that were read.
  void forget() const;

 private:
  char* bytes_ = nullptr;
  size_t size_ = 0;
};

/// Whether an address lies in a mapped file: what is there is no memory that a process must hold.
bool in_mapped_file(const void* address);

}  // namespace grm
