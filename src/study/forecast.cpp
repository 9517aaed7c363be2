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

}  // namespace grm::study
