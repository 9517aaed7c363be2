#pragma once

#include <string>
#include <string_view>

namespace grm::test {

/// A fresh folder that disappears with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file into the folder (missing parents are made) and returns its path.
  std::string write(const std::string& name, std::string_view content) const;

 private:
  std::string path_;
};

}  // namespace grm::test
