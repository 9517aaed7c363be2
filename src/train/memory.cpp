#include "grm/train/memory.h"

#include <torch/types.h>

#include <cmath>
#include <set>

#include "grm/core/error.h"
#include "memory_parts.h"

namespace grm {
namespace memory {
namespace {

constexpr double kCudaProgram = 1500 * kMiB;  // kProgram with libtorch's CUDA side, on the host
constexpr double kCudaContext = 500 * kMiB;   // on the GPU

// Bytes of all distinct tensors of the data.
class DataBytes {
 public:
  void add(const torch::Tensor& t) {
    if (t.defined() && t.numel() > 0 && seen_.insert(t.data_ptr()).second) {
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

std::vector<GraphShape> shapes(const std::vector<Domain>& domains) {
  std::vector<GraphShape> all;
  for (const Domain& domain : domains) all.push_back(shape_of(domain.graph));
  return all;
}

}  // namespace memory

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
  memory::Measures measures;
  return memory::estimate(config, task, device, measures);
}

MemoryEstimate memory::estimate(const RunConfig& config, const Task& task,
                                const torch::Device& device, Measures& measures) {
  Parts parts(device.is_cuda());
  parts.host("program", parts.cuda() ? kCudaProgram : kProgram);
  if (parts.cuda()) parts.numbers("context", kCudaContext);
  parts.topology("data", data_bytes(task));
  const OptionValues options(config.method.options());
  const std::string& method = config.method_name();
  if (task.level != Level::node) {
    graph_level_parts(parts, method, options, task);
  } else if (method == "grm") {
    grm_parts(parts, grm_options(config.method.options(), false), task, measures);
  } else {
    backbone_parts(parts, method, options, task, config.train.epochs);
  }
  return parts.estimate;
}

std::string memory_text(double bytes) {
  const double mib = bytes / memory::kMiB;
  return mib < 1000 ? fmt::format("{:.0f} MiB", std::ceil(mib))
                    : fmt::format("{:.1f} GiB", mib / 1024);
}

MemoryEstimate check_memory(const RunConfig& config, const Task& task,
                            const torch::Device& device) {
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
