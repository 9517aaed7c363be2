#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grm/core/words.h"
#include "grm/data/dataset.h"
#include "study/store.h"

namespace grm::study {

/// Who runs the cells of a study: processes of this one, `grm study work` wherever it was started, or the jobs
/// of a Slurm cluster, which this process submits.
enum class Place { here, workers, slurm };
GRM_WORDS(Place, "here", "workers", "slurm")

/// How the jobs of a cluster are asked for.
struct SlurmOptions {
  std::string partition, time;     // as sbatch takes them; "" for the cluster's own
  int64_t cells_per_task = 0;      // 0: one, or more where the arrays would be too large
  int64_t tasks_at_once = 0;       // of the study; 0: as many as the cluster lets run
  std::vector<std::string> extra;  // further words for sbatch
};

/// How the cells of a study are run.
struct RunnerOptions {
  std::string database = "results.db";
  std::string runs = "runs";  // folder of the run folders
  DataContext data;
  int jobs = 0;           // processes at once; 0: one for each core
  int threads = 0;        // of each process; 0: cores / jobs
  double memory_mib = 0;  // for all processes together; 0: 80 % of what is available
  double checkpoint_seconds = 10.0;
  bool retry_failed = false;
  std::string device;  // as --device; empty: what the configurations say
  /// Seconds without a word after which a server's database gives away what this process holds.
  double patience = 60.0;
  /// A worker takes what it can: cells whose data is not here are left to others.
  bool worker = false;
  int64_t cells = 0;  // of a worker: takes at most so many, and waits for nobody's; 0: all
  std::string job;    // of a cluster, in which this process runs
  Place on = Place::here;
  SlurmOptions slurm;
  /// The program that runs one cell when it is called with CellJob::arguments().
  std::string program = "/proc/self/exe";

  bool on_gpu() const { return device.rfind("cuda", 0) == 0; }
};

/// Jobs, threads and memory filled in. One run alone leaves most of a GPU idle.
RunnerOptions with_defaults(RunnerOptions options);

/// The work of one process: cells that its parent has claimed.
struct CellJob {
  std::string database;
  int64_t id = 0;     // of the cell at hand
  std::string owner;  // identity of the parent
  std::string runs;
  DataContext data;
  int threads = 1;
  double checkpoint_seconds = 10.0;
  std::string device;

  /// "study", "cell", "--db", ...: as the command line takes them.
  std::vector<std::string> arguments() const;
  /// "study", "work", STUDY, "--db", ...: for a worker with the same data, folder and threads.
  std::vector<std::string> work_arguments(const std::string& study) const;

 private:
  std::vector<std::string> with_settings(std::vector<std::string> words) const;
};

/// What a process tells about its cells.
struct CellHooks {
  std::function<void(const CellRow& cell)> on_start;
  std::function<void(const std::string& folder)> on_folder;
  std::function<bool()> interrupted;
};

/// Trains one cell after the other: reads their numbers from standard input, a line each, and answers
/// "ended NUMBER CODE" on standard output, until input ends. A cell starts from its checkpoint if there
/// is one, and its row is written; whatever goes wrong with the run is written there too. The code is
/// 0 for a row that says done or no_data, 1 for failed, 130 for interrupted; after another one than 0
/// no more cells are taken, and it is returned. Data that the next cell needs, too, is kept.
int run_cells(const CellJob& job, const CellHooks& hooks);

/// What is ahead.
struct Forecast {
  std::string phase;
  std::vector<PlannedCell> cells;
  int64_t done = 0;     // of the cells, here or in another study of the database
  double seconds = -1;  // for the others; below 0: unknown
  int jobs = 1, threads = 1;
  double memory_mib = 0;
};
/// `store` may be null: nothing is done yet.
Forecast forecast(const Store* store, const StudySpec& spec, const std::string& phase,
                  const std::vector<PlannedCell>& cells, double expected_minutes,
                  const RunnerOptions& options);

/// Where a study stands.
struct Progress {
  int64_t total = 0;
  std::map<std::string, int64_t> states;
  std::vector<std::string> running;  // "cora grm seed 1000"
  double elapsed = 0.0;
  double left = -1;  // seconds; below 0: unknown
};

/// What the database says of a study and a phase ("" for all); `slots` cells are run at once. `first_estimate` of all seconds is for a study of
/// which nothing is done, below 0: unknown.
Progress progress_of(const Store& store, const std::string& study, const std::string& phase,
                     double slots, double elapsed, double first_estimate);

struct RunnerHooks {
  std::function<void(const Forecast&)> on_start;
  std::function<void(const CellRow&, const Progress&)> on_cell;  // after a cell ended
  std::function<void(const Progress&)> on_tick;                  // a few times a second
  std::function<void(const std::string&)> on_message;
  std::function<bool()> interrupted;
};

struct Outcome {
  bool interrupted = false;
  std::map<std::string, int64_t> states;  // number of cells by state
  std::vector<CellRow> failed, no_data;
  double seconds = 0.0;
  int64_t processes = 0;  // that were started
  int64_t done = 0;       // cells, by this process
};

/// "cora grm kipf seed 1000", with the trial in a search.
std::string cell_title(const CellRow& cell);

/// Takes cells of a planned study and phase ("" for all) until none is left to do or being done by others.
/// `more` is asked when there is none to take: whether it made some.
Outcome take_cells(const std::string& study, const std::string& phase, const RunnerOptions& options,
                   const RunnerHooks& hooks, Store& store, double first_estimate,
                   const std::function<bool()>& more = {});

/// Runs all cells of a study that are not done in other processes, each of which takes one cell after
/// the other until one fails. A cell that fails does not stop the others. Several processes may run
/// the same study at once.
Outcome run_study(const StudySpec& spec, const RunnerOptions& options, const RunnerHooks& hooks);

/// Compares the data of finished cells with what is on disk now; cells of other data start anew.
/// One line about them, if there are any. `own` = false: only copying from other studies is prevented. Data that is not at hand cannot be compared.
std::vector<std::string> distrust_changed_data(Store& store, const std::string& study,
                                               const std::string& phase, const DataContext& context,
                                               bool own = true);

/// One phase of a study with the given cells; run_study and tune_study are made of it.
Outcome run_phase(const StudySpec& spec, const std::string& phase,
                  const std::vector<PlannedCell>& cells, double expected_minutes,
                  const RunnerOptions& options, const RunnerHooks& hooks);

}  // namespace grm::study
