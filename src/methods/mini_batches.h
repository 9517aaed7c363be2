#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grm/core/rng.h"
#include "grm/data/task.h"
#include "nn/recorded_step.h"

// Steps on samples of the training graphs (train.batch, train.fanout), for every method whose
// networks take a sample (Graph::sample). A step's domains are graphs like others: targets are their
// first rows, and what they need around them follows.
namespace grm {

class MiniBatches {
 public:
  /// `hops` of the network as nn::hops() says. Error(config) where the options do not fit it.
  MiniBatches(const Sampling& sampling, const Rng& rng, std::optional<int64_t> hops);

  bool on() const { return sampling_.on(); }
  /// Steps of an epoch that visits every target of the largest domain once; 1 on whole graphs.
  int64_t steps(const std::vector<Domain>& domains) const;
  /// The domains of a step: those given, or a sample of each around its share of the targets, whose
  /// order is new in every epoch. Of a shard: around the shard's part of these targets, which may be
  /// empty.
  std::vector<Domain> draw(const std::vector<Domain>& domains, const nn::When& when) const;
  /// The share of domain number `place` that the shard has of the step's targets.
  double share(const std::vector<Domain>& domains, size_t place, const nn::When& when) const;
  /// A sample around given items (int64) of domain number `place`; their loss counts.
  Domain around(const Domain& domain, const torch::Tensor& targets, const nn::When& when,
                uint64_t place) const;

 private:
  // The places, among the domain's targets in the epoch's order, of those of the step.
  torch::Tensor places(const std::vector<Domain>& domains, size_t place,
                       const nn::When& when) const;

  Sampling sampling_;
  Rng rng_;
  std::vector<int64_t> fanout_;  // one number for each hop
};

/// The names of streams have two numbers: what differs by step, by shard and by place, as one.
inline uint64_t place_in_step(const nn::When& when, uint64_t place) {
  return (when.place() << 32) + place;
}

/// Number `index` of a random order of 0 .. n-1. Nothing of the size of n is kept.
int64_t permuted(uint64_t key, int64_t index, int64_t n);

/// Means over the steps of an epoch of what they report.
std::vector<double> mean_over_steps(const std::vector<std::vector<double>>& steps);

}  // namespace grm
