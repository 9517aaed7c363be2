#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace grm {
namespace {

// Length of the UTF-8 sequence at the beginning of `text`, 0 if there is none (RFC 3629: no
// overlong forms, no surrogates, nothing above U+10FFFF); `code` is its character.
size_t sequence(std::string_view text, uint32_t& code) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  code = first & (0xFF >> (length + 1));
  for (size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(k) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  return length;
}

// Control characters of both sets, and those that turn the direction of reading.
bool commands(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

template <class Escape>
std::string rewritten(std::string_view text, const Escape& escape) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t length = sequence(text, code);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (escape(code)) {
      out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

bool is_number(const std::string& text) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (uint32_t code = 0; !text.empty();) {
    const size_t length = sequence(text, code);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string utf8_text(std::string_view text) {
  return rewritten(text, [](uint32_t) { return false; });
}

std::string terminal_text(std::string_view text) {
  return rewritten(text, [](uint32_t c) { return c != '\n' && c != '\t' && commands(c); });
}

std::string csv_cell(const std::string& text) {
  const bool formula = !text.empty() &&
                       std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos &&
                       !is_number(text);
  std::string cell = formula ? "'" + text : text;
  if (cell.find_first_of(",\"\r\n\t") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string html_escape(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  uint32_t code = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t length = sequence(rest, code);
    const bool control = (code < 0x20 && code != '\n' && code != '\t') || code == 0x7F;
    if (length == 0 || control) {
      out += "\uFFFD";
    } else if (rest[0] == '&') {
      out += "&amp;";
    } else if (rest[0] == '<') {
      out += "&lt;";
    } else if (rest[0] == '>') {
      out += "&gt;";
    } else if (rest[0] == '"') {
      out += "&quot;";
    } else if (rest[0] == '\'') {
      out += "&#39;";
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string shell_quoted(const std::string& text) {
  return "'" + replaced(text, {{"'", "'\\''"}}) + "'";
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./:=,+@%") == std::string::npos;
  return plain ? text : shell_quoted(text);
}

std::string replaced(const std::string& text,
                     const std::vector<std::pair<std::string, std::string>>& table) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto hit = std::find_if(table.begin(), table.end(), [&](const auto& entry) {
      return text.compare(at, entry.first.size(), entry.first) == 0;
    });
    out += hit == table.end() ? text.substr(at, 1) : hit->second;
    at += hit == table.end() ? 1 : hit->first.size();
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += between;
    text += words[i];
  }
  return text;
}

}  // namespace grm
