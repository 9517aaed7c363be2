#pragma once

#include <map>
#include <string>
#include <vector>

#include "grm/methods/method.h"
#include "grm/train/selection.h"

namespace grm {

/// Where a run stands after an epoch: all that is needed to resume to the same final bits. Random
/// streams are named by seed and epoch, so there is no generator state to keep.
struct TrainingState {
  int64_t epoch = 0;          // epochs done
  int64_t metrics_bytes = 0;  // length of metrics.jsonl at this point
  std::vector<Evaluation> history;
  int64_t best_epoch = 0;                        // epoch of `best`, 0: none yet
  std::map<std::string, torch::Tensor> best;     // parameters of the selected epoch so far
  std::map<std::string, torch::Tensor> average;  // of the weights, where they are averaged
  int64_t averaged = 0;                          // epochs in it
  double train_seconds = 0.0;
  double evaluate_seconds = 0.0;
  bool stopped_early = false;
};

/// Writes the method's parameters and optimisers with the state, atomically.
void write_checkpoint(const std::string& path, Method& method, const TrainingState& state);

/// Restores the method and returns the state. Error(data) if the file is damaged or belongs to
/// another model.
TrainingState read_checkpoint(const std::string& path, Method& method);

}  // namespace grm
