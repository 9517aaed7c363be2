#include <torch/types.h>

#include "grm/methods/grm/generator.h"
#include "grm/ops/generate.h"
#include "grm/ops/sparse.h"

namespace grm {

Decoder::Decoder(nn::ParameterSet& set, const GrmOptions& options, int64_t features,
                 int64_t classes)
    : normalised_(options.conv == "kipf"), dropout_(options.dropout), theta_(options.theta) {
  const int64_t width = options.decoder_width > 0 ? options.decoder_width : features;
  feature_map_ = nn::Linear(set, "decoder.features", options.latent, width);
  edge_map_ = nn::Linear(set, "decoder.edges", options.latent, options.edge_width);
  first_ = nn::GcnLayer(set, "classifier.first", width, options.hidden);
  batch_norm_ = nn::BatchNorm(set, "classifier.norm", options.hidden);
  second_ = nn::GcnLayer(set, "classifier.second", options.hidden, classes);
}

GeneratedEdges Decoder::edges(const torch::Tensor& z, const AdjacencyPtr& pairs) const {
  const torch::Tensor f = edge_map_.forward(z);  // [rows, d_e]
  const ops::GeneratedEdges e = ops::generate_edges(ops::sddmm(pairs, f, f), theta_);
  return {pairs, e.weights, e.kl};
}

torch::Tensor Decoder::classify(const torch::Tensor& z, const GeneratedEdges& edges,
                                nn::Pass& pass) {
  // Ehat has its own diagonal, so no self-loop is added; degrees are the weighted ones.
  const nn::Propagation p{edges.pairs,
                          normalised_ ? ops::normalise(edges.pairs, edges.weights) : edges.weights};
  const torch::Tensor map = feature_map_.weight.matmul(first_.weight);   // W_x W_1
  const torch::Tensor offset = feature_map_.bias.matmul(first_.weight);  // b_x W_1
  torch::Tensor hidden = p.apply(z.matmul(map) + offset) + first_.bias;
  hidden = torch::relu(batch_norm_.forward(hidden, pass));
  return second_.forward(pass.dropout(hidden, dropout_), p);
}

}  // namespace grm
