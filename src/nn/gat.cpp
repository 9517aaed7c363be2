#include <torch/types.h>

#include "nn/attention.h"
#include "nn/backbones.h"

namespace grm::nn {
namespace {

/// Attention layers over the graph with one self-loop per node: (conv, normalise, elu, dropout)
/// with concatenated heads, then a last conv that averages its heads.
class Gat : public Backbone {
 public:
  Gat(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
      int64_t features, int64_t classes)
      : pairs_(set.dtype(), set.device()),
        norms_(set, prefix, options.batch_norm, options.layers - 1, options.heads * options.hidden),
        dropout_(options.dropout) {
    for (int64_t l = 1; l <= options.layers; ++l) {
      const bool is_last = l == options.layers;
      layers_.emplace_back(set, tensor_name(prefix, "conv", l),
                           l == 1 ? features : options.heads * options.hidden,
                           is_last ? classes : options.hidden, options.heads, !is_last);
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "gat", false);
    AttentionPairs whole;
    if (!input.sample) whole = pairs_.get(input, false);
    const auto over = [&](int64_t l) {
      return input.sample ? pairs_.get(layer_of(input, l), false) : whole;
    };
    return run_blocks(layers_, norms_, input.x, over, dropout_, pass, kActivation);
  }
  torch::Tensor layer(int64_t l, const BackboneInput& input) override {
    return run_block(layers_, norms_, l, input.x, pairs_.get(layer_of(input, 0), false),
                     kActivation);
  }

 private:
  static constexpr auto kActivation = [](const torch::Tensor& z) { return torch::elu(z); };
  AttentionCache pairs_;
  BlockNorms norms_;
  double dropout_;
  std::vector<GatLayer> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_gat(ParameterSet& set, const std::string& prefix,
                                   const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Gat>(set, prefix, options, shape.features, shape.classes);
}

PassCost cost_of_gat(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double n = g.nodes, looped = g.edges + n, heads = static_cast<double>(o.heads);
  const double width = heads * static_cast<double>(o.hidden);
  const double layers = static_cast<double>(o.layers);
  // u, u by head, the mixture and its sum with the bias, the activation; scores of the edges.
  PassCost pass = pass_memory(
      o, g, classes, width,
      n * width * (layers - 1) * (5 + arrays_besides(o)) + layers * looped * (4 * heads + 4));
  stack_work(pass.work, g, o.layers, width, heads * classes, [&](double out) {
    pass.work.product("attention", 2 * n, 1, out, 3);    // a_source . u and a_target . u
    pass.work.sparse("propagation", looped, n, out, 3);  // alpha u; to u; to alpha
  });
  return pass;
}

}  // namespace grm::nn
