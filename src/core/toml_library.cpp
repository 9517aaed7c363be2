#define TOML_IMPLEMENTATION
#include "core/toml_library.h"

namespace grm {

toml::table read_toml(const std::string& text, const std::string& origin, ErrorKind kind) {
  try {
    return parse_toml(text, origin);
  } catch (const toml::parse_error& error) {
    fail(kind, "{}: {}", toml_place(origin, error.source()), error.description());
  }
}

std::string toml_place(const std::string& origin, const toml::source_region& at) {
  return fmt::format("{}:{}:{}", origin, at.begin.line, at.begin.column);
}

}  // namespace grm
