#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "graph/cuda_torch.h"
#include "grm/nn/adam.h"
#include "methods/grm/model.h"

namespace grm {

/// GRM's training steps on a GPU. Ego-nets are drawn there, nothing waits for the host inside an
/// epoch, and one step is recorded as a CUDA graph and replayed: what changes from step to step
/// (targets, labels, keys of the random streams, gamma, the numbers of Adam) is one copy to the
/// device, read by the kernels when they run.
class DeviceEpoch {
 public:
  /// Whether steps under these options can run this way.
  static bool possible(const GrmOptions& options, const torch::Device& device);

  DeviceEpoch(const GrmOptions& options, const TrainView& view, const Rng& rng, GrmModel& model,
              nn::Adam& optimiser, const torch::Device& device);

  /// Target nodes of domain `index` in a step.
  using Targets = std::function<torch::Tensor(int64_t step, size_t index)>;
  /// One epoch; the means of the terms, in the order of term_names.
  std::vector<double> run(int64_t epoch, int64_t steps, const Targets& targets);

 private:
  /// The numbers of one step, as they stand in device memory.
  torch::Tensor words(int64_t epoch, int64_t step, const std::vector<torch::Tensor>& targets);
  /// Launches a step whose numbers stand in `words`, with so many targets in each domain.
  void launch(const torch::Tensor& words, const std::vector<int64_t>& counts, int64_t steps);

  const GrmOptions& options_;
  const TrainView& view_;
  const Rng& rng_;
  GrmModel& model_;
  nn::Adam& optimiser_;
  torch::Device device_;
  torch::Tensor sums_;  // double: loss terms of the epoch so far
  // The recorded step, its input, and the shape that it was recorded for.
  std::unique_ptr<cuda_torch::RecordedWork> record_;
  torch::Tensor recorded_words_;
  std::vector<int64_t> recorded_counts_;
  int64_t recorded_steps_ = 0;
};

}  // namespace grm
