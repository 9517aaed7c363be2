#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "core/files.h"
#include "core/json.h"
#include "grm/core/log.h"
#include "train/export_script.h"

namespace grm::cli {
namespace {

struct ExportFlags {
  std::string run, out;
  bool source = false;
};

int export_verb(const ExportFlags& flags, const Common& common) {
  const ModelFile file = read_model(flags.run);
  const ScriptSource source = script_source(file.about, file.path);
  if (flags.source) {
    fmt::print("{}", source.code);
    return 0;
  }
  export_script(file, flags.out);
  log_info("{}: written to {}; torch.jit.load reads it", file.path, flags.out);
  if (!source.remark.empty()) log_warning("{}", source.remark);
  if (common.json) {
    print_json({{"model", file.path},
                {"out", flags.out},
                {"sha256", sha256_file(flags.out)},
                {"method", file.about.method},
                {"features", file.about.features},
                {"classes", file.about.classes},
                {"temperature", file.about.temperature},
                {"remark", source.remark.empty() ? ordered_json() : ordered_json(source.remark)}});
  }
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb =
      app.add_subcommand("export", "a model as TorchScript: forward(edge_index, x) without grm");
  auto flags = std::make_shared<ExportFlags>();
  add_common(*verb, common, false);
  verb->add_option("run", flags->run, "run folder or model.safetensors")->required();
  verb->add_option("--out", flags->out, "file to write")->capture_default_str();
  verb->add_flag("--source", flags->source, "print the code instead of writing a file");
  flags->out = "model.pt";
  verb->footer(
      "A model of graphs is forward(edge_index, x, graph, edge_attr, edge_weight). What cannot be "
      "exported is\n"
      "refused with the reason; what differs from 'grm predict' (draws of grm and arm) is said.\n"
      "Examples:\n"
      "  grm export runs/sbm/erm/20260131T120000-1000 --out model.pt\n"
      "  grm export RUN --source\n"
      "  python3 -c 'import torch; print(torch.jit.load(\"model.pt\").code)'");
  set_call(*verb, action, [=, &common] { return export_verb(*flags, common); });
}

}  // namespace grm::cli
