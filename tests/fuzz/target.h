#pragma once

#include <string>

namespace grm::fuzz {

/// A reader as fuzzers and the replay of their kept inputs call it: it returns or throws
/// grm::Error. `name` is also that of its folder in tests/fuzz/corpus/.
struct Target {
  const char* name;
  void (*read)(const std::string& path);
};

}  // namespace grm::fuzz
