#pragma once

#include <string>

namespace grm {

/// Error(config) naming `origin` and line if a key of this TOML text has more than a few dozen
/// parts, or if the text is larger than a megabyte. toml++ makes a table for every part of a.b.c
/// and walks them recursively, so a key of some hundred thousand parts would end the program; a
/// value takes up to a hundred times the memory of its text. (Lists and tables inside each other
/// the library bounds by itself.)
void check_toml(const std::string& text, const std::string& origin);

/// `text` as a TOML basic string, in quotes and with escapes.
std::string toml_string(const std::string& text);

}  // namespace grm
