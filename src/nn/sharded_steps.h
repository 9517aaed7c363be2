#pragma once

#include <memory>
#include <vector>

#include "dist/sharded_sum.h"
#include "nn/recorded_step.h"

namespace grm::nn {

/// Runs steps that are cut into shards. A shard begins from the same parameters and running
/// statistics as all others; its gradients, and by how much its batch norms moved their statistics,
/// are summed in the order of the shards, and then every process takes the same step.
class ShardedSteps {
 public:
  ShardedSteps(const ParameterSet& set, const Sharding& sharding);
  void run(const When& when, const StepRecorder::Body& body);
  /// What the shards of each step since the last call reported, summed in their order.
  std::vector<std::vector<double>> read();

 private:
  torch::Tensor contribution(const std::vector<torch::Tensor>& before, double share) const;
  // Gradients, and buffers moved from what they were; `kept` are gradients of steps before.
  void take(const torch::Tensor& total, const std::vector<torch::Tensor>& before,
            const std::vector<torch::Tensor>& kept);

  const ParameterSet& set_;
  Sharding sharding_;  // keeps the group
  dist::ShardedSum sum_;
  std::vector<torch::Tensor> values_;  // of own shards, by step; undefined: it was empty
};

}  // namespace grm::nn
