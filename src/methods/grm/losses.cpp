#include "methods/grm/losses.h"

#include <torch/types.h>

#include "ops/latent.h"
#include "ops/sparse.h"

namespace grm {

torch::Tensor GrmTerms::total(const GrmOptions& options) const {
  return supervision + options.effective_alpha() * (latent_kl + edge_kl) +
         options.effective_beta() * invariance;
}

torch::Tensor latent_kl(const GraphBatch& batch, const torch::Tensor& per_node,
                        const GrmOptions& options) {
  const torch::Tensor mean = ops::segment_mean(batch.node_offsets, per_node).mean();
  return options.latent_reduction == Reduction::mean ? mean / static_cast<double>(options.latent)
                                                     : mean;
}

torch::Tensor edge_kl(const GraphBatch& batch, const GeneratedEdges& edges,
                      const GrmOptions& options) {
  // Rows of a graph are consecutive, hence so are its pairs.
  const torch::Tensor pair_offsets = edges.pairs->in.offsets.index_select(0, batch.node_offsets);
  return options.pair_reduction == Reduction::mean ? ops::segment_mean(pair_offsets, edges.kl)
                                                   : ops::segment_sum(pair_offsets, edges.kl);
}

torch::Tensor invariance_loss(const torch::Tensor& offsets, const torch::Tensor& h,
                              const torch::Tensor& z, const torch::Tensor& index) {
  const torch::Tensor distance = ops::row_distance(h, z, index);
  return ops::segment_mean(offsets, distance).mean();
}

}  // namespace grm
