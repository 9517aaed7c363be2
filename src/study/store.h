#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/results.h"
#include "study/spec.h"

namespace grm::study {

class Database;
struct Scope;

/// One row of the result database: a run of a study, done or not.
struct CellRow {
  int64_t id = 0;
  std::string study;
  std::string phase;  // "run"; of a search "trial" and "final"
  std::string dataset, method, variant;
  int64_t trial = 0, seed = 0;
  std::string config;
  std::string state;  // "todo", "running", "done", "failed" or "no_data"
  std::string owner;  // the process that runs it
  int64_t attempts = 0;
  std::string message;      // why it failed
  std::string folder;       // of the run
  std::string record;       // summary.json
  std::string environment;  // env.json
  std::string metric;
  double seconds = 0.0, peak_mib = 0.0;

  RunRecord run_record() const;  // of a done cell
};

/// What a finished run leaves in its row.
struct CellResult {
  std::string folder, record, environment, metric;
  double seconds = 0.0, peak_mib = 0.0;
};

struct StudyRow {
  std::string name, about, spec, created;
  std::map<std::string, int64_t> states;  // number of cells by state
  bool tuned = false;                     // has trials
};

/// Who works on cells, as the database knows it.
struct WorkerRow {
  std::string name, host;
  int64_t process = 0;
  std::string job;    // of a cluster, "" elsewhere
  std::string study;  // "" for all
  int64_t slots = 0;  // cells at once
  int64_t done = 0, running = 0;
  double seconds = 0, silent = 0, patience = 0;  // since it began, and since it was last heard of
  bool alive = true;
};

/// `read` changes nothing and does with a disk that cannot be written.
enum class Open { create, existing, read };

/// The result database: a SQLite file that several processes of one machine may use at once, or the
/// database of a PostgreSQL server, which any number of machines may use. The name of a study or of a
/// phase may be empty where cells are claimed or counted: all of them.
class Store {
 public:
  /// Error(data) if there is no such file (but for Open::create) or it was made by another version.
  explicit Store(const std::string& path, Open mode = Open::existing);
  ~Store();
  Store(Store&&) noexcept;
  /// A file that is there; a server is asked when it is opened.
  static bool exists(const std::string& database);
  bool server() const;
  /// Lets a server's connection go until it is needed again.
  void rest();

  std::vector<StudyRow> studies() const;
  /// Error(config) with a suggestion if there is none of this name.
  StudyRow study(const std::string& name) const;

  /// Finished runs, in the order of the study. `phase` is "run", or "final" for a tuned study.
  std::vector<ResultRow> results(const std::string& study, const std::string& phase) const;
  /// Runs without a result, of a plain or a tuned study.
  std::vector<MissingRow> missing(const std::string& study) const;
  /// All rows of a study that its specification still asks for. "" for all phases.
  std::vector<CellRow> cells(const std::string& study, const std::string& phase = "") const;
  CellRow cell(int64_t id) const;

  /// Makes the rows of one phase agree with the specification: new cells are added, cells whose
  /// configuration changed start anew, cells that it no longer has are set aside (and come back
  /// with their results when it has them again). Returns one line for each kind of change.
  std::vector<std::string> plan(const StudySpec& spec, const std::string& phase,
                                const std::vector<PlannedCell>& cells);
  /// Cells without data, and failed ones if asked for, are tried again.
  void reopen(const std::string& study, const std::string& phase, bool retry_failed);

  /// Finished cells of all studies that have the configuration of a planned cell of this phase.
  std::vector<CellRow> done_like(const std::string& study, const std::string& phase) const;
  /// Cells whose results are not of today's data: some start anew, others (of other studies) stay
  /// but are not copied by this store's claim().
  void distrust(const std::vector<int64_t>& anew, const std::vector<int64_t>& others);

  /// Takes the first cell that is free and `fits` for `owner`. Free is a cell to do, or one whose
  /// process is dead; not one whose very configuration is running elsewhere. A configuration that
  /// is done elsewhere is copied instead.
  std::optional<CellRow> claim(const std::string& study, const std::string& phase,
                               const std::string& owner,
                               const std::function<bool(const CellRow&)>& fits);
  /// The name of a worker, under which it claims. On a server it must beat() within every `patience`
  /// seconds, or its cells are given back; so are those of the former run of its `job`, and of workers that
  /// died on this machine.
  std::string join(const std::string& study, const std::string& job, int slots, double patience);
  /// False: it was silent for too long, and has lost its cells and its name.
  bool beat(const std::string& worker, int64_t done);
  void leave(const std::string& worker);
  /// What a worker's child process of this identity is called as an owner.
  std::string child_name(const std::string& parent, const std::string& identity) const;
  /// What claim() does first: frees the cells of dead owners, copies what is done in other studies.
  void sweep(const std::string& study, const std::string& phase);
  std::vector<WorkerRow> workers() const;
  /// Cells that are neither to do nor running, in the order in which they ended.
  std::vector<int64_t> ended(const std::string& study, const std::string& phase) const;
  /// When the last cells ended, latest first.
  std::vector<std::string> ends(const std::string& study, size_t most) const;

  /// The following change a cell only while `owner` has it; they return whether it had.
  bool hand_over(int64_t id, const std::string& owner, const std::string& new_owner);
  bool finish(int64_t id, const std::string& owner, const CellResult& result);
  bool give_up(int64_t id, const std::string& owner, const std::string& state,
               const std::string& message);

  /// Gives the free cells that need the same data as this one without data the same verdict.
  void spread_no_data(int64_t id);
  /// A cell whose data is not on this machine, but may be on others.
  void leave_to_others(int64_t id);

  /// Cells by state.
  std::map<std::string, int64_t> counts(const std::string& study, const std::string& phase) const;
  /// Mean seconds of the finished cells of a study by dataset, method and variant.
  std::map<std::vector<std::string>, double> mean_seconds(const std::string& study) const;
  /// Number of cells ahead by dataset, method and variant; a running one counts for a half.
  std::map<std::vector<std::string>, double> left(const std::string& study,
                                                  const std::string& phase) const;
  /// Largest memory of the finished cells of all studies by dataset and method.
  std::map<std::vector<std::string>, double> peak_memory() const;
  /// Whether a run of this configuration is finished in any study.
  bool finished(const std::string& config) const;

 private:
  std::vector<CellRow> select(const std::string& where, const std::vector<std::string>& values,
                              const std::string& behind = "") const;
  std::map<std::vector<std::string>, double> numbers_of(
      const std::string& columns, const std::string& number, const std::string& where,
      const std::vector<std::string>& values) const;
  std::vector<std::string> plan_now(const StudySpec& spec, const std::string& phase,
                                    const std::vector<PlannedCell>& cells);
  void spread_now(const CellRow& from);
  void reuse(const Scope& scope);
  bool hold(const CellRow& cell);
  std::string not_elsewhere() const;
  void free_dead();
  std::unique_ptr<Database> database_;
  std::string distrusted_ = "0";  // ids, with commas; no cell is 0, and a list is never empty
};

}  // namespace grm::study
