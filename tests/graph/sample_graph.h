#pragma once

#include <torch/types.h>

#include <vector>

#include "grm/core/rng.h"
#include "grm/graph/graph.h"

namespace grm::test {

// A directed graph with self-loops at every fifth node, weights of edges and features of edges.
inline Graph graph_to_sample(int64_t n, uint64_t seed) {
  Stream draw(seed);
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < n; ++i) {
    const auto count = static_cast<int64_t>(draw.below(12));
    for (int64_t k = 0; k < count; ++k) {
      const auto j = static_cast<int64_t>(draw.below(n));
      if (j != i) source.push_back(j), target.push_back(i);
    }
    if (i % 5 == 0) source.push_back(i), target.push_back(i);
  }
  Graph graph;
  graph.edges = make_adjacency(n, n, torch::tensor(source, torch::kInt64),
                               torch::tensor(target, torch::kInt64));
  const auto uniform = [&](at::IntArrayRef shape, uint64_t key, float low) {
    torch::Tensor x = torch::empty(shape, torch::kFloat32);
    Stream(seed + key).fill_uniform(x.data_ptr<float>(), x.numel(), low, low + 1);
    return x;
  };
  graph.x.dense = uniform({n, 3}, 1, -0.5F);
  graph.edge_weights = uniform({graph.edges->nnz()}, 2, 0.5F);
  graph.edge_x.dense = uniform({graph.edges->nnz(), 2}, 3, -0.5F);
  return graph;
}

}  // namespace grm::test
