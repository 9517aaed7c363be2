#include "methods/presets.h"

#include <algorithm>
#include <sstream>

#include "grm/core/error.h"

namespace grm {

std::vector<TomlLeaf> method_file_leaves(const std::string& name) {
  for (const EmbeddedFile& file : method_files()) {
    if (file.name == name) return toml_leaves(file.text, name);
  }
  throw InternalError(name + " is not compiled in");
}

namespace {

// The parts of a key from `first` on, as in train.epochs.
std::string joined(const TomlLeaf& leaf, size_t first) {
  ensure(leaf.path.size() > first, "a file of presets: a value stands outside of its table");
  std::string key = leaf.path[first];
  for (size_t k = first + 1; k < leaf.path.size(); ++k) key += "." + leaf.path[k];
  return key;
}

// A section's name is methods, presets of methods, or ".option": all methods that have the option.
bool concerns(const std::string& section, const std::string& method, const std::string& preset,
              const OptionList& options) {
  std::istringstream words(section);
  std::string word;
  while (words >> word) {
    if (word == method || word == method + ":" + preset) return true;
    if (word.front() == '.' && options.has(word.substr(1))) return true;
  }
  return false;
}

}  // namespace

std::vector<Preset> presets_of(const std::string& method, Level level) {
  static const std::vector<TomlLeaf> leaves = method_file_leaves("presets.toml");
  static const std::string kSummary = "summary";
  std::vector<Preset> presets;
  for (const TomlLeaf& leaf : leaves) {
    const std::string key = joined(leaf, 3);
    if (leaf.path[0] != method || leaf.path[1] != to_string(level)) continue;
    if (presets.empty() || presets.back().name != leaf.path[2]) presets.push_back({leaf.path[2]});
    if (key == kSummary) {
      presets.back().summary = leaf.text;
    } else {
      presets.back().values.emplace_back(key, leaf.text);
    }
  }
  if (presets.empty()) presets.push_back({"default", "The options as they are declared", {}});
  return presets;
}

PresetValues suggested_values(const std::string& dataset, const std::string& method,
                              const std::string& preset, const OptionList& options) {
  static const std::vector<TomlLeaf> leaves = method_file_leaves("suggestions.toml");
  PresetValues values;
  for (const TomlLeaf& leaf : leaves) {
    const std::string key = joined(leaf, 2);
    if (leaf.path[1] == dataset && concerns(leaf.path[0], method, preset, options)) {
      values.emplace_back(key, leaf.text);
    }
  }
  return values;
}

}  // namespace grm
