#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "cli/data.h"
#include "core/json.h"
#include "data/convert.h"
#include "data/describe.h"
#include "data/mapped/write.h"
#include "train/memory.h"

namespace grm::cli {
namespace {

struct ConvertFlags {
  DataFlags data;
  std::string out;
  bool force = false;
  bool mapped = false;
};

// "sbm, nodes = 300, centre = "domain"": the name and the options that were set.
std::string origin_text(const DatasetChoice& choice) {
  std::string text = choice.entry().name;
  for (const Option& option : choice.options().options()) {
    const std::string value = option.get();
    if (value != option.default_value) text += fmt::format(", {} = {}", option.key, value);
  }
  return text;
}

// Written piece by piece where the dataset can, else from memory.
int convert_to_mapped(const ConvertFlags& flags, const DatasetChoice& choice,
                      const Common& common) {
  const Dataset& dataset = choice.dataset();
  const bool as_made = !dataset.symmetrise && dataset.centre == Centring::none;
  const std::string origin = origin_text(choice);
  if (!as_made || !dataset.write_mapped(flags.out, origin, flags.force)) {
    mapped::write_task(choice.load(common.data_context()), flags.out, origin, flags.force);
  }
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(flags.out)) {
    bytes += static_cast<double>(entry.file_size());
  }
  if (common.json) {
    print_json({{"dataset", choice.entry().short_name()}, {"out", flags.out}, {"bytes", bytes}});
  } else {
    fmt::print("{}: {}, mapped graphs\n", flags.out, memory_text(bytes));
  }
  return 0;
}

int convert(const ConvertFlags& flags, const Common& common) {
  require_free_folder(flags.out, flags.force);  // before the work of loading
  DatasetChoice choice(flags.data.name);
  apply_settings(choice, flags.data.settings);
  if (flags.mapped) return convert_to_mapped(flags, choice, common);
  const Task task = choice.load(common.data_context());
  write_own(task, flags.out, origin_text(choice), flags.force);
  const size_t domains = task.training.size() + task.validation.size() + task.test.size();
  if (common.json) {
    print_json({{"dataset", task.name},
                {"out", flags.out},
                {"domains", domains},
                {"fingerprint", fingerprint(task)},
                {"missing", task.missing},
                {"notes", task.notes}});
    return 0;
  }
  fmt::print("{}: {} domains and dataset.toml\n", flags.out, domains);
  for (const std::string& name : task.missing) fmt::print("missing: {}\n", name);
  return 0;
}

}  // namespace

void add_data_convert(CLI::App& data, Common& common, Action& action) {
  CLI::App* verb = data.add_subcommand(
      "convert", "write a dataset as a folder of own data: dataset.toml, one .npz per domain");
  auto flags = std::make_shared<ConvertFlags>();
  add_common(*verb, common, true);
  add_data_flags(*verb, flags->data);
  verb->add_option("--out", flags->out, "folder to write")->required();
  verb->add_flag("--force", flags->force, "write into a folder that is not empty");
  verb->add_flag("--mapped", flags->mapped,
                 "write mapped graphs, which are read page by page: for graphs larger than memory");
  verb->footer(
      "Options of the dataset, symmetrise and centre among them, are part of what is written.\n"
      "Training on the folder gives the same model as training on the dataset, with the same\n"
      "options of the method: those suggested for a dataset by its name do not apply to a path.\n"
      "With --mapped, scale is written piece by piece and needs no memory for its graph.\n\n"
      "Examples:\n"
      "  grm data convert sbm --out my-sbm\n"
      "  grm data convert twitch --set symmetrise=true --out twitch-both-ways\n"
      "  grm train --dataset ./my-sbm --method erm\n"
      "  grm data convert scale --set nodes=10000000 --mapped --out large");
  set_call(*verb, action, [=, &common] { return convert(*flags, common); });
}

}  // namespace grm::cli
