#pragma once

#include <string>

#include "core/text.h"

// What a terminal can show: colour, a bar, and how much fits on a line.
namespace grm::cli {

/// Takes --color auto, always or never off the command line, before it is parsed: messages about
/// the command line itself have colour, too. Without it: auto.
void read_colour(int argc, char** argv);

/// Whether what goes to `file` (STDOUT_FILENO or STDERR_FILENO) may have colour. By itself only a
/// terminal gets it, unless NO_COLOR is set or TERM is dumb.
bool colour_on(int file);

/// Whether a line on `file` can be drawn again: a terminal that is not dumb.
bool can_redraw(int file);

enum class Ink { bold, red, yellow, green };
/// The text in this ink where `file` may have colour, else the text alone.
std::string ink(int file, Ink ink, const std::string& text);

/// Columns of a line on `file`: $COLUMNS, else what the terminal says; 0 where nothing limits it.
size_t line_width(int file);
constexpr size_t kUsualWidth = 80;  // of a terminal that does not tell

/// Prints `head` and the text behind it on stdout; further lines begin below the text, as far in as
/// `head` reaches.
void print_wrapped(const std::string& head, const std::string& text);

/// A bar of this many columns for a share from 0 to 1: blocks in eighths where the locale is UTF-8,
/// "[###...]" elsewhere.
std::string bar(double share, size_t columns);

/// The start of a line, or of it once more: what stands there is wiped away.
constexpr char kFreshLine[] = "\r\033[K";

}  // namespace grm::cli
