#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "core/json.h"
#include "grm/core/log.h"
#include "report/curves.h"

namespace grm::cli {
namespace {

struct PlotFlags {
  std::vector<std::string> runs;
  std::string out = "figures";
};

int plot(const PlotFlags& flags, const Common& common) {
  ordered_json files = ordered_json::array(), messages = ordered_json::array();
  for (const report::Figure& figure : report::training_curves(report::find_runs(flags.runs))) {
    const report::FigureFiles drawn = report::write_figure(figure, flags.out);
    for (const std::string& path : drawn.written) {
      files.push_back(path);
      if (!common.json) fmt::print("{}\n", path);
    }
    if (drawn.message.empty()) continue;
    messages.push_back(drawn.message);
    log_warning("{}", drawn.message);
  }
  if (common.json) print_json({{"files", files}, {"messages", messages}});
  return 0;
}

}  // namespace

void add_plot(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("plot", "training curves of runs as SVG and PDF");
  auto flags = std::make_shared<PlotFlags>();
  add_common(*verb, common, false);
  verb->add_option("runs", flags->runs, "run folders, or folders above them")->required();
  verb->add_option("--out", flags->out, "folder for the figures")->capture_default_str();
  verb->footer(
      "Runs that differ in the seed alone become one line with an error band.\n"
      "Examples:\n"
      "  grm plot runs/sbm\n"
      "  grm plot runs/cora/erm runs/cora/grm --out curves");
  set_call(*verb, action, [=, &common] { return plot(*flags, common); });
}

}  // namespace grm::cli
