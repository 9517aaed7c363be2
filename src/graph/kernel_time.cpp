#include "graph/kernel_time.h"

#ifdef GRM_CUDA
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <map>
#include <utility>
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

bool begins_with(const std::string& name, const char* word) {
  return name.rfind(word, 0) == 0;
}

// A call of CUDA's runtime by the host. Names have suffixes of versions.
void count_call(const std::string& name, DeviceWork& found) {
  for (const char* starts :
       {"cudaLaunch", "cudaGraphLaunch", "cudaMemcpy", "cudaMemset", "cuLaunch"}) {
    if (begins_with(name, starts)) ++found.launches;
  }
  for (const char* waits :
       {"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize"}) {
    if (begins_with(name, waits)) ++found.waits;
  }
}

}  // namespace

std::optional<DeviceWork> device_work(const std::function<void()>& work) {
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
  DeviceWork found;
  std::vector<std::pair<double, double>> intervals;
  std::map<std::string, DeviceWork::Kernel> by_name;
  for (const auto& event : result->events()) {
    const std::string name = event.name();
    if (event.deviceType() != c10::DeviceType::CUDA) {
      count_call(name, found);
      continue;
    }
    intervals.push_back(interval_of(event, 0));
    DeviceWork::Kernel& kernel = by_name[name];
    ++kernel.runs;
    kernel.seconds += (intervals.back().second - intervals.back().first) * 1e-9;
  }
  for (auto& [name, kernel] : by_name) {
    kernel.name = name;
    found.kernels.push_back(kernel);
  }
  std::sort(found.kernels.begin(), found.kernels.end(),
            [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  std::sort(intervals.begin(), intervals.end());
  double busy = 0, end = 0;
  for (const auto& [from, to] : intervals) {
    busy += std::max(0.0, to - std::max(from, end));
    end = std::max(end, to);
  }
  found.busy = busy * 1e-9;
  return found;
}

#else

std::optional<DeviceWork> device_work(const std::function<void()>& /*work*/) {
  return std::nullopt;
}

#endif

}  // namespace grm
