#include "cli/study.h"
#include "core/json.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "cli/checks.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "study/tune.h"

namespace grm::cli {
namespace {

struct StudyFlags {
  std::string file;
  bool dry_run = false;
  study::RunnerOptions runner;
  study::CellJob job;  // of the verb `cell`
};

study::RunnerOptions runner_options(const StudyFlags& flags, const Common& common) {
  study::RunnerOptions options = flags.runner;
  options.data = common.data_context();
  options.threads = common.threads;
  options.device = common.device;
  return options;
}

ordered_json rows_json(const std::vector<study::CellRow>& rows) {
  ordered_json list = ordered_json::array();
  for (const study::CellRow& row : rows) {
    list.push_back({{"cell", study::cell_title(row)}, {"message", row.message}});
  }
  return list;
}

void print_trouble(const char* what, const std::vector<study::CellRow>& rows) {
  if (rows.empty()) return;
  fmt::print(stderr, "{} {}:\n", rows.size(), what);
  std::string last;
  for (const study::CellRow& row : rows) {
    fmt::print(stderr, "  {}: {}\n", study::cell_title(row),
               row.message == last ? "the same" : terminal_text(row.message));
    last = row.message;
  }
}

// `verb` and the file name give the line that resumes a stopped study.
int report(const study::StudySpec& spec, const study::Outcome& outcome, const StudyFlags& flags,
           const Common& common, const char* verb) {
  const bool stopped = outcome.interrupted;
  const int code = stopped ? kInterrupted : outcome.failed.empty() ? 0 : 1;
  print_trouble("cells have no data", outcome.no_data);
  print_trouble("cells failed (--retry-failed tries them again)", outcome.failed);
  if (common.json) {
    print_json({{"study", spec.name},
                {"database", flags.runner.database},
                {"interrupted", stopped},
                {"states", outcome.states},
                {"failed", rows_json(outcome.failed)},
                {"no_data", rows_json(outcome.no_data)},
                {"seconds", outcome.seconds},
                {"processes", outcome.processes}});
  }
  if (stopped) {
    fmt::print(stderr, "grm: stopped; 'grm study {} {}' with the same --db and --out resumes it\n",
               verb, flags.file);
  } else if (!common.quiet && !common.json) {
    const auto done = outcome.states.find("done");
    fmt::print("{}: {} cells done, results in {}, {}\n", spec.name,
               done == outcome.states.end() ? 0 : done->second, flags.runner.database,
               duration_text(outcome.seconds));
  }
  return code;
}

// What would be run, without touching the database.
int dry_run(const study::StudySpec& spec, const StudyFlags& flags, const Common& common,
            bool tune) {
  std::unique_ptr<study::Store> store;
  if (std::filesystem::exists(flags.runner.database)) {
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
  return report(spec, outcome, flags, common, tune ? "tune" : "run");
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
  verb.add_option("--db", runner.database, "result database")->capture_default_str();
  verb.add_option("--out", runner.runs, "folder for runs")->capture_default_str();
  verb.add_option("--jobs", runner.jobs, "processes at once (default: all cores)")
      ->check(whole_number(1, 4096));
  verb.add_option("--memory-mib", runner.memory_mib,
                  "memory for all processes together (default: 80 % of what is available)")
      ->check(number_above(0, 1e12));
  verb.add_option("--checkpoint-seconds", runner.checkpoint_seconds,
                  "seconds between the checkpoints of a run")
      ->check(number_from(0, 1e9))
      ->capture_default_str();
  verb.add_flag("--retry-failed", runner.retry_failed, "try failed cells again");
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
  verb->callback([=, &common, &action] { action = [=, &common] { return cell(*flags, common); }; });
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
      "  grm study run my.toml --dry-run     what would be run, and for how long");
  run_verb->callback(
      [=, &common, &action] { action = [=, &common] { return run(*flags, common, false); }; });

  CLI::App* tune_verb = verb->add_subcommand(
      "tune", "search option values by validation, then run the winners on fresh seeds");
  add_runner_flags(*tune_verb, *flags, common);
  tune_verb->footer(
      "The study needs a section [tune]; see docs/studies.md.\n\n"
      "Examples:\n"
      "  grm study tune my.toml --dry-run    how many trials, and for how long\n"
      "  grm study tune my.toml --jobs 4     the same line resumes it after a kill\n"
      "  grm study status my                 the winners");
  tune_verb->callback(
      [=, &common, &action] { action = [=, &common] { return run(*flags, common, true); }; });

  CLI::App* status_verb =
      verb->add_subcommand("status", "where studies stand; winners of searches");
  add_common(*status_verb, common, false);
  status_verb->add_option("study", flags->file, "name of one study (default: all)");
  status_verb->add_option("--db", flags->runner.database, "result database")->capture_default_str();
  status_verb->footer(
      "Examples:\n"
      "  grm study status                    all studies of results.db\n"
      "  grm study status my --json          every cell, with its scores or its failure");
  status_verb->callback([=, &common, &action] {
    action = [=, &common] { return study_status(flags->runner.database, flags->file, common); };
  });

  CLI::App* list_verb = verb->add_subcommand("list", "ready studies that the program carries");
  add_common(*list_verb, common, false);
  list_verb->footer(
      "Examples:\n"
      "  grm study list\n"
      "  grm study run quick                 one of them");
  list_verb->callback(
      [=, &common, &action] { action = [=, &common] { return list_studies(common); }; });

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
