#pragma once

#include <string>

namespace grm {

/// A new folder that nobody else can read, removed at the end with all that is in it.
class TemporaryFolder {
 public:
  /// Its name begins with `prefix`. Error(io) where none can be made.
  explicit TemporaryFolder(const std::string& prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace grm
