// Runs the cells of a study in child processes. This process itself never trains.
#include "study/runner.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <list>
#include <memory>
#include <thread>

#include "core/clock.h"
#include "core/system/memory.h"
#include "core/system/process.h"
#include "grm/core/error.h"
#include "study/mps.h"

namespace grm::study {
namespace {

constexpr double kUnknownNeedMib = 1500;  // of a cell whose like has not run yet
constexpr int kTickMilliseconds = 200;
constexpr int kGpuJobs = 12;           // at once on one GPU, unless said otherwise
constexpr double kClaimSeconds = 1.0;  // between looks at what other processes left free

bool uses_gpu(const RunnerOptions& options) {
  return options.device.rfind("cuda", 0) == 0;
}

// Jobs, threads and memory with the defaults filled in. One run alone leaves most of a GPU idle.
RunnerOptions filled(RunnerOptions options) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (options.jobs <= 0) options.jobs = uses_gpu(options) ? std::min(cores, kGpuJobs) : cores;
  if (options.threads <= 0) options.threads = std::max(1, cores / options.jobs);
  if (options.memory_mib <= 0) options.memory_mib = 0.8 * system_memory().free / 1048576;
  return options;
}

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
        for (Job& job : jobs_) job.process->send(SIGINT);
      }
      if (!outcome.interrupted) start_jobs();
      if (jobs_.empty() && (outcome.interrupted || nothing_left())) break;
      wait_for_news();
      if (reap(outcome.interrupted)) last_claim_ = -kClaimSeconds;  // there is room: look at once
      if (hooks_.on_tick) hooks_.on_tick(progress());
    }
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
    std::unique_ptr<ChildProcess> process;
  };

  double need(const CellRow& cell) const {
    const auto known = peaks_.find({cell.dataset, cell.method});
    return known == peaks_.end() ? kUnknownNeedMib : known->second;
  }

  void start_jobs() {
    while (static_cast<int>(jobs_.size()) < options_.jobs) {
      if (watch_.seconds() - last_claim_ < kClaimSeconds) return;
      double used = 0;
      for (const Job& job : jobs_) used += job.need_mib;
      std::optional<CellRow> cell =
          store_.claim(study_, phase_, me_, [&](const CellRow& candidate) {
            return jobs_.empty() || used + need(candidate) <= options_.memory_mib;
          });
      if (!cell) {
        last_claim_ = watch_.seconds();
        return;
      }
      CellJob job{options_.database,
                  cell->id,
                  me_,
                  options_.runs,
                  options_.data,
                  options_.threads,
                  options_.checkpoint_seconds,
                  options_.device};
      std::vector<std::string> argv = job.arguments();
      argv.insert(argv.begin(), options_.program);
      const double mib = need(*cell);
      jobs_.push_back({std::move(*cell), mib, std::make_unique<ChildProcess>(argv)});
    }
  }

  // Cells that other processes run may still come back, should those die.
  bool nothing_left() const {
    const std::map<std::string, int64_t> states = store_.counts(study_, phase_);
    return !states.count("todo") && !states.count("running");
  }

  void wait_for_news() {
    std::vector<pollfd> files;
    for (const Job& job : jobs_) files.push_back({job.process->output(), POLLIN, 0});
    poll(files.data(), files.size(), kTickMilliseconds);
    for (Job& job : jobs_) job.process->read_output();
  }

  bool reap(bool interrupted) {
    bool any = false;
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      const std::optional<std::string> end = job->process->ended();
      if (!end) {
        ++job;
        continue;
      }
      any = true;
      const int64_t id = job->cell.id;
      // The process writes its own row, unless it could not.
      const std::string message = end->empty() ? "ended without a result" : *end;
      const std::string state = interrupted ? "todo" : "failed";
      if (!store_.give_up(id, job->process->identity(), state, message)) {
        store_.give_up(id, me_, state, message);
      }
      jobs_.erase(job++);
      CellRow cell = store_.cell(id);
      if (cell.state == "no_data") store_.spread_no_data(id);
      if (cell.state == "done") {
        double& peak = peaks_[{cell.dataset, cell.method}];
        peak = std::max(peak, cell.peak_mib);
      }
      if (hooks_.on_cell) hooks_.on_cell(cell, progress());
    }
    return any;
  }

  Progress progress() const {
    Progress p;
    p.states = store_.counts(study_, phase_);
    for (const auto& [state, count] : p.states) p.total += count;
    for (const Job& job : jobs_) p.running.push_back(cell_title(job.cell));
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
  std::list<Job> jobs_;
  Stopwatch watch_;
  double last_claim_ = -kClaimSeconds;
};

}  // namespace

std::string cell_title(const CellRow& cell) {
  return fmt::format("{} {}{}{}{} seed {}", cell.dataset, cell.method,
                     cell.variant.empty() ? "" : " ", cell.variant,
                     cell.phase == "trial" ? fmt::format(" trial {}", cell.trial) : "", cell.seed);
}

Forecast forecast(const Store* store, const StudySpec& spec, const std::string& phase,
                  const std::vector<PlannedCell>& cells, double expected_minutes,
                  const RunnerOptions& given) {
  const RunnerOptions options = filled(given);
  Forecast f;
  f.phase = phase;
  f.cells = cells;
  f.jobs = options.jobs;
  f.threads = options.threads;
  f.memory_mib = options.memory_mib;
  std::map<std::vector<std::string>, double> means;
  if (store) means = store->mean_seconds(spec.name);
  double seconds = 0;
  int64_t left = 0, unknown = 0;
  for (const PlannedCell& cell : cells) {
    if (store && store->finished(cell.config)) {
      ++f.done;
      continue;
    }
    ++left;
    const auto known = means.find({cell.dataset, cell.method, cell.variant});
    if (known == means.end())
      ++unknown;
    else
      seconds += known->second;
  }
  if (left == 0) {
    f.seconds = 0;
  } else if (unknown == 0) {
    f.seconds = seconds / std::min<double>(options.jobs, static_cast<double>(left));
  } else if (expected_minutes > 0) {
    f.seconds =
        expected_minutes * 60 * static_cast<double>(left) / static_cast<double>(cells.size());
  }
  return f;
}

Outcome run_phase(const StudySpec& spec, const std::string& phase,
                  const std::vector<PlannedCell>& cells, double expected_minutes,
                  const RunnerOptions& given, const RunnerHooks& hooks) {
  const RunnerOptions options = filled(given);
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
  const SharedGpu shared(uses_gpu(options) && options.jobs > 1);
  return Phase(spec, phase, options, hooks, store, ahead.seconds)();
}

Outcome run_study(const StudySpec& spec, const RunnerOptions& options, const RunnerHooks& hooks) {
  return run_phase(spec, "run", expand(spec), spec.expected_minutes, options, hooks);
}

}  // namespace grm::study
