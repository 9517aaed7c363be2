#include <benchmark/benchmark.h>

#include <cmath>

#include "graph/influence.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"
#include "grm/graph/batch.h"

namespace {

using grm::AdjacencyPtr;

constexpr int64_t kNodes = 10000;
constexpr int64_t kPairs = 150000;

// A symmetric graph with a few hubs and many nodes of low degree, about as large and as skewed as
// the German graph of the Twitch data.
const AdjacencyPtr& skewed_graph() {
  static const AdjacencyPtr graph = [] {
    grm::Stream draws(7);
    const auto node = [&] {
      return static_cast<int64_t>(std::pow(draws.uniform(), 2.5) * static_cast<double>(kNodes));
    };
    torch::Tensor source = torch::empty({kPairs}, torch::kInt64);
    torch::Tensor target = torch::empty({kPairs}, torch::kInt64);
    for (int64_t k = 0; k < kPairs; ++k) {
      source.data_ptr<int64_t>()[k] = node();
      target.data_ptr<int64_t>()[k] = node();
    }
    return grm::symmetrised(*grm::make_adjacency(kNodes, kNodes, source, target));
  }();
  return graph;
}

torch::Tensor spread_targets(int64_t count) {
  return torch::arange(count, torch::kInt64) * (kNodes / count);
}

void use_threads(const benchmark::State& state) {
  grm::set_threads(static_cast<int>(state.range(0)));
}

void ego_nets_of_500_targets(benchmark::State& state) {
  use_threads(state);
  const AdjacencyPtr& graph = skewed_graph();
  const torch::Tensor targets = spread_targets(500);
  for (auto _ : state) {
    benchmark::DoNotOptimize(grm::ego_batch(*graph, targets, {20}, grm::Stream(1)).rows());
  }
}

void two_hop_ego_nets_of_500_targets(benchmark::State& state) {
  use_threads(state);
  const AdjacencyPtr& graph = skewed_graph();
  const torch::Tensor targets = spread_targets(500);
  for (auto _ : state) {
    benchmark::DoNotOptimize(grm::ego_batch(*graph, targets, {10, 5}, grm::Stream(1)).rows());
  }
}

void all_pairs_of_500_ego_nets(benchmark::State& state) {
  use_threads(state);
  const grm::GraphBatch batch =
      grm::ego_batch(*skewed_graph(), spread_targets(500), {20}, grm::Stream(1));
  for (auto _ : state) benchmark::DoNotOptimize(grm::all_pairs(batch)->nnz());
}

void influence(benchmark::State& state, bool sampled) {
  use_threads(state);
  const AdjacencyPtr& graph = skewed_graph();
  grm::InfluenceRule rule;
  rule.sampled = sampled;
  double mean = 0.0;
  for (auto _ : state) mean = grm::influence_sets(*graph, rule).mean_size();
  state.counters["mean_size"] = mean;
}
void exact_influence(benchmark::State& state) {
  influence(state, false);
}
void sampled_influence(benchmark::State& state) {
  influence(state, true);
}

void rows_of_500_exact_sets(benchmark::State& state) {
  use_threads(state);
  static const grm::InfluenceSets sets = grm::influence_sets(*skewed_graph(), grm::InfluenceRule());
  const torch::Tensor ids = spread_targets(500);
  for (auto _ : state) benchmark::DoNotOptimize(sets.rows(ids)->nnz());
}

BENCHMARK(ego_nets_of_500_targets)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(two_hop_ego_nets_of_500_targets)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(all_pairs_of_500_ego_nets)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(exact_influence)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(sampled_influence)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(rows_of_500_exact_sets)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
