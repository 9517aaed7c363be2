#include "cli/study.h"
#include "core/json.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "study/follow.h"
#include "study/tune.h"

namespace grm::cli {
namespace {

// What would be run, without touching the database.
int dry_run(const study::StudySpec& spec, const StudyFlags& flags, const Common& common,
            bool tune) {
  std::unique_ptr<study::Store> store;
  if (study::Store::exists(flags.runner.database)) {
    store = std::make_unique<study::Store>(flags.runner.database, study::Open::read);
  }
  const std::vector<study::PlannedCell> cells = tune ? trial_cells(spec) : expand(spec);
  const study::Forecast ahead = forecast(store.get(), spec, tune ? "trial" : "run", cells,
                                         tune ? spec.tune->expected_minutes : spec.expected_minutes,
                                         runner_options(flags, common));
  if (common.json) {
    ordered_json list = ordered_json::array();
    for (const study::PlannedCell& cell : cells) {
      list.push_back({{"dataset", cell.dataset},
                      {"method", cell.method},
                      {"variant", cell.variant},
                      {"trial", cell.trial},
                      {"seed", cell.seed},
                      {"config", cell.config}});
    }
    ordered_json out = {{"study", spec.name}, {"cells", list}, {"done", ahead.done}};
    if (ahead.seconds >= 0) out["expected_seconds"] = ahead.seconds;
    print_json(out);
    return 0;
  }
  for (const study::PlannedCell& cell : cells) {
    study::CellRow row;
    row.phase = ahead.phase;
    row.dataset = cell.dataset;
    row.method = cell.method;
    row.variant = cell.variant;
    row.trial = cell.trial;
    row.seed = cell.seed;
    fmt::print("{}\n", study::cell_title(row));
  }
  fmt::print("{} cells, {} done already, expected duration {}\n", cells.size(), ahead.done,
             ahead.seconds < 0 ? "unknown" : "about " + duration_text(ahead.seconds));
  return 0;
}

int run(const StudyFlags& flags, const Common& common, bool tune) {
  const study::StudySpec spec = study::load_spec(flags.file);
  if (flags.dry_run) return dry_run(spec, flags, common, tune);
  watch_interrupt();
  StudyProgress progress(common.quiet);
  const study::RunnerOptions options = runner_options(flags, common);
  const study::Outcome outcome = tune ? tune_study(spec, options, progress.hooks())
                                      : run_study(spec, options, progress.hooks());
  progress.clear();
  return report_outcome(spec.name, outcome, flags, common, tune ? "study tune" : "study run");
}

int list_studies(const Common& common) {
  ordered_json all = ordered_json::array();
  Table table;
  table.head = {"study", "cells", "minutes", "about"};
  for (const std::string& name : study::ready_studies()) {
    const study::StudySpec spec = study::load_spec(name);
    const size_t cells = expand(spec).size();
    all.push_back({{"name", name},
                   {"about", spec.about},
                   {"cells", cells},
                   {"expected_minutes", spec.expected_minutes}});
    table.rows.push_back(
        {name, std::to_string(cells),
         spec.expected_minutes > 0 ? fmt::format("{:g}", spec.expected_minutes) : "?", spec.about});
  }
  if (common.json)
    print_json({{"studies", all}});
  else
    print_table(table);
  return 0;
}

int cell(const StudyFlags& flags, const Common& common) {
  watch_interrupt();
  study::CellJob job = flags.job;
  job.data = common.data_context();
  job.device = common.device;
  study::CellHooks hooks;
  hooks.interrupted = interrupted;
  hooks.on_folder = [](const std::string& folder) {
    log_to(folder + "/log.txt");
    log_info("cell of a study in {}", folder);
  };
  return run_cells(job, hooks);
}

void add_runner_flags(CLI::App& verb, StudyFlags& flags, Common& common) {
  add_common(verb, common, true);
  study::RunnerOptions& runner = flags.runner;
  verb.add_option("study", flags.file, "TOML file, or the name of a ready study")->required();
  verb.add_option("--db", runner.database, "result database: a file, or postgresql://...")
      ->capture_default_str();
  add_process_flags(verb, flags);
  verb.add_flag("--retry-failed", runner.retry_failed, "try failed cells again");
  add_cluster_flags(verb, flags);
  verb.add_flag("--dry-run", flags.dry_run, "print the cells and the expected duration, then stop");
}

// For the runner: a process that takes cells.
void add_cell(CLI::App& study, const std::shared_ptr<StudyFlags>& flags, Common& common,
              Action& action) {
  CLI::App* verb =
      study.add_subcommand("cell", "claimed cells from standard input; for the runner");
  verb->group("");
  add_common(*verb, common, true);
  study::CellJob& job = flags->job;
  verb->add_option("--db", job.database)->required();
  verb->add_option("--owner", job.owner)->required();
  verb->add_option("--out", job.runs)->required();
  verb->add_option("--checkpoint-seconds", job.checkpoint_seconds);
  set_call(*verb, action, [=, &common] { return cell(*flags, common); });
}

}  // namespace

void add_study(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("study", "many runs: compare, tune, and keep the results");
  verb->require_subcommand(1);
  auto flags = std::make_shared<StudyFlags>();

  CLI::App* run_verb = verb->add_subcommand("run", "run all cells of a study that are not done");
  add_runner_flags(*run_verb, *flags, common);
  run_verb->footer(
      "Examples:\n"
      "  grm study run quick                 a ready study, see 'grm study list'\n"
      "  grm study run my.toml --jobs 4      the same line resumes a killed or stopped study\n"
      "  grm study run my.toml --dry-run     what would be run, and for how long\n"
      "  grm study run my.toml --db postgresql://host/results --on workers\n"
      "                                      planned here, run by 'grm study work' elsewhere\n"
      "  grm study run my.toml --db postgresql://host/results --on slurm --time 2:00:00");
  set_call(*run_verb, action, [=, &common] { return run(*flags, common, false); });

  CLI::App* tune_verb = verb->add_subcommand(
      "tune", "search option values by validation, then run the winners on fresh seeds");
  add_runner_flags(*tune_verb, *flags, common);
  tune_verb->footer(
      "The study needs a section [tune]; see docs/studies.md.\n\n"
      "Examples:\n"
      "  grm study tune my.toml --dry-run    how many trials, and for how long\n"
      "  grm study tune my.toml --jobs 4     the same line resumes it after a kill\n"
      "  grm study status my                 the winners");
  set_call(*tune_verb, action, [=, &common] { return run(*flags, common, true); });

  CLI::App* status_verb =
      verb->add_subcommand("status", "where studies stand, who works on them; winners of searches");
  add_common(*status_verb, common, false);
  status_verb->add_option("study", flags->file, "name of one study (default: all)");
  status_verb
      ->add_option("--db", flags->runner.database, "result database: a file, or postgresql://...")
      ->capture_default_str();
  status_verb->footer(
      "Examples:\n"
      "  grm study status                    all studies of results.db\n"
      "  grm study status my --json          every cell, with its scores or its failure");
  set_call(*status_verb, action,
           [=, &common] { return study_status(flags->runner.database, flags->file, common); });

  CLI::App* list_verb = verb->add_subcommand("list", "ready studies that the program carries");
  add_common(*list_verb, common, false);
  list_verb->footer(
      "Examples:\n"
      "  grm study list\n"
      "  grm study run quick                 one of them");
  set_call(*list_verb, action, [=, &common] { return list_studies(common); });

  add_study_work(*verb, common, action);
  add_study_table(*verb, common, action);
  add_cell(*verb, flags, common, action);
  verb->footer(
      "Examples:\n"
      "  grm study list                      ready studies\n"
      "  grm study run my.toml --jobs 4      the same line resumes it after a kill\n"
      "  grm study status my\n"
      "  grm study table my --format markdown");
}

}  // namespace grm::cli
