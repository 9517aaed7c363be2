// What is ahead of a phase of a study, and with how many processes it is done.
#include <algorithm>
#include <thread>

#include "core/system/memory.h"
#include "study/runner.h"

namespace grm::study {
namespace {

constexpr int kGpuJobs = 12;  // at once on one GPU, unless said otherwise

}  // namespace

RunnerOptions with_defaults(RunnerOptions options) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (options.on == Place::slurm) {  // of one task, on another machine
    options.jobs = std::max(1, options.jobs);
    options.threads = std::max(1, options.threads);
  }
  if (options.jobs <= 0) options.jobs = options.on_gpu() ? std::min(cores, kGpuJobs) : cores;
  if (options.threads <= 0) options.threads = std::max(1, cores / options.jobs);
  if (options.memory_mib <= 0) options.memory_mib = 0.8 * system_memory().free / 1048576;
  return options;
}

Forecast forecast(const Store* store, const StudySpec& spec, const std::string& phase,
                  const std::vector<PlannedCell>& cells, double expected_minutes,
                  const RunnerOptions& given) {
  const RunnerOptions options = with_defaults(given);
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

Progress progress_of(const Store& store, const std::string& study, const std::string& phase,
                     double slots, double elapsed, double first_estimate) {
  Progress p;
  p.states = store.counts(study, phase);
  for (const auto& [state, count] : p.states) p.total += count;
  p.elapsed = elapsed;
  const std::map<std::vector<std::string>, double> means = store.mean_seconds(study);
  if (means.empty()) {
    if (first_estimate >= 0) p.left = std::max(0.0, first_estimate - elapsed);
    return p;
  }
  double mean = 0, left = 0;
  for (const auto& [name, seconds] : means) mean += seconds / static_cast<double>(means.size());
  for (const auto& [name, count] : store.left(study, phase)) {
    const auto known = means.find(name);
    left += (known == means.end() ? mean : known->second) * count;
  }
  if (slots > 0 || left == 0) p.left = left / std::max(slots, 1.0);
  return p;
}

}  // namespace grm::study
