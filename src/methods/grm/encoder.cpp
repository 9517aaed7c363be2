#include <torch/types.h>

#include <cmath>

#include "grm/methods/grm/generator.h"
#include "grm/ops/sparse.h"

namespace grm {

Encoder::Encoder(nn::ParameterSet& set, const GrmOptions& options, int64_t input_width)
    : kind_(options.encoder),
      norm_(options.encoder_norm && options.encoder != "linear"),
      log_sigma_bias_(options.log_sigma_bias) {
  const int64_t wide = 2 * options.latent;
  // The linear encoder has no hidden layer: its one map is already both heads side by side.
  const int64_t first_out = kind_ == "linear" ? options.latent : wide;
  const auto layer = [&](const std::string& name, int64_t in, int64_t out, torch::Tensor& weight,
                         torch::Tensor& bias) {
    // Each head is drawn by the law of a layer of its own width `out`, although stored `wide`.
    const bool gcn = kind_ == "gcn2" || kind_ == "gcn1";
    const double bound = gcn ? std::sqrt(6.0 / static_cast<double>(in + out))
                             : 1.0 / std::sqrt(static_cast<double>(in));
    weight = set.uniform("encoder." + name + ".weight", {in, wide}, bound);
    bias = gcn ? set.constant("encoder." + name + ".bias", {wide}, 0.0)
               : set.uniform("encoder." + name + ".bias", {wide}, bound);
  };
  if (kind_ == "gin") {  // the network before this one is all but the heads
    layer("heads", input_width, options.latent, second_weight_, second_bias_);
    return;
  }
  layer("first", input_width, first_out, first_weight_, first_bias_);
  if (kind_ == "linear") return;
  layer("heads", wide, options.latent, second_weight_, second_bias_);
  if (norm_) batch_norm_ = nn::BatchNorm(set, "encoder.norm", wide);
}

torch::Tensor Encoder::transform(const EncoderInput& u) const {
  return u.dense.defined() ? u.dense.matmul(first_weight_)
                           : ops::feature_linear(u.features, first_weight_);
}

Posterior Encoder::posterior(const torch::Tensor& rows, const nn::Propagation& p,
                             const nn::Pass& pass) {
  torch::Tensor heads;
  if (kind_ == "linear") {
    heads = rows + first_bias_;
  } else if (kind_ == "gin") {
    heads = torch::addmm(second_bias_, rows, second_weight_);
  } else {
    torch::Tensor hidden = (local() ? rows : p.apply(rows)) + first_bias_;
    if (norm_) hidden = batch_norm_.forward(hidden, pass);
    heads = torch::relu(hidden).matmul(second_weight_);
    if (kind_ == "gcn2") heads = p.apply(heads);
    heads = heads + second_bias_;
  }
  const std::vector<torch::Tensor> halves = heads.chunk(2, 1);
  return {halves[0], torch::clamp(halves[1] + log_sigma_bias_, -10.0, 4.0)};
}

}  // namespace grm
