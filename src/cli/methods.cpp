#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "core/lists.h"
#include "grm/methods/method.h"
#include "grm/train/config.h"

namespace grm::cli {
namespace {

int list_methods(const Common& common) {
  ordered_json all = ordered_json::array();
  for (const MethodEntry& entry : methods()) {
    ordered_json presets = ordered_json::array(), summaries;
    for (const Preset& preset : entry.presets) {
      presets.push_back(preset.name);
      summaries[preset.name] = preset.summary;
    }
    all.push_back({{"name", entry.name},
                   {"levels", {to_string(entry.level)}},
                   {"summary", entry.summary},
                   {"presets", presets},
                   {"preset_summaries", summaries}});
  }
  if (common.json) {
    print_json(all);
    return 0;
  }
  for (const MethodEntry& entry : methods()) {
    print_wrapped(entry.name + ": ", entry.summary);
    for (const Preset& preset : entry.presets) {
      print_wrapped(fmt::format("  {:<10} ", preset.name), preset.summary);
    }
  }
  return 0;
}

int list_options(const Common& common, bool markdown) {
  if (markdown || !common.json) {
    fmt::print("{}", options_reference());
    return 0;
  }
  const auto rows = [](const OptionList& list) {
    ordered_json out = ordered_json::array();
    for (const Option& o : list.options()) {
      out.push_back({{"key", o.key},
                     {"type", o.type},
                     {"default", o.default_value},
                     {"allowed", o.allowed},
                     {"help", o.help}});
    }
    return out;
  };
  ordered_json out;
  TrainOptions train;
  OptionList train_list;
  train.declare(train_list);
  out["train"] = rows(train_list);
  for (const DatasetEntry& entry : datasets()) {
    out["dataset"][entry.name] = rows(DatasetChoice(entry.name).options());
  }
  for (const MethodEntry& entry : methods()) {
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    OptionList list;
    recipe->declare(list);
    // A method of both levels has an entry for each; what they share is listed once.
    ordered_json& known = out["method"][entry.name];
    if (known.is_null()) known = ordered_json::array();
    for (const ordered_json& row : rows(list)) add_once(known, row);
  }
  print_json(out);
  return 0;
}

}  // namespace

void add_methods(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("methods", "list methods and their presets");
  add_common(*verb, common, false);
  verb->footer(
      "Examples:\n"
      "  grm methods                                names for --method and --preset\n"
      "  grm methods --json                         with levels and summaries, for scripts");
  set_call(*verb, action, [&common] { return list_methods(common); });
}

void add_options(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("options", "every option with default, range and meaning");
  auto markdown = std::make_shared<bool>(false);
  add_common(*verb, common, false);
  verb->add_flag("--markdown", *markdown, "as the reference page docs/options.md");
  verb->footer(
      "Examples:\n"
      "  grm options                                keys for --set and for TOML files\n"
      "  grm options --json                         the same for scripts\n"
      "  grm options --markdown > options.md");
  set_call(*verb, action, [=, &common] { return list_options(common, *markdown); });
}

}  // namespace grm::cli
