#include "methods/grm/losses.h"

#include <torch/types.h>

#include "ops/latent.h"
#include "ops/sparse.h"

namespace grm {

namespace {

torch::Tensor without_presence(const GrmTerms& terms, const GrmOptions& options) {
  return terms.supervision + options.effective_alpha() * (terms.latent_kl + terms.edge_kl) +
         options.effective_beta() * terms.invariance;
}

}  // namespace

torch::Tensor GrmTerms::total(const GrmOptions& options, double gamma) const {
  const torch::Tensor sum = without_presence(*this, options);
  return presence_kl.defined() ? sum + gamma * presence_kl : sum;
}

torch::Tensor GrmTerms::total(const GrmOptions& options, const torch::Tensor& gamma) const {
  const torch::Tensor sum = without_presence(*this, options);
  return presence_kl.defined() ? sum + gamma.to(presence_kl.scalar_type()) * presence_kl : sum;
}

std::vector<torch::Tensor> GrmTerms::values(const torch::Tensor& total, double share) const {
  std::vector<torch::Tensor> all = {total, supervision, latent_kl, edge_kl, invariance};
  if (presence_kl.defined()) all.push_back(presence_kl);
  for (torch::Tensor& each : all) each = share == 1.0 ? each.detach() : each.detach() * share;
  return all;
}

std::vector<std::string> term_names(const GrmOptions& options) {
  std::vector<std::string> names = {"total", "supervision", "latent_kl", "edge_kl", "invariance"};
  if (options.gates()) names.push_back("presence_kl");
  return names;
}

std::vector<LossTerm> named_terms(const GrmOptions& options, const std::vector<double>& values) {
  const std::vector<std::string> names = term_names(options);
  std::vector<LossTerm> terms;
  for (size_t k = 0; k < names.size(); ++k) terms.push_back({names[k], values[k]});
  return terms;
}

torch::Tensor presence_kl(const GraphBatch& batch, const torch::Tensor& per_node) {
  return ops::segment_mean(batch.node_offsets, per_node).mean();
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
