#include "core/toml_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "grm/core/error.h"

namespace grm {
namespace {

constexpr int kMostParts = 32;
constexpr size_t kMostBytes = size_t{1} << 20;

// Where a string that begins at `at` ends: behind its closing quotes, or at the end of the text.
size_t string_end(const std::string& text, size_t at) {
  const char quote = text[at];
  const bool triple = text.compare(at, 3, std::string(3, quote)) == 0;
  for (size_t i = at + (triple ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (!triple && text[i] == '\n') {
      return i;  // not closed; the parser will say so
    } else if (text[i] == quote && !triple) {
      return i + 1;
    } else if (triple && text.compare(i, 3, std::string(3, quote)) == 0) {
      i += 3;  // up to two quotes before the closing ones belong to the string
      for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more) ++i;
      return i;
    }
  }
  return text.size();
}

}  // namespace

void check_toml(const std::string& text, const std::string& origin) {
  if (text.size() > kMostBytes) {
    fail(ErrorKind::config, "{}: {} bytes of TOML; files of at most {} are read", origin,
         text.size(), kMostBytes);
  }
  int parts = 1;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = string_end(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.') ++parts;
    if (parts > kMostParts) {
      fail(ErrorKind::config, "{}:{}: a key of more than {} parts", origin,
           std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n') + 1,
           kMostParts);
    }
    if (c == '\n' || c == ',' || c == '=' || c == '[' || c == ']' || c == '{' || c == '}')
      parts = 1;
    ++i;
  }
}

std::string toml_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace grm
