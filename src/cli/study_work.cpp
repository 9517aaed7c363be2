#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/study.h"
#include "core/json.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "study/database.h"
#include "study/follow.h"

namespace grm::cli {
namespace {

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

int work_on(const StudyFlags& flags, const Common& common, bool wait) {
  watch_interrupt();
  StudyProgress progress(common.quiet);
  const study::Outcome outcome =
      study::work(flags.file, runner_options(flags, common), progress.hooks(), wait);
  progress.clear();
  if (!common.quiet && !common.json) {
    fmt::print(stderr, "this worker finished {} cells in {}\n", outcome.done,
               duration_text(outcome.seconds));
  }
  return report_outcome(flags.file.empty() ? "all studies" : flags.file, outcome, flags, common,
                        "study work");
}

}  // namespace

study::RunnerOptions runner_options(const StudyFlags& flags, const Common& common) {
  study::RunnerOptions options = flags.runner;
  options.data = common.data_context();
  options.threads = common.threads;
  options.device = common.device;
  return options;
}

int report_outcome(const std::string& study, const study::Outcome& outcome, const StudyFlags& flags,
                   const Common& common, const char* verb) {
  const bool stopped = outcome.interrupted;
  const std::string database = study::shown_database(flags.runner.database);
  const int code = stopped ? kInterrupted : outcome.failed.empty() ? 0 : 1;
  print_trouble("cells have no data", outcome.no_data);
  print_trouble("cells failed (--retry-failed tries them again)", outcome.failed);
  if (common.json) {
    print_json({{"study", study},
                {"database", database},
                {"interrupted", stopped},
                {"states", outcome.states},
                {"failed", rows_json(outcome.failed)},
                {"no_data", rows_json(outcome.no_data)},
                {"seconds", outcome.seconds},
                {"processes", outcome.processes}});
  }
  if (stopped) {
    fmt::print(stderr, "grm: stopped; 'grm {}{}{}' with the same --db and --out {}\n", verb,
               flags.file.empty() ? "" : " ", flags.file,
               flags.runner.on == study::Place::here ? "resumes it"
                                                     : "follows it again; others go on with it");
  } else if (!common.quiet && !common.json) {
    const auto done = outcome.states.find("done");
    fmt::print("{}: {} cells done, results in {}, {}\n", study,
               done == outcome.states.end() ? 0 : done->second, database,
               duration_text(outcome.seconds));
  }
  return code;
}

void add_process_flags(CLI::App& verb, StudyFlags& flags) {
  study::RunnerOptions& runner = flags.runner;
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
  verb.add_option(
          "--patience", runner.patience,
          "seconds without a word after which a server gives this process's cells to others")
      ->check(number_from(1, 1e6))
      ->capture_default_str();
}

void add_cluster_flags(CLI::App& verb, StudyFlags& flags) {
  verb.add_option_function<std::string>(
          "--on",
          [&flags](const std::string& word) { flags.runner.on = *value_of<study::Place>(word); },
          "who runs the cells: this machine (here), 'grm study work' wherever it was started "
          "(workers), or a cluster's jobs (slurm)")
      ->check(one_of(words_of(study::Place{})))
      ->default_str("here");
  study::SlurmOptions& slurm = flags.runner.slurm;
  verb.add_option("--partition", slurm.partition, "slurm: partition of its jobs");
  verb.add_option("--time", slurm.time, "slurm: time limit of a task, as sbatch takes it");
  verb.add_option("--cells-per-task", slurm.cells_per_task,
                  "slurm: cells that a task takes, one after the other (default: 1)")
      ->check(whole_number(1));
  verb.add_option("--tasks-at-once", slurm.tasks_at_once,
                  "slurm: tasks that may run at once (default: as many as the cluster lets)")
      ->check(whole_number(1));
  verb.add_option("--sbatch", slurm.extra,
                  "slurm: further words for sbatch, as in --sbatch=--mem=8G")
      ->allow_extra_args(false);
}

void add_study_work(CLI::App& study_verb, Common& common, Action& action) {
  CLI::App* verb = study_verb.add_subcommand(
      "work", "take cells of a server's database, on any number of machines");
  auto flags = std::make_shared<StudyFlags>();
  auto wait = std::make_shared<bool>(false);
  add_common(*verb, common, true);
  verb->add_option("study", flags->file, "name of one study (default: all of the database)");
  verb->add_option("--db", flags->runner.database, "postgresql://USER@HOST/NAME")->required();
  add_process_flags(*verb, *flags);
  verb->add_option("--cells", flags->runner.cells,
                   "take at most so many cells, and wait for nobody's (default: all)")
      ->check(whole_number(1));
  verb->add_flag("--wait", *wait, "go on when nothing is left, for studies to come");
  verb->add_option("--job", flags->runner.job,
                   "name of this job of a cluster; what its former run held is free at once");
  verb->footer(
      "Cells are planned by 'grm study run ... --db ... --on workers'. A worker that dies, or "
      "says\n"
      "nothing for --patience seconds, loses its cells to others. See docs/cluster.md.\n\n"
      "Examples:\n"
      "  grm study work --db postgresql://host/results\n"
      "  grm study work my --db postgresql://host/results --jobs 4 --out /shared/runs\n"
      "  grm study work --db 'postgresql:///results?host=/run/postgresql' --wait");
  set_call(*verb, action, [=, &common] { return work_on(*flags, common, *wait); });
}

}  // namespace grm::cli
