#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "grm/data/task.h"

// What methods look at that want the same of all environments: the labelled items of a training
// step, each with its environment. Which environments a batch has is never asked on the host, so a
// step can be recorded on a GPU: all of the training set's have a place, and `present` says which
// count.
namespace grm {

struct EnvironmentItems {
  torch::Tensor logits;       // [m, classes]
  torch::Tensor hidden;       // [m, h]: what the head sees; undefined where nobody asked for it
  torch::Tensor y;            // [m], or [m, tasks]
  torch::Tensor environment;  // [m] int64 below `environments`; -1: none
  int64_t environments = 0;
  /// First row of each environment and the end, where the rows of one lie together; else empty.
  std::vector<int64_t> blocks = {};
  /// By environment, where somebody asked for them: hidden rows [k, h] of the nodes of its graph that
  /// no domain trains on.
  std::vector<torch::Tensor> unlabelled = {};
};

struct EnvironmentRisks {
  torch::Tensor member;   // [E, m] 1 or 0
  torch::Tensor share;    // [E, m]: what the loss of an item counts in the risk of an environment
  torch::Tensor present;  // [E] 1 or 0
  torch::Tensor each;     // [E]: the mean loss over the known labels of each; 0 where there is none

  /// Mean of values [E] over the environments that are present; 0 without any.
  torch::Tensor mean(const torch::Tensor& values) const;
};

EnvironmentRisks environment_risks(const TrainLoss& loss, const EnvironmentItems& items);

}  // namespace grm
