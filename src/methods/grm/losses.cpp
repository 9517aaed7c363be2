#include "grm/methods/grm/losses.h"

#include <torch/types.h>

#include "grm/ops/generate.h"
#include "grm/ops/sparse.h"

namespace grm {

torch::Tensor GrmTerms::total(const GrmOptions& options) const {
  return supervision + options.effective_alpha() * (latent_kl + edge_kl) +
         options.effective_beta() * invariance;
}

torch::Tensor latent_kl(const GraphBatch& batch, const Posterior& q, const GrmOptions& options) {
  torch::Tensor per_node = ops::gaussian_kl(q.mu, q.log_sigma);
  if (options.latent_reduction == "mean") {
    per_node = per_node / static_cast<double>(options.latent);
  }
  return ops::segment_mean(batch.node_offsets, per_node).mean();
}

torch::Tensor edge_kl(const GraphBatch& batch, const GeneratedEdges& edges,
                      const GrmOptions& options) {
  // Rows of a graph are consecutive, hence so are its pairs.
  const torch::Tensor pair_offsets = edges.pairs->in.offsets.index_select(0, batch.node_offsets);
  const torch::Tensor per_graph = options.pair_reduction == "mean"
                                      ? ops::segment_mean(pair_offsets, edges.kl)
                                      : ops::segment_sum(pair_offsets, edges.kl);
  return per_graph.mean();
}

torch::Tensor invariance_loss(const GraphBatch& batch, const torch::Tensor& h,
                              const torch::Tensor& z) {
  const torch::Tensor distance = torch::sqrt((h - z).square().sum(1) + 1e-12);
  return ops::segment_mean(batch.node_offsets, distance).mean();
}

}  // namespace grm
