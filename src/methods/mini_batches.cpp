#include "methods/mini_batches.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "graph/sample.h"
#include "grm/core/error.h"

namespace grm {

MiniBatches::MiniBatches(const Sampling& sampling, const Rng& rng, std::optional<int64_t> hops)
    : sampling_(sampling), rng_(rng) {
  if (!sampling.on()) return;
  if (!hops) {
    fail(ErrorKind::config,
         "train.batch needs a network whose layers look one hop each: method.backbone = gcn, sage, "
         "gat, gatv2, gin or mlp");
  }
  const auto given = static_cast<int64_t>(sampling.fanout.size());
  if (*hops == 0) return;  // mlp looks at no neighbour
  if (given > 0 && given != *hops) {
    fail(ErrorKind::config,
         "train.fanout has {} numbers, but the network has {} layers that look one hop further "
         "each; give a number for each, or none to draw all neighbours",
         given, *hops);
  }
  fanout_ = given > 0 ? sampling.fanout : std::vector<int64_t>(*hops, 0);
}

int64_t MiniBatches::steps(const std::vector<Domain>& domains) const {
  if (!on()) return 1;
  int64_t largest = 1;
  for (const Domain& domain : domains) largest = std::max(largest, domain.labels.loss.numel());
  return (largest + sampling_.batch - 1) / sampling_.batch;
}

torch::Tensor MiniBatches::places(const std::vector<Domain>& domains, size_t place,
                                  const nn::When& when) const {
  const int64_t steps = this->steps(domains), n = domains[place].labels.loss.numel();
  // Shares differ by one at most; a domain with fewer targets than steps shows some again.
  int64_t begin = n * when.step / steps, end = n * (when.step + 1) / steps;
  if (begin == end) begin = when.step % n, end = begin + 1;
  return torch::arange(begin, end, torch::kInt64);
}

double MiniBatches::share(const std::vector<Domain>& domains, size_t place,
                          const nn::When& when) const {
  return on() ? when.share_of(places(domains, place, when)) : 1.0;
}

std::vector<Domain> MiniBatches::draw(const std::vector<Domain>& domains,
                                      const nn::When& when) const {
  if (!on()) return domains;
  std::vector<Domain> drawn;
  for (size_t d = 0; d < domains.size(); ++d) {
    const torch::Tensor& all = domains[d].labels.loss;
    const torch::Tensor places = when.part_of(this->places(domains, d, when)).contiguous();
    if (steps(domains) > 1) {
      const uint64_t key = rng_.stream("batches", when.epoch, d).key();
      int64_t* place = places.data_ptr<int64_t>();
      for (int64_t k = 0; k < places.numel(); ++k) place[k] = permuted(key, place[k], all.numel());
    }
    drawn.push_back(around(domains[d], all.index_select(0, places), when, d));
  }
  return drawn;
}

Domain MiniBatches::around(const Domain& domain, const torch::Tensor& targets, const nn::When& when,
                           uint64_t place) const {
  const Stream draws = rng_.stream("neighbours", when.epoch, place_in_step(when, place));
  Domain batch;
  batch.name = domain.name;
  batch.group = domain.group;
  batch.graph = sample_graph(domain.graph, targets, fanout_, draws).graph;
  batch.labels.y = domain.labels.y.index_select(0, targets);
  batch.labels.loss = batch.labels.evaluate = torch::arange(targets.numel(), torch::kInt64);
  note_size("sampled nodes", static_cast<double>(batch.graph.nodes()));
  return batch;
}

// Four rounds of a Feistel network permute 0 .. 4^k - 1; what lies beyond n goes round again.
int64_t permuted(uint64_t key, int64_t index, int64_t n) {
  int bits = 1;
  while ((int64_t{1} << (2 * bits)) < n) ++bits;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  auto at = static_cast<uint64_t>(index);
  do {
    uint64_t high = at >> bits, low = at & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t mixed = high ^ (mix64(key + round, low) & mask);
      high = low;
      low = mixed;
    }
    at = (high << bits) | low;
  } while (at >= static_cast<uint64_t>(n));
  return static_cast<int64_t>(at);
}

std::vector<double> mean_over_steps(const std::vector<std::vector<double>>& steps) {
  std::vector<double> mean = steps.front();
  for (size_t s = 1; s < steps.size(); ++s) {
    for (size_t k = 0; k < mean.size(); ++k) mean[k] += steps[s][k];
  }
  for (double& value : mean) value /= static_cast<double>(steps.size());
  return mean;
}

}  // namespace grm
