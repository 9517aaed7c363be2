#include <torch/types.h>

#include <cmath>

#include "core/stages.h"
#include "grm/graph/device.h"
#include "methods/grm/generator.h"
#include "nn/activation.h"
#include "nn/readout.h"
#include "ops/generate.h"
#include "ops/propagate.h"
#include "ops/sparse.h"

namespace grm {

Decoder::Decoder(nn::ParameterSet& set, const GrmOptions& options, int64_t features,
                 int64_t classes)
    : normalised_(options.conv == nn::Conv::kipf),
      mean_kl_(options.pair_reduction == Reduction::mean),
      dropout_(options.dropout),
      theta_(options.theta),
      presence_prior_(options.presence_prior) {
  const int64_t width = options.decoder_width > 0 ? options.decoder_width : features;
  feature_map_ = nn::Linear(set, "decoder.features", options.latent, width);
  edge_map_ = nn::Linear(set, "decoder.edges", options.latent, options.edge_width);
  if (options.gates()) presence_map_ = nn::Linear(set, "decoder.presence", options.latent, 1);
  if (options.own_classifier()) {
    own_ = nn::make_own_network(set, "classifier.own", width, classes);
  } else {
    first_ = nn::GcnLayer(set, "classifier.first", width, options.hidden);
    if (options.batch_norm) batch_norm_ = nn::BatchNorm(set, "classifier.norm", options.hidden);
    second_ = nn::GcnLayer(set, "classifier.second", options.hidden, classes);
  }
  if (options.skip == Skip::latent) {  // the bias of the second layer serves both
    const double bound = 1.0 / std::sqrt(static_cast<double>(options.latent));
    skip_weight_ = set.uniform("classifier.skip.weight", {options.latent, classes}, bound);
  }
}

GeneratedEdges Decoder::edges(const torch::Tensor& z, const AdjacencyPtr& pairs) const {
  const torch::Tensor f = edge_map_.forward(z);  // [rows, d_e]
  const ops::GeneratedEdges e = ops::generate_edges(ops::sddmm(pairs, f, f), theta_);
  return {pairs, e.weights, e.kl};
}

GeneratedNodes Decoder::nodes(const torch::Tensor& z) const {
  if (!presence_map_.weight.defined()) return {};
  // The same sigmoid and the same KL as those of edges, of one logit per node.
  const ops::GeneratedEdges p =
      ops::generate_edges(presence_map_.forward(z).squeeze(1), presence_prior_);
  return {p.weights, p.kl};
}

torch::Tensor Decoder::first_map(const torch::Tensor& z) const {
  const torch::Tensor offset = torch::mv(first_.weight.t(), feature_map_.bias);
  return torch::addmm(offset, z, feature_map_.weight.mm(first_.weight));
}

torch::Tensor Decoder::with_skip(const torch::Tensor& logits, const torch::Tensor& z) const {
  return skip_weight_.defined() ? torch::addmm(logits, z, skip_weight_) : logits;
}

torch::Tensor Decoder::classify(const torch::Tensor& z, const GeneratedEdges& edges,
                                const GeneratedNodes& nodes, nn::Pass& pass,
                                const torch::Tensor& counted) {
  // Ehat has its own diagonal, so no self-loop is added; degrees are the weighted ones.
  const nn::Propagation p{edges.pairs,
                          normalised_ ? ops::normalise(edges.pairs, edges.weights) : edges.weights};
  const torch::Tensor hidden = nn::norm_relu_dropout(
      batch_norm_, p.apply(nodes.gated(first_map(z))), first_.bias, dropout_, pass, counted);
  const torch::Tensor rows = nodes.gated(hidden.mm(second_.weight));
  return with_skip(ops::propagate(p.pattern, p.weights, rows, second_.bias, ops::Activation::none),
                   z);
}

torch::Tensor Decoder::classify_own(const torch::Tensor& z, const GraphBatch& batch,
                                    const GeneratedEdges& edges, const GeneratedNodes& nodes,
                                    nn::Pass& pass) {
  nn::BackboneInput input;
  input.edges = edges.pairs;
  input.x.dense = feature_map_.forward(z);
  input.edge_weights = edges.weights;
  if (nodes.presence.defined()) {
    const auto [source, target] = edge_list(*edges.pairs);
    const torch::Tensor p = nodes.presence.unsqueeze(1);
    input.edge_weights = edges.weights * ops::gather_rows(p, to_place_of(source, p)).squeeze(1);
  }
  input.graph_of_node = nn::graph_of_row(batch.node_offsets, z.size(0));
  return with_skip(own_->forward(input, pass).logits, z);
}

Classified Decoder::classify_all_pairs(const torch::Tensor& z, const ops::GeneratedTiles& graphs,
                                       const GeneratedNodes& nodes, bool with_kl, nn::Pass& pass,
                                       const torch::Tensor& counted) {
  Classified result;
  const torch::Tensor x = nodes.gated(first_map(z));
  torch::Tensor f, hidden;
  {
    const Stage stage("generate");
    f = edge_map_.forward(z);
    if (with_kl) {
      std::tie(hidden, result.edge_kl) =
          ops::generated_product_and_kl(graphs, f, x, normalised_, theta_, mean_kl_);
    } else {
      hidden = ops::generated_product(graphs, f, x, normalised_);
    }
  }
  hidden = nn::norm_relu_dropout(batch_norm_, hidden, first_.bias, dropout_, pass, counted);
  result.logits = with_skip(
      ops::generated_product(graphs, f, nodes.gated(hidden.mm(second_.weight)), normalised_) +
          second_.bias,
      z);
  return result;
}

}  // namespace grm
