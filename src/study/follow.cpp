// What a process does for a study that others run: it looks on, and sees to it that they are there.
#include "study/follow.h"

#include <poll.h>
#include <time.h>

#include <cstdio>
#include <memory>
#include <set>

#include "core/clock.h"
#include "grm/core/error.h"
#include "study/database.h"
#include "study/slurm.h"

namespace grm::study {
namespace {

constexpr int kFollowMilliseconds = 1000;
constexpr size_t kMostEnds = 1000;
constexpr double kPaceSeconds = 3600;  // how far back a rate looks

// Of timestamp(), in seconds; below 0 for another text.
double seconds_of(const std::string& time) {
  tm t = {};
  if (std::sscanf(time.c_str(), "%4d%2d%2dT%2d%2d%2d", &t.tm_year, &t.tm_mon, &t.tm_mday,
                  &t.tm_hour, &t.tm_min, &t.tm_sec) != 6) {
    return -1;
  }
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return static_cast<double>(timegm(&t));
}

bool works_on(const WorkerRow& worker, const std::string& study) {
  return study.empty() || worker.study.empty() || worker.study == study;
}

double slots_of(const std::vector<WorkerRow>& workers) {
  double slots = 0;
  for (const WorkerRow& worker : workers) {
    if (worker.alive) slots += static_cast<double>(worker.slots);
  }
  return slots;
}

std::vector<WorkerRow> workers_on(const Store& store, const std::string& study) {
  std::vector<WorkerRow> own;
  for (WorkerRow& worker : store.workers()) {
    if (works_on(worker, study)) own.push_back(std::move(worker));
  }
  return own;
}

}  // namespace

void require_server(const std::string& database, const std::string& what) {
  if (is_server(database)) return;
  fail(ErrorKind::config,
       "{} needs a database that several machines can use: --db postgresql://HOST/NAME. {} is a "
       "SQLite file, whose locks do not hold on a network share; on one machine any number of 'grm "
       "study run' share it",
       what, database);
}

Outcome follow_phase(const std::string& study, const std::string& phase,
                     const RunnerOptions& options, const RunnerHooks& hooks, Store& store,
                     double first_estimate) {
  Outcome outcome;
  const Stopwatch watch;
  std::unique_ptr<SlurmJobs> jobs;
  if (options.on == Place::slurm) {
    jobs = std::make_unique<SlurmJobs>(study, phase, options, hooks);
  }
  std::set<int64_t> seen;
  for (const int64_t id : store.ended(study, phase)) seen.insert(id);
  for (;;) {
    outcome.interrupted = hooks.interrupted && hooks.interrupted();
    store.sweep(study, phase);
    const double slots = slots_of(workers_on(store, study));
    Progress progress = progress_of(store, study, phase, slots, watch.seconds(), first_estimate);
    for (const int64_t id : store.ended(study, phase)) {
      if (seen.insert(id).second && hooks.on_cell) hooks.on_cell(store.cell(id), progress);
    }
    outcome.states = progress.states;
    if (!progress.states.count("todo") && !progress.states.count("running")) break;
    if (outcome.interrupted) break;
    if (jobs) jobs->tend(progress.states, phase != "trial");
    if (hooks.on_tick) hooks.on_tick(progress);
    poll(nullptr, 0, kFollowMilliseconds);
  }
  for (CellRow& cell : store.cells(study, phase)) {
    if (cell.state == "failed") outcome.failed.push_back(std::move(cell));
  }
  outcome.seconds = watch.seconds();
  return outcome;
}

Pace pace_of(const Store& store, const std::string& study) {
  Pace pace;
  pace.workers = workers_on(store, study);
  std::vector<double> ends;  // latest first
  const double now = seconds_of(timestamp());
  for (const std::string& time : store.ends(study, kMostEnds)) {
    const double at = seconds_of(time);
    if (at >= 0 && now - at <= kPaceSeconds) ends.push_back(at);
  }
  if (ends.size() > 1 && ends.front() > ends.back()) {
    pace.per_hour = static_cast<double>(ends.size() - 1) / (ends.front() - ends.back()) * 3600;
  }
  pace.left = progress_of(store, study, "", slots_of(pace.workers), 0, -1).left;
  return pace;
}

}  // namespace grm::study
