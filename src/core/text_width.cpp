// How wide text is on a terminal.
#include <algorithm>
#include <cstdint>

#include "core/text.h"

namespace grm {
namespace {

// Bytes of the character that begins with `first`.
size_t character_bytes(unsigned char first) {
  return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

// Two columns: Hangul, Chinese, Japanese, full-width forms and pictures.
size_t character_columns(const std::string& text, size_t at, size_t bytes) {
  uint32_t code = static_cast<unsigned char>(text[at]);
  if (bytes > 1) code &= 0xFFu >> (bytes + 1);
  for (size_t k = 1; k < bytes && at + k < text.size(); ++k) {
    code = (code << 6) | (static_cast<unsigned char>(text[at + k]) & 0x3Fu);
  }
  if (code >= 0x300 && code <= 0x36F) return 0;  // accents over the letter before
  const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                    (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                    (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
  return wide ? 2 : 1;
}

// The longest beginning of the text, from `at`, that takes no more than `width` columns.
size_t fitting_bytes(const std::string& text, size_t at, size_t width) {
  size_t used = 0, end = at;
  while (end < text.size()) {
    const size_t bytes = character_bytes(static_cast<unsigned char>(text[end]));
    used += character_columns(text, end, bytes);
    if (used > width) break;
    end = std::min(end + bytes, text.size());
  }
  return end - at;
}

}  // namespace

size_t shown_width(const std::string& text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "\033[") == 0) {  // ink takes no room
      at = std::min(text.find('m', at), text.size() - 1) + 1;
      continue;
    }
    const size_t bytes = character_bytes(static_cast<unsigned char>(text[at]));
    width += character_columns(text, at, bytes);
    at += bytes;
  }
  return width;
}

std::string shortened(const std::string& text, size_t width) {
  if (shown_width(text) <= width) return text;
  return text.substr(0, fitting_bytes(text, 0, width - std::min<size_t>(width, 3))) + "...";
}

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  if (width == 0 || shown_width(text) <= width) return {text};
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + fitting_bytes(text, at, width);
    if (end == at) end = at + character_bytes(static_cast<unsigned char>(text[at]));
    size_t next = end;
    if (end < text.size() && text[end] != ' ') {
      // Back to a space, or else behind a sign that joins the parts of a name; digits stay
      // together.
      const size_t space = text.rfind(' ', end);
      const size_t joint = text.find_last_of("/:,_=-", end - 1);
      if (space != std::string::npos && space > at) {
        end = next = space;
      } else if (joint != std::string::npos && joint > at) {
        end = next = joint + 1;
      }
    }
    lines.push_back(text.substr(at, end - at));
    lines.back().erase(lines.back().find_last_not_of(' ') + 1);
    at = std::min(text.find_first_not_of(' ', next), text.size());
  }
  return lines;
}

}  // namespace grm
