#include "terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "grm/core/text.h"

namespace grm::cli {
namespace {

constexpr size_t kNarrowest = 30;  // nothing can be laid out in less
enum class Colour { automatic, always, never };
Colour g_colour = Colour::automatic;

// An environment variable that is set to something.
const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = setting(name);
    if (!value) continue;
    return std::strstr(value, "UTF-8") || std::strstr(value, "utf8") || std::strstr(value, "UTF8");
  }
  return false;
}

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

void read_colour(int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    std::string value;
    if (word == "--color" || word == "--colour") {
      value = k + 1 < argc ? argv[k + 1] : "";
    } else if (word.rfind("--color=", 0) == 0 || word.rfind("--colour=", 0) == 0) {
      value = word.substr(word.find('=') + 1);
    }
    if (value == "auto") g_colour = Colour::automatic;
    if (value == "always") g_colour = Colour::always;
    if (value == "never") g_colour = Colour::never;
  }
}

bool colour_on(int file) {
  if (g_colour != Colour::automatic) return g_colour == Colour::always;
  return !setting("NO_COLOR") && can_redraw(file);
}

bool can_redraw(int file) {
  const char* terminal = setting("TERM");
  return isatty(file) != 0 && terminal && std::strcmp(terminal, "dumb") != 0;
}

std::string ink(int file, Ink ink, const std::string& text) {
  if (text.empty() || !colour_on(file)) return text;
  const char* code = ink == Ink::bold     ? "1"
                     : ink == Ink::red    ? "1;31"
                     : ink == Ink::yellow ? "33"
                                          : "32";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

size_t line_width(int file) {
  size_t width = 0;
  if (const char* columns = setting("COLUMNS")) {
    width = std::strtoul(columns, nullptr, 10);
    if (width > 100000) width = 0;  // a negative number, or no number of columns
  }
  winsize size{};
  if (width == 0 && ioctl(file, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width == 0 ? 0 : std::max(width, kNarrowest);
}

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

void print_wrapped(const std::string& head, const std::string& text) {
  const size_t width = line_width(STDOUT_FILENO), indent = shown_width(head);
  const bool room = width > indent + 10;
  std::string before = head;
  for (const std::string& line : wrapped(terminal_text(text), room ? width - indent : 0)) {
    fmt::print("{}{}\n", before, line);
    before.assign(indent, ' ');
  }
}

std::string bar(double share, size_t columns) {
  share = std::min(std::max(share, 0.0), 1.0);
  if (columns < 3) return std::string(columns, ' ');
  if (!utf8_locale()) {
    const size_t filled = static_cast<size_t>(share * static_cast<double>(columns - 2));
    return "[" + std::string(filled, '#') + std::string(columns - 2 - filled, '.') + "]";
  }
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const size_t eighths = static_cast<size_t>(share * 8.0 * static_cast<double>(columns - 2));
  std::string text = "▕";
  for (size_t k = 0; k < eighths / 8; ++k) text += "█";
  text += kEighths[eighths % 8];
  const size_t used = eighths / 8 + (eighths % 8 > 0 ? 1 : 0);
  return text + std::string(columns - 2 - used, ' ') + "▏";
}

}  // namespace grm::cli
