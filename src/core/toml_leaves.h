#pragma once

#include <string>
#include <vector>

namespace grm {

/// One value of a TOML text with the keys that lead to it, as in [a.b] c = 1: a, b, c.
struct TomlLeaf {
  std::vector<std::string> path;
  std::string text;  // as OptionList::set takes it
};

/// All values that are no tables, in the order of the text, which the library forgets.
/// Error(config) with its place if the text is not TOML.
std::vector<TomlLeaf> toml_leaves(const std::string& text, const std::string& origin);

}  // namespace grm
