#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "grm/data/task.h"
#include "grm/train/config.h"

// What a run will need of memory, known before it needs it. The data are there already; what a
// method keeps besides is its own to say (methods/cost.h).
namespace grm {

struct MemoryPart {
  std::string what;
  double host = 0.0;    // bytes
  double device = 0.0;  // the same on the GPU that computes; 0 on the CPU
};

struct MemoryEstimate {
  std::vector<MemoryPart> parts;
  bool complete = true;  // false: the method declares nothing, and this is program and data alone
  double host() const;
  double device() const;
};

/// The peak of training and evaluating this configuration, all of the process included. Meant to be
/// right within a factor of two.
MemoryEstimate estimate_memory(const RunConfig& config, const Task& task,
                               const torch::Device& device);

/// The same of a method with its options, for one configuration after the other.
MemoryEstimate estimate_memory(const MethodRecipe& method, const Task& task, const RunShape& run,
                               const torch::Device& device);

/// Resident size of the program with libtorch loaded and its threads started, before any data.
constexpr double kProgramBytes = 210 * cost::kMiB;

/// What this process may hold in all, in bytes, and where the number comes from.
struct MemoryLimit {
  double bytes = 0.0;
  std::string source;  // "--memory-limit", "free on this machine", ...
};
/// On the CPU the least of the machine's free memory, the limits of its control groups and what is
/// left under ulimit -v and -d; on a GPU its free memory. The context's memory_limit replaces it.
MemoryLimit memory_limit(const torch::Device& device);

/// A change of the configuration that makes it fit.
struct MemoryOption {
  std::string flags;  // as typed: "--set method.influence=sampled"
  double bytes = 0.0;
};
/// Up to three changes whose own estimate is within the limit, the mildest first.
std::vector<MemoryOption> options_that_fit(const RunConfig& config, const Task& task,
                                           const torch::Device& device, double limit);

/// Error(memory) with estimate, limit and what would fit, unless the estimate is within the limit.
/// Returns the estimate.
MemoryEstimate check_memory(const RunConfig& config, const Task& task, const torch::Device& device);

/// "1.5 GiB", "12 MiB".
std::string memory_text(double bytes);

}  // namespace grm
