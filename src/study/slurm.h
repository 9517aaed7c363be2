#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/clock.h"
#include "study/runner.h"

namespace grm::study {

/// The jobs of a phase of a study on a Slurm cluster. Each task of an array is a worker that takes a few
/// cells from the database, whichever are free; so any task may die, or be queued again. What runs is
/// found by its name, which study, phase, database and user make, so that whoever follows the study, and
/// may die and come again, keeps no list. Error(config) where there is no Slurm.
class SlurmJobs {
 public:
  SlurmJobs(std::string study, std::string phase, const RunnerOptions& options,
            const RunnerHooks& hooks);

  /// Submits tasks where those that wait or run cannot do what is left. Error(data) if arrays end
  /// again and again without a cell. `table`: behind them a job that writes the study's table.
  void tend(const std::map<std::string, int64_t>& states, bool table);

  const std::string& name() const { return name_; }

 private:
  struct Queue {
    int64_t tasks = 0, held = 0;
    bool known = false;
  };
  Queue look();
  int64_t largest_array() const;
  void submit(int64_t cells, bool table);
  std::vector<std::string> words(const std::string& name) const;
  std::string script(int64_t cells_per_task) const;
  void say(const std::string& text) const;

  const std::string study_, phase_;
  const RunnerOptions& options_;
  const RunnerHooks& hooks_;
  std::string name_, folder_, program_;
  int64_t ended_before_ = -1, fruitless_ = 0;
  double last_look_ = -1e9, silent_since_ = -1;
  bool told_held_ = false;
  Stopwatch watch_;
};

}  // namespace grm::study
