#pragma once

#include <cstdlib>
#include <string>

namespace grm::test {

/// Sets PATH for the length of a test.
class PathGuard {
 public:
  explicit PathGuard(const std::string& path)
      : old_(std::getenv("PATH") ? std::getenv("PATH") : "") {
    setenv("PATH", path.c_str(), 1);
  }
  ~PathGuard() { setenv("PATH", old_.c_str(), 1); }

 private:
  std::string old_;
};

}  // namespace grm::test
