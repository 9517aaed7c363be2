#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/text.h"

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
