// Runs the cells of a study in child processes, which take one cell after the other: the start of a
// process takes longer than a short run. This process itself never trains.
#include "study/runner.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <list>
#include <memory>

#include "core/clock.h"
#include "core/system/process.h"
#include "grm/core/error.h"
#include "study/mps.h"

namespace grm::study {
namespace {

constexpr double kUnknownNeedMib = 1500;  // of a cell whose like has not run yet
constexpr int kTickMilliseconds = 200;
constexpr double kClaimSeconds = 1.0;    // between looks at what other processes left free
constexpr double kGoodbyeSeconds = 5.0;  // for processes to end that have nothing to do

class Phase {
 public:
  Phase(const StudySpec& spec, std::string phase, const RunnerOptions& options,
        const RunnerHooks& hooks, Store& store, double first_estimate)
      : study_(spec.name),
        phase_(std::move(phase)),
        options_(options),
        hooks_(hooks),
        store_(store),
        me_(own_identity()),
        first_estimate_(first_estimate),
        peaks_(store.peak_memory()) {}

  Outcome operator()() {
    Outcome outcome;
    for (;;) {
      if (!outcome.interrupted && hooks_.interrupted && hooks_.interrupted()) {
        outcome.interrupted = true;
        for (Worker& worker : workers_) {
          if (worker.job) worker.process->send(SIGINT);
        }
      }
      if (!outcome.interrupted) start_jobs();
      if (busy() == 0 && (outcome.interrupted || nothing_left())) break;
      wait_for_news();
      if (reap(outcome.interrupted)) last_claim_ = -kClaimSeconds;  // there is room: look at once
      if (hooks_.on_tick) hooks_.on_tick(progress());
    }
    dismiss();
    outcome.processes = started_;
    outcome.states = store_.counts(study_, phase_);
    for (CellRow& cell : store_.cells(study_, phase_)) {
      if (cell.state == "failed")
        outcome.failed.push_back(std::move(cell));
      else if (cell.state == "no_data")
        outcome.no_data.push_back(std::move(cell));
    }
    outcome.seconds = watch_.seconds();
    return outcome;
  }

 private:
  struct Job {
    CellRow cell;
    double need_mib;
  };
  struct Worker {
    std::unique_ptr<ChildProcess> process;
    std::optional<Job> job;  // none: it waits for one
  };

  int busy() const {
    return static_cast<int>(std::count_if(workers_.begin(), workers_.end(),
                                          [](const Worker& worker) { return worker.job; }));
  }

  double need(const CellRow& cell) const {
    const auto known = peaks_.find({cell.dataset, cell.method});
    return known == peaks_.end() ? kUnknownNeedMib : known->second;
  }

  void start_jobs() {
    while (busy() < options_.jobs) {
      if (watch_.seconds() - last_claim_ < kClaimSeconds) return;
      double used = 0;
      for (const Worker& worker : workers_) used += worker.job ? worker.job->need_mib : 0.0;
      std::optional<CellRow> cell =
          store_.claim(study_, phase_, me_, [&](const CellRow& candidate) {
            return busy() == 0 || used + need(candidate) <= options_.memory_mib;
          });
      if (!cell) {
        last_claim_ = watch_.seconds();
        dismiss();
        return;
      }
      Worker& worker = free_worker();
      worker.process->tell(std::to_string(cell->id));
      const double mib = need(*cell);
      worker.job = Job{std::move(*cell), mib};
    }
  }

  Worker& free_worker() {
    for (Worker& worker : workers_) {
      if (!worker.job) return worker;
    }
    CellJob job{options_.database,
                0,
                me_,
                options_.runs,
                options_.data,
                options_.threads,
                options_.checkpoint_seconds,
                options_.device};
    std::vector<std::string> argv = job.arguments();
    argv.insert(argv.begin(), options_.program);
    workers_.push_back({std::make_unique<ChildProcess>(argv, ".", Talk::yes), std::nullopt});
    ++started_;
    return workers_.back();
  }

  // Lets processes go that have nothing to do: what they hold may be needed.
  void dismiss() {
    std::list<Worker> idle;
    for (auto worker = workers_.begin(); worker != workers_.end();) {
      const auto next = std::next(worker);
      if (!worker->job) idle.splice(idle.end(), workers_, worker);
      worker = next;
    }
    for (Worker& worker : idle) worker.process->hang_up();
    const Stopwatch patience;
    for (Worker& worker : idle) {
      while (!worker.process->ended() && patience.seconds() < kGoodbyeSeconds) {
        worker.process->read_output();
        poll(nullptr, 0, 5);
      }
    }
  }

  // Cells that other processes run may still come back, should those die.
  bool nothing_left() const {
    const std::map<std::string, int64_t> states = store_.counts(study_, phase_);
    return !states.count("todo") && !states.count("running");
  }

