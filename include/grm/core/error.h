#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace grm {

/// What kind of mistake of the caller an Error reports. The command line maps kinds to exit codes.
enum class ErrorKind { config, data, shape, io, device, memory };

/// A caller's mistake. The message says where, what came, what was expected and what to try.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// A mistake of ours: the program's own invariants do not hold.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// fail(ErrorKind::data, "{}: row {} has {} columns", path, row, count)
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws InternalError when `condition` does not hold.
inline void ensure(bool condition, const char* what) {
  if (!condition) throw InternalError(what);
}

}  // namespace grm
