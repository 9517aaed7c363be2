#pragma once

#include <string>

#include "cli/cli.h"
#include "core/clock.h"
#include "study/runner.h"

namespace grm::cli {

struct StudyFlags {
  std::string file;
  bool dry_run = false;
  study::RunnerOptions runner;
  study::CellJob job;  // of the verb `cell`
};
study::RunnerOptions runner_options(const StudyFlags& flags, const Common& common);

/// --out, --jobs, --memory-mib, --checkpoint-seconds and --patience.
void add_process_flags(CLI::App& verb, StudyFlags& flags);
/// --on and what it takes.
void add_cluster_flags(CLI::App& verb, StudyFlags& flags);
void add_study_work(CLI::App& study_verb, Common& common, Action& action);

/// Says what became of a study, and returns the exit code. `verb` and the file give the line that
/// resumes it.
int report_outcome(const std::string& study, const study::Outcome& outcome, const StudyFlags& flags,
                   const Common& common, const char* verb);

/// Shows a study on stderr: a line for each cell that ends and, on a terminal, a last line that
/// says where it stands. Nothing when quiet but what went wrong.
class StudyProgress {
 public:
  explicit StudyProgress(bool quiet);
  study::RunnerHooks hooks();
  void clear();

 private:
  void start(const study::Forecast& ahead);
  void ended(const study::CellRow& cell, const study::Progress& progress);
  void tick(const study::Progress& progress);
  bool quiet_, terminal_;
};

/// `grm study status`: of one study, or of all in the database if `name` is empty.
int study_status(const std::string& database, const std::string& name, const Common& common);

}  // namespace grm::cli