  void wait_for_news() {
    std::vector<pollfd> files;
    for (const Worker& worker : workers_) {
      files.push_back({worker.process->output(), POLLIN, 0});
      files.push_back({worker.process->channel(), POLLIN, 0});
    }
    poll(files.data(), files.size(), kTickMilliseconds);
    for (Worker& worker : workers_) worker.process->read_output();
  }

  bool reap(bool interrupted) {
    bool any = false;
    for (auto worker = workers_.begin(); worker != workers_.end();) {
      const auto next = std::next(worker);
      // Asked first: what it said before its end is heard then.
      const std::optional<std::string> end = worker->process->ended();
      for (const std::string& line : worker->process->heard()) {
        if (!worker->job || line != fmt::format("ended {} 0", worker->job->cell.id)) continue;
        finish(*worker, "", interrupted);
        any = true;
      }
      if (end) {
        if (worker->job) finish(*worker, *end, interrupted);
        workers_.erase(worker);
        any = true;
      }
      worker = next;
    }
    return any;
  }

  void finish(Worker& worker, const std::string& end, bool interrupted) {
    const int64_t id = worker.job->cell.id;
    worker.job.reset();
    // The process writes its own row, unless it could not.
    const std::string message = end.empty() ? "ended without a result" : end;
    const std::string state = interrupted ? "todo" : "failed";
    if (!store_.give_up(id, worker.process->identity(), state, message)) {
      store_.give_up(id, me_, state, message);
    }
    CellRow cell = store_.cell(id);
    if (cell.state == "no_data") store_.spread_no_data(id);
    if (cell.state == "done") {
      double& peak = peaks_[{cell.dataset, cell.method}];
      peak = std::max(peak, cell.peak_mib);
    }
    if (hooks_.on_cell) hooks_.on_cell(cell, progress());
  }

  Progress progress() const {
    Progress p;
    p.states = store_.counts(study_, phase_);
    for (const auto& [state, count] : p.states) p.total += count;
    for (const Worker& worker : workers_) {
      if (worker.job) p.running.push_back(cell_title(worker.job->cell));
    }
    p.elapsed = watch_.seconds();
    const std::map<std::vector<std::string>, double> means = store_.mean_seconds(study_);
    if (means.empty()) {
      if (first_estimate_ >= 0) p.left = std::max(0.0, first_estimate_ - p.elapsed);
      return p;
    }
    double mean = 0, left = 0;
    for (const auto& [name, seconds] : means) mean += seconds / static_cast<double>(means.size());
    for (const auto& [name, count] : store_.left(study_, phase_)) {
      const auto known = means.find(name);
      left += (known == means.end() ? mean : known->second) * count;
    }
    p.left = left / options_.jobs;
    return p;
  }

  const std::string study_, phase_;
  const RunnerOptions& options_;
  const RunnerHooks& hooks_;
  Store& store_;
  const std::string me_;
  const double first_estimate_;
  std::map<std::vector<std::string>, double> peaks_;
  std::list<Worker> workers_;
  int64_t started_ = 0;
  Stopwatch watch_;
  double last_claim_ = -kClaimSeconds;
};

}  // namespace

std::string cell_title(const CellRow& cell) {
  return fmt::format("{} {}{}{}{} seed {}", cell.dataset, cell.method,
                     cell.variant.empty() ? "" : " ", cell.variant,
                     cell.phase == "trial" ? fmt::format(" trial {}", cell.trial) : "", cell.seed);
}

Outcome run_phase(const StudySpec& spec, const std::string& phase,
                  const std::vector<PlannedCell>& cells, double expected_minutes,
                  const RunnerOptions& given, const RunnerHooks& hooks) {
  const RunnerOptions options = with_defaults(given);
  Store store(options.database, Open::create);
  for (const std::string& line : store.plan(spec, phase, cells)) {
    if (hooks.on_message) hooks.on_message(line);
  }
  for (const std::string& line : distrust_changed_data(store, spec.name, phase, options.data)) {
    if (hooks.on_message) hooks.on_message(line);
  }
  store.reopen(spec.name, phase, options.retry_failed);
  const Forecast ahead = forecast(&store, spec, phase, cells, expected_minutes, options);
  if (hooks.on_start) hooks.on_start(ahead);
  const SharedGpu shared(options.on_gpu() && options.jobs > 1);
  return Phase(spec, phase, options, hooks, store, ahead.seconds)();
}

Outcome run_study(const StudySpec& spec, const RunnerOptions& options, const RunnerHooks& hooks) {
  return run_phase(spec, "run", expand(spec), spec.expected_minutes, options, hooks);
}

}  // namespace grm::study
