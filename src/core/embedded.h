#pragma once

#include <string>
#include <vector>

namespace grm {

/// A text file that the program carries inside itself, by its name without folder. A station
/// declares the function that lists its own; cmake/embedded.cpp.in defines it.
struct EmbeddedFile {
  std::string name;
  std::string text;
};

}  // namespace grm
