#pragma once

#include <string>

#include "cli/cli.h"
#include "core/clock.h"
#include "study/runner.h"

namespace grm::cli {

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
