#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/stages.h"
#include "graph/kernel_time.h"
#include "grm/train/config.h"
#include "train/memory.h"

// How fast training is, against what the machine can do at best, measured in the same process.
namespace grm {

struct BenchOptions {
  int64_t epochs = 0;    // measured ones; 0: as many as fit into some seconds
  bool evaluate = true;  // also time a pass over the validation and test domains
  int64_t seed = 1000;
  std::function<void(const std::string&)> say;  // progress, one line at a time
  std::function<bool()> interrupted;            // true: stop and report what there is
  std::shared_ptr<dist::Group> group;           // processes that train together
};

struct BenchReport {
  // The machine, measured between the epochs so that both see the same load.
  double sgemm_gflops = 0;              // 10,000 x 128 x 128, median
  double copy_gbytes = 0;               // per second, read and written, median
  std::optional<double> matmul_gflops;  // GPU: 4096 x 4096 x 4096 without TF32
  // An epoch of training.
  int64_t epochs = 0;
  double seconds_per_epoch = 0;  // median; without synchronisation inside
  double fastest_epoch = 0;
  double cpu_seconds_per_epoch = 0;  // of all threads, median: hardly moved by what else runs here
  double setup_seconds = 0;      // the first epoch less an ordinary one: influence, editors, caches
  double targets_per_epoch = 0;  // labelled items whose loss an epoch sees; 0 where unknown
  std::vector<StageTime> stages;  // of the median epoch; with "other" they add up to staged_seconds
  double staged_seconds = 0;      // CPU: seconds_per_epoch; GPU: an epoch that waits at every mark
  std::optional<double> kernel_share;     // GPU: share of an epoch during which kernels run
  std::optional<DeviceWork> device_work;  // GPU: what an epoch launches
  std::optional<WorkCount> work;          // of an epoch, by count
  // A pass over all validation and test domains.
  double evaluate_seconds = 0;
  double evaluated_items = 0;
  // Memory in MiB of the device that computes, and of the process.
  double peak_memory_mib = 0;
  double estimated_mib = 0;
  double host_peak_memory_mib = 0;
  std::vector<MemoryPart> memory;

  int processes = 1;
  /// The share of the median epoch that waits for other processes, or packs numbers for them and sums
  /// shards.
  double communication_share() const;

  /// Achieved share of the SGEMM rate over the whole epoch; nothing without a count.
  std::optional<double> share_of_sgemm() const;
  /// The same of the copy bandwidth, from the counted bytes.
  std::optional<double> share_of_copy() const;
};

/// Trains some epochs without keeping anything. Error(memory) before, if it would not fit.
BenchReport run_bench(const RunConfig& config, const Task& task, const BenchOptions& options);

/// One SGEMM of rows x inner x cols, in GFLOP/s, and one copy of that many bytes, in GB/s.
double product_rate(int64_t rows, int64_t inner, int64_t cols, const torch::Device& device);
double copy_rate(int64_t bytes, const torch::Device& device);

}  // namespace grm
