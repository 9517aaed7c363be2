#include <torch/types.h>

#include <cmath>

#include "methods/grm/generator.h"
#include "ops/propagate.h"
#include "ops/sparse.h"

namespace grm {

Encoder::Encoder(nn::ParameterSet& set, const GrmOptions& options, int64_t input_width)
    : kind_(options.encoder),
      norm_(options.encoder_norm && options.encoder != EncoderKind::linear),
      log_sigma_bias_(options.log_sigma_bias) {
  const int64_t wide = 2 * options.latent;
  // The linear encoder has no hidden layer: its one map is already both heads side by side.
  const int64_t first_out = kind_ == EncoderKind::linear ? options.latent : wide;
  const auto layer = [&](const std::string& name, int64_t in, int64_t out, torch::Tensor& weight,
                         torch::Tensor& bias) {
    // Each head is drawn by the law of a layer of its own width `out`, although stored `wide`.
    const bool gcn = kind_ == EncoderKind::gcn2 || kind_ == EncoderKind::gcn1;
    const double bound = gcn ? std::sqrt(6.0 / static_cast<double>(in + out))
                             : 1.0 / std::sqrt(static_cast<double>(in));
    weight = set.uniform("encoder." + name + ".weight", {in, wide}, bound);
    bias = gcn ? set.constant("encoder." + name + ".bias", {wide}, 0.0)
               : set.uniform("encoder." + name + ".bias", {wide}, bound);
  };
  if (only_heads()) {  // the network before this one is all but the heads
    layer("heads", input_width, options.latent, second_weight_, second_bias_);
    return;
  }
  layer("first", input_width, first_out, first_weight_, first_bias_);
  if (kind_ == EncoderKind::linear) return;
  layer("heads", wide, options.latent, second_weight_, second_bias_);
  if (norm_) batch_norm_ = nn::BatchNorm(set, "encoder.norm", wide);
}

torch::Tensor Encoder::transform(const EncoderInput& u) const {
  if (!u.node.defined()) return ops::feature_linear(u.features, first_weight_);
  // [r | q] W = r W_top + q W_bottom, added in place.
  const int64_t width = u.node.size(1);
  torch::Tensor rows = torch::mm(u.node, first_weight_.narrow(0, 0, width));
  return rows.addmm_(u.domain, first_weight_.narrow(0, width, u.domain.size(1)));
}

torch::Tensor Encoder::heads(const torch::Tensor& rows, const nn::Propagation& p,
                             const nn::Pass& pass, const torch::Tensor& counted, int64_t columns) {
  if (kind_ == EncoderKind::linear) return (rows + first_bias_).narrow(1, 0, columns);
  const bool all = columns == second_bias_.size(0);
  const torch::Tensor weight = all ? second_weight_ : second_weight_.narrow(1, 0, columns);
  const torch::Tensor bias = all ? second_bias_ : second_bias_.narrow(0, 0, columns);
  if (only_heads()) return torch::addmm(bias, rows, weight);
  torch::Tensor hidden;
  if (norm_) {
    hidden = (local() ? rows : p.apply(rows)) + first_bias_;
    hidden = torch::relu(batch_norm_.forward(hidden, pass, counted));
  } else if (local()) {
    hidden = torch::relu(rows + first_bias_);
  } else {
    hidden = ops::propagate(p.pattern, p.weights, rows, first_bias_, ops::Activation::relu);
  }
  if (kind_ != EncoderKind::gcn2) return torch::addmm(bias, hidden, weight);
  return ops::propagate(p.pattern, p.weights, hidden.matmul(weight), bias, ops::Activation::none);
}

Posterior Encoder::posterior(const torch::Tensor& rows, const nn::Propagation& p,
                             const nn::Pass& pass, const torch::Tensor& counted) {
  const int64_t both = kind_ == EncoderKind::linear ? first_bias_.size(0) : second_bias_.size(0);
  return {heads(rows, p, pass, counted, both), log_sigma_bias_};
}

torch::Tensor Encoder::posterior_mean(const torch::Tensor& rows, const nn::Propagation& p,
                                      const nn::Pass& pass) {
  const int64_t both = kind_ == EncoderKind::linear ? first_bias_.size(0) : second_bias_.size(0);
  return heads(rows, p, pass, {}, both / 2);
}

}  // namespace grm
