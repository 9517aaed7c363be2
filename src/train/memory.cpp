#include "train/memory.h"

#include <torch/types.h>

#include <cmath>
#include <set>

#include "core/system/mapped_file.h"
#include "grm/core/error.h"
#include "train/sampling.h"

namespace grm {
namespace {

constexpr double kCudaProgram = 1500 * cost::kMiB;  // with libtorch's CUDA side, on the host
constexpr double kCudaContext = 500 * cost::kMiB;   // on the GPU

// Bytes of all distinct tensors of the data.
class DataBytes {
 public:
  void add(const torch::Tensor& t) {
    // Pages of mapped files are given up when memory is short.
    if (!t.defined() || t.numel() == 0 || in_mapped_file(t.data_ptr())) return;
    if (seen_.insert(t.data_ptr()).second) {
      bytes += static_cast<double>(t.nbytes());
    }
  }
  void add(const AdjacencyPtr& a) {
    if (!a) return;
    for (const torch::Tensor& t :
         {a->in.offsets, a->in.indices, a->out.offsets, a->out.indices, a->out_edge}) {
      add(t);
    }
  }
  void add(const Features& x) {
    add(x.sparse);
    for (const torch::Tensor& t : {x.sparse_values, x.dense, x.shift}) add(t);
  }
  double bytes = 0;

 private:
  std::set<const void*> seen_;
};

double data_bytes(const Task& task) {
  DataBytes data;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      data.add(domain.graph.edges);
      data.add(domain.graph.x);
      data.add(domain.graph.edge_x);
      for (const torch::Tensor& t :
           {domain.graph.parts, domain.graph.edge_weights, domain.labels.y, domain.labels.loss,
            domain.labels.evaluate, domain.labels.edge_truth}) {
        data.add(t);
      }
    }
  }
  return data.bytes;
}

}  // namespace

double MemoryEstimate::host() const {
  double sum = 0;
  for (const MemoryPart& part : parts) sum += part.host;
  return sum;
}

double MemoryEstimate::device() const {
  double sum = 0;
  for (const MemoryPart& part : parts) sum += part.device;
  return sum;
}

MemoryEstimate estimate_memory(const RunConfig& config, const Task& task,
                               const torch::Device& device) {
  const RunShape run(task, config.train.epochs, sampling_of(config));
  return estimate_memory(config.method.recipe(), task, run, device);
}

MemoryEstimate estimate_memory(const MethodRecipe& method, const Task& task, const RunShape& run,
                               const torch::Device& device) {
  MemoryEstimate estimate;
  const auto add = [&](const MemoryUse& use) {
    const bool host = !device.is_cuda() || use.place != MemoryPlace::numbers;
    const bool there = device.is_cuda() && use.place != MemoryPlace::host;
    if (use.bytes <= 0) return;
    estimate.parts.push_back({use.what, host ? use.bytes : 0, there ? use.bytes : 0});
  };
  add({"program", device.is_cuda() ? kCudaProgram : kProgramBytes, MemoryPlace::host});
  if (device.is_cuda()) add({"context", kCudaContext, MemoryPlace::numbers});
  add({"data", data_bytes(task), MemoryPlace::topology});
  const std::optional<MemoryUses> own = method.memory(run);
  estimate.complete = own.has_value();
  if (own) {
    for (const MemoryUse& use : *own) add(use);
  }
  return estimate;
}

std::string memory_text(double bytes) {
  const double mib = bytes / cost::kMiB;
  return mib < 1000 ? fmt::format("{:.0f} MiB", std::ceil(mib))
                    : fmt::format("{:.1f} GiB", mib / 1024);
}

MemoryEstimate check_memory(const RunConfig& config, const Task& task,
                            const torch::Device& device) {
  check_both_ways(task, sampling_of(config));
  MemoryEstimate estimate = estimate_memory(config, task, device);
  const MemoryLimit limit = memory_limit(device);
  const bool cuda = device.is_cuda();
  const double needed = cuda ? estimate.device() : estimate.host();
  if (needed <= limit.bytes) return estimate;
  std::string largest;
  double most = 0;
  for (const MemoryPart& part : estimate.parts) {
    const double bytes = cuda ? part.device : part.host;
    if (bytes <= most) continue;
    most = bytes;
    largest = part.what;
  }
  std::string advice;
  for (const MemoryOption& option : options_that_fit(config, task, device, limit.bytes)) {
    advice += fmt::format("\n  {}  (about {})", option.flags, memory_text(option.bytes));
  }
  fail(ErrorKind::memory,
       "{} on {} needs about {} of memory ({}: {}), but the limit is {} ({}).{}{}",
       config.method_name(), task.name, memory_text(needed), largest, memory_text(most),
       memory_text(limit.bytes), limit.source,
       advice.empty() ? " None of the changes that we know of would fit; use a larger machine or "
                        "smaller data"
                      : " What would fit:",
       advice);
}

}  // namespace grm
