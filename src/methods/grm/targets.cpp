#include "methods/grm/targets.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"

namespace grm {

std::pair<int64_t, int64_t> GrmTargets::share_of(const Domain& domain, int64_t step,
                                                 int64_t steps) const {
  const int64_t n = domain.labels.loss.numel();
  if (options_.steps != 0) return {0, std::min(n, options_.batch)};
  const int64_t share = (n + steps - 1) / steps;
  const int64_t begin = std::min(n, step * share);
  return {begin, std::min(n, begin + share)};
}

std::vector<int64_t> GrmTargets::counts(int64_t step, int64_t steps) const {
  std::vector<int64_t> counts;
  if (options_.scope == Scope::whole) return counts;
  for (const Domain& domain : view_.training) {
    const auto [begin, end] = share_of(domain, step, steps);
    counts.push_back(std::max<int64_t>(end - begin, 1));
  }
  return counts;
}

torch::Tensor GrmTargets::of_shard(const nn::When& when, int64_t steps, size_t domain) const {
  return when.part_of(of_step(when, steps, domain));
}

double GrmTargets::share_of_shard(const nn::When& when, int64_t steps, size_t domain) const {
  return when.shards == 1 ? 1.0 : when.share_of(of_step(when, steps, domain));
}

torch::Tensor GrmTargets::of_step(const nn::When& when, int64_t steps, size_t domain) const {
  const Stage stage("sample");
  const torch::Tensor& all = view_.training[domain].labels.loss;
  const int64_t n = all.numel();
  const bool visit_all = options_.steps == 0;
  Drawn& latest = drawn_[domain];
  if (!visit_all || latest.epoch != when.epoch) {
    Stream draws = visit_all ? rng_.stream("targets", when.epoch, domain)
                             : rng_.stream("targets", when.epoch * 1000003 + when.step, domain);
    latest = {when.epoch, draws.choose(n, visit_all ? n : options_.batch)};
  }
  const auto [begin, end] = share_of(view_.training[domain], when.step, steps);
  std::vector<int64_t> chosen(latest.nodes.begin() + begin, latest.nodes.begin() + end);
  if (chosen.empty()) chosen.push_back(0);  // a small domain beside large ones
  return all.index_select(0, torch::tensor(chosen, torch::kInt64));
}

torch::Tensor GrmTargets::with_labels(const nn::When& when, int64_t steps, size_t domain) const {
  const torch::Tensor chosen = of_shard(when, steps, domain);
  return torch::cat({chosen, view_.training[domain].labels.y.index_select(0, chosen)});
}

}  // namespace grm
