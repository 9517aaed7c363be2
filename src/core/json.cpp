#include "core/json.h"

#include <bitset>
#include <cstdint>

namespace grm {
namespace {

// About what the library needs for a value, in bytes.
constexpr int64_t kElement = 32;
constexpr int64_t kMember = 96;
constexpr int64_t kText = 24;
constexpr int64_t kBrackets = 48;

// What values may take in memory: this much, and some times the size of their text.
constexpr int64_t kAlways = int64_t{64} << 20;
constexpr int64_t kTimes = 4;

// Behind the closing quote of the text that begins at `at`.
size_t text_end(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string oversize_of_json(std::string_view text) {
  const int64_t allowed = kAlways + kTimes * static_cast<int64_t>(text.size());
  std::bitset<kDeepestJson + 1> is_object;
  size_t depth = 0;
  int64_t cost = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      cost += kText;
      i = text_end(text, i) - 1;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) {
        return fmt::format("JSON with more than {} brackets inside each other (byte {})",
                           kDeepestJson, i);
      }
      is_object[depth] = c == '{';
      cost += kBrackets + (is_object[depth] ? kMember : kElement);
    } else if (c == ']' || c == '}') {
      if (depth > 0) --depth;  // the parser will tell if one is missing
    } else if (c == ',') {
      cost += is_object[depth] ? kMember : kElement;
    }
    if (cost > allowed) {
      return fmt::format("JSON with too many values for its {} bytes (at byte {})", text.size(), i);
    }
  }
  return "";
}

}  // namespace grm
