// Takes cells of a study and runs them in child processes, which take one cell after the other: the start of a
// process takes longer than a short run. This process itself never trains.
#include "study/runner.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <list>
#include <memory>
#include <set>

#include "core/clock.h"
#include "core/system/process.h"
#include "grm/core/error.h"
#include "study/mps.h"
#include "train/recorded_config.h"

namespace grm::study {
namespace {

constexpr double kUnknownNeedMib = 1500;  // of a cell whose like has not run yet
constexpr int kTickMilliseconds = 200;
constexpr double kClaimSeconds = 1.0;       // between looks at what other processes left free
constexpr double kServerTickSeconds = 2.0;  // between looks at a server's numbers
constexpr double kBeatShare = 0.2;  // of the patience: how often a worker says that it is there
constexpr int kGraceMilliseconds = 200;  // for a signal to arrive here, too
constexpr double kGoodbyeSeconds = 5.0;  // for processes to end that have nothing to do

class Phase {
 public:
  Phase(std::string study, std::string phase, const RunnerOptions& options,
        const RunnerHooks& hooks, Store& store, double first_estimate,
        const std::function<bool()>& more)
      : study_(std::move(study)),
        phase_(std::move(phase)),
        options_(options),
        hooks_(hooks),
        store_(store),
        more_(more),
        first_estimate_(first_estimate),
        peaks_(store.peak_memory()),
        tick_seconds_(store.server() ? kServerTickSeconds : 0.0) {
    join();
  }

  Outcome operator()() {
    Outcome outcome;
    for (;;) {
      if (!outcome.interrupted && hooks_.interrupted && hooks_.interrupted()) {
        outcome.interrupted = true;
        for (Worker& worker : workers_) {
          if (worker.job) worker.process->send(SIGINT);
        }
      }
      const bool none = !outcome.interrupted && !start_jobs();
      if (none && more_ && more_()) continue;
      if (busy() == 0 && (outcome.interrupted || (none && nothing_left()))) break;
      wait_for_news();
      if (reap(outcome.interrupted)) last_claim_ = -kClaimSeconds;  // there is room: look at once
      beat();
      if (hooks_.on_tick && watch_.seconds() - last_tick_ >= tick_seconds_) {
        last_tick_ = watch_.seconds();
        hooks_.on_tick(progress());
      }
    }
    dismiss();
    store_.leave(me_);
    outcome.processes = started_;
    outcome.done = done_;
    outcome.states = store_.counts(study_, phase_);
    std::vector<CellRow> ended = options_.worker ? std::move(own_) : store_.cells(study_, phase_);
    for (CellRow& cell : ended) {
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

  void join() { me_ = store_.join(study_, options_.job, options_.jobs, options_.patience); }

  // Who was silent for too long (a machine that slept) has lost its cells: others have them now.
  void beat() {
    if (watch_.seconds() - last_beat_ < options_.patience * kBeatShare) return;
    last_beat_ = watch_.seconds();
    if (store_.beat(me_, done_)) return;
    if (hooks_.on_message) {
      hooks_.on_message("silent for too long: its cells were given to others; it begins anew");
    }
    workers_.clear();
    join();
  }

  bool may_take(const CellRow& candidate, double used) const {
    if (!lacking_.empty() && lacking_.count(dataset_part(candidate.config))) return false;
    return busy() == 0 || used + need(candidate) <= options_.memory_mib;
  }

  int busy() const {
    return static_cast<int>(std::count_if(workers_.begin(), workers_.end(),
                                          [](const Worker& worker) { return worker.job; }));
  }

  double need(const CellRow& cell) const {
    const auto known = peaks_.find({cell.dataset, cell.method});
    return known == peaks_.end() ? kUnknownNeedMib : known->second;
  }

  // False: it asked, and there was none to take.
  bool start_jobs() {
    while (busy() < options_.jobs) {
      if (options_.cells > 0 && taken_ == options_.cells) return false;
      if (watch_.seconds() - last_claim_ < kClaimSeconds) return true;
      double used = 0;
      for (const Worker& worker : workers_) used += worker.job ? worker.job->need_mib : 0.0;
      std::optional<CellRow> cell = store_.claim(
          study_, phase_, me_, [&](const CellRow& candidate) { return may_take(candidate, used); });
      if (!cell) {
        last_claim_ = watch_.seconds();
        dismiss();
        return false;
      }
      ++taken_;
      Worker& worker = free_worker();
      worker.process->tell(std::to_string(cell->id));
      const double mib = need(*cell);
      worker.job = Job{std::move(*cell), mib};
    }
    return true;
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
    if (options_.cells > 0) return true;
    const std::map<std::string, int64_t> states = store_.counts(study_, phase_);
    if (states.count("running")) return false;
    if (!states.count("todo") || lacking_.empty()) return !states.count("todo");
    const std::vector<CellRow> all = store_.cells(study_, phase_);
    return std::all_of(all.begin(), all.end(), [&](const CellRow& cell) {
      return cell.state != "todo" || lacking_.count(dataset_part(cell.config));
    });
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
    // Who ends a job of a cluster ends all of its processes, this one perhaps a moment after its child.
    if (!interrupted && !end.empty() && hooks_.interrupted) {
      poll(nullptr, 0, kGraceMilliseconds);
      interrupted = hooks_.interrupted();
    }
    // The process writes its own row, unless it could not.
    const std::string message = end.empty() ? "ended without a result" : end;
    const std::string state = interrupted ? "todo" : "failed";
    const std::string child = store_.child_name(me_, worker.process->identity());
    if (!store_.give_up(id, child, state, message)) {
      store_.give_up(id, me_, state, message);
    }
    CellRow cell = store_.cell(id);
    if (cell.state == "no_data") {
      if (options_.worker) {
        lacking_.insert(dataset_part(cell.config));
        store_.leave_to_others(id);
      } else {
        store_.spread_no_data(id);
      }
    }
    if (options_.worker && cell.state != "done") own_.push_back(cell);
    if (cell.state == "done") {
      ++done_;
      double& peak = peaks_[{cell.dataset, cell.method}];
      peak = std::max(peak, cell.peak_mib);
    }
    if (hooks_.on_cell) hooks_.on_cell(cell, progress());
  }

  Progress progress() const {
    Progress p =
        progress_of(store_, study_, phase_, options_.jobs, watch_.seconds(), first_estimate_);
    for (const Worker& worker : workers_) {
      if (worker.job) p.running.push_back(cell_title(worker.job->cell));
    }
    return p;
  }

  const std::string study_, phase_;
  const RunnerOptions& options_;
  const RunnerHooks& hooks_;
  Store& store_;
  const std::function<bool()>& more_;
  std::string me_;
  const double first_estimate_;
  std::map<std::vector<std::string>, double> peaks_;
  std::list<Worker> workers_;
  std::set<std::string> lacking_;  // datasets whose files are not here
  std::vector<CellRow> own_;       // of a worker: those without a result
  int64_t started_ = 0, taken_ = 0, done_ = 0;
  Stopwatch watch_;
  double last_claim_ = -kClaimSeconds, last_beat_ = 0, last_tick_ = 0;
  const double tick_seconds_;
};

}  // namespace

Outcome take_cells(const std::string& study, const std::string& phase, const RunnerOptions& options,
                   const RunnerHooks& hooks, Store& store, double first_estimate,
                   const std::function<bool()>& more) {
  const SharedGpu shared(options.on_gpu() && options.jobs > 1);
  return Phase(study, phase, options, hooks, store, first_estimate, more)();
}

}  // namespace grm::study
