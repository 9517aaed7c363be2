#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "grm/core/rng.h"
#include "grm/methods/method.h"
#include "nn/graph_encoder.h"

// What all graph-level methods train on: an epoch's batches.
namespace grm::graph_level {

/// The graphs `ids` (int64 [n]) in random order, cut into batches of `batch`; the last is shorter.
std::vector<torch::Tensor> epoch_batches(const torch::Tensor& ids, int64_t batch, Stream draws);
/// One step for each of these batches.
EpochShape epoch_of_batches(const std::vector<DomainShape>& sets, int64_t batch);

/// First edge of each graph of a batch, [B + 1] int64: edges of one graph lie together.
torch::Tensor edge_offsets(const nn::GraphInput& batch);

/// DIR's cut, bool [nnz]: the floor(share |E|) edges with the highest scores of each graph, and one
/// edge where that would be none (the published code leaves such a graph empty).
torch::Tensor top_share(const torch::Tensor& scores, const nn::GraphInput& batch, double share);

}  // namespace grm::graph_level
