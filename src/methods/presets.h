#pragma once

#include "core/embedded.h"
#include "core/toml_leaves.h"
#include "grm/methods/method.h"

namespace grm {

/// presets.toml, suggestions.toml and good.toml, as they were compiled in.
const std::vector<EmbeddedFile>& method_files();
/// The values of one of them.
std::vector<TomlLeaf> method_file_leaves(const std::string& name);

/// The presets of a method at one level, in the order of presets.toml; "default" alone where the
/// file has none.
std::vector<Preset> presets_of(const std::string& method, Level level);

/// What suggestions.toml says for a preset of a method on one dataset, in the order in which it is
/// set: after the preset and before the user's own. `options` are those of the method.
PresetValues suggested_values(const std::string& dataset, const std::string& method,
                              const std::string& preset, const OptionList& options);

}  // namespace grm
