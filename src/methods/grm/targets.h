#pragma once

#include <map>
#include <vector>

#include "methods/grm/options.h"
#include "nn/recorded_step.h"

namespace grm {

/// Which labelled nodes of the training domains are the targets of a step: a fresh draw of `batch`
/// nodes, or, when an epoch visits every node, the step's share of one permutation. Belongs to a
/// method, whose options, domains and streams these are.
class GrmTargets {
 public:
  GrmTargets(const GrmOptions& options, const TrainView& view, const Rng& rng)
      : options_(options), view_(view), rng_(rng) {}

  /// Numbers of targets of the domains: the shape of a step.
  std::vector<int64_t> counts(int64_t step, int64_t steps) const;
  /// Those of a domain, int64.
  torch::Tensor of_step(const nn::When& when, int64_t steps, size_t domain) const;
  /// Those that the step's shard has of them, and the share that these are.
  torch::Tensor of_shard(const nn::When& when, int64_t steps, size_t domain) const;
  double share_of_shard(const nn::When& when, int64_t steps, size_t domain) const;
  /// Targets of the shard, then their labels.
  torch::Tensor with_labels(const nn::When& when, int64_t steps, size_t domain) const;

 private:
  // Where the targets of a step lie in a domain's draw: [begin, end).
  std::pair<int64_t, int64_t> share_of(const Domain& domain, int64_t step, int64_t steps) const;

  // The latest draw of a domain, which many steps take their share of.
  struct Drawn {
    int64_t epoch = 0;
    std::vector<int64_t> nodes;
  };
  const GrmOptions& options_;
  const TrainView& view_;
  const Rng& rng_;
  mutable std::map<size_t, Drawn> drawn_;
};

}  // namespace grm
