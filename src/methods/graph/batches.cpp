#include "methods/graph/batches.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "methods/graph/subgraph.h"
#include "ops/sparse.h"

namespace grm::graph_level {

std::vector<torch::Tensor> epoch_batches(const torch::Tensor& ids, int64_t batch, Stream draws) {
  const int64_t n = ids.numel();
  const torch::Tensor order = torch::tensor(draws.choose(n, n), torch::kInt64);
  const torch::Tensor mixed = ids.index_select(0, order);
  std::vector<torch::Tensor> batches;
  for (int64_t first = 0; first < n; first += batch) {
    batches.push_back(mixed.slice(0, first, std::min(n, first + batch)));
  }
  return batches;
}

EpochShape epoch_of_batches(const std::vector<DomainShape>& sets, int64_t batch) {
  EpochShape epoch = MethodOptions().epoch(sets);
  epoch.steps = (static_cast<int64_t>(epoch.targets) + batch - 1) / batch;
  return epoch;
}

torch::Tensor edge_offsets(const nn::GraphInput& batch) {
  return batch.edges->in.offsets.index_select(0, batch.node_offsets);
}

torch::Tensor top_share(const torch::Tensor& scores, const nn::GraphInput& batch, double share) {
  if (batch.counted.defined()) {
    return top_edges_there(scores, *batch.edges, batch.node_offsets, share, false, 1);
  }
  const torch::Tensor keep = top_edges(scores, batch.edges, batch.node_offsets, share, false);
  const torch::Tensor offsets = edge_offsets(batch), counts = offsets.diff();
  const torch::Tensor kept = ops::segment_sum(offsets, keep.to(torch::kFloat32));
  // The ceiling of a share below one edge is one edge.
  const torch::Tensor tiny = kept.eq(0.0).logical_and(counts.gt(0));
  if (!tiny.any().item<bool>()) return keep;
  const torch::Tensor of_tiny = tiny.repeat_interleave(counts);
  return torch::where(of_tiny, top_edges(scores, batch.edges, batch.node_offsets, share, true),
                      keep);
}

}  // namespace grm::graph_level
