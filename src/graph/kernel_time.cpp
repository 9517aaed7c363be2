#include "graph/kernel_time.h"

#ifdef GRM_CUDA
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <utility>
#include <vector>
#endif

namespace grm {

#ifdef GRM_CUDA

namespace {

// Times of an event in nanoseconds. libtorch 2.4 went from micro- to nanoseconds, and renamed them.
template <class Event>
auto interval_of(const Event& e, int) -> decltype(e.startNs(), std::pair<double, double>()) {
  const auto start = static_cast<double>(e.startNs());
  return {start, start + static_cast<double>(e.durationNs())};
}
template <class Event>
auto interval_of(const Event& e, long) -> decltype(e.startUs(), std::pair<double, double>()) {
  const auto start = 1e3 * static_cast<double>(e.startUs());
  return {start, start + 1e3 * static_cast<double>(e.durationUs())};
}

}  // namespace

std::optional<double> kernel_seconds(const std::function<void()>& work) {
  namespace impl = torch::profiler::impl;
  namespace profiler = torch::autograd::profiler;
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO);
  profiler::prepareProfiler(config, {impl::ActivityType::CUDA});
  profiler::enableProfiler(config, {impl::ActivityType::CUDA});
  try {
    work();
  } catch (...) {
    profiler::disableProfiler();
    throw;
  }
  const auto result = profiler::disableProfiler();
  std::vector<std::pair<double, double>> intervals;
  for (const auto& event : result->events()) {
    if (event.deviceType() == c10::DeviceType::CUDA) intervals.push_back(interval_of(event, 0));
  }
  std::sort(intervals.begin(), intervals.end());
  double busy = 0, end = 0;
  for (const auto& [from, to] : intervals) {
    busy += std::max(0.0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return busy * 1e-9;
}

#else

std::optional<double> kernel_seconds(const std::function<void()>& /*work*/) {
  return std::nullopt;
}

#endif

}  // namespace grm
