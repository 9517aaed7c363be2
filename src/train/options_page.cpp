#include <fmt/format.h>

#include "grm/train/config.h"

namespace grm {
namespace {

void append_table(std::string& page, const OptionList& list, const std::string& section) {
  page += "| key | default | allowed | meaning |\n|---|---|---|---|\n";
  for (const Option& o : list.options()) {
    std::string allowed = o.allowed.empty() ? o.type : o.allowed;
    for (size_t at = 0; (at = allowed.find('|', at)) != std::string::npos; at += 2) {
      allowed.insert(at, "\\");
    }
    page += fmt::format("| `{}.{}` | `{}` | {} | {} |\n", section, o.key, o.default_value, allowed,
                        o.help);
  }
  page += "\n";
}

}  // namespace

std::string options_reference() {
  std::string page =
      "# Options\n\nMade by `grm options --markdown` from the declarations in the source; a test "
      "compares the two.\nSet an option with `--set section.key=value` or in a TOML file under "
      "`[section]`.\n\n## Training\n\n";
  TrainOptions train;
  OptionList train_list;
  train.declare(train_list);
  append_table(page, train_list, "train");
  page += "# Datasets\n\n";
  for (const DatasetEntry& entry : datasets()) {
    page += fmt::format("## {}\n\n{}.\n\n", entry.name, entry.summary);
    const DatasetChoice choice(entry.name);
    append_table(page, choice.options(), "dataset");
  }
  page += "# Methods\n\n";
  for (const MethodEntry& entry : methods()) {
    page += fmt::format("## {}\n\n{}.\n\nPresets (the first is the default):\n\n", entry.name,
                        entry.summary);
    for (const Preset& preset : entry.presets) {
      page += fmt::format("* `{}`: {}", preset.name, preset.summary);
      for (size_t k = 0; k < preset.values.size(); ++k) {
        page += fmt::format("{}`{} = {}`", k == 0 ? " (" : ", ", preset.values[k].first,
                            preset.values[k].second);
      }
      page += preset.values.empty() ? "\n" : ")\n";
    }
    page += "\n";
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    OptionList list;
    recipe->declare(list);
    append_table(page, list, "method");
  }
  while (page.size() > 1 && page[page.size() - 2] == '\n') page.pop_back();
  return page;
}

}  // namespace grm
