#include <torch/types.h>

#include "nn/attention.h"
#include "nn/backbones.h"

namespace grm::nn {
namespace {

/// The blocks of GAT with GATv2's attention, which may see features of edges.
class Gatv2 : public Backbone {
 public:
  Gatv2(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
        const BackboneShape& shape)
      : pairs_(set.dtype(), set.device()),
        norms_(set, prefix, options.batch_norm, options.layers - 1, options.heads * options.hidden),
        dropout_(options.dropout),
        edge_features_(shape.edge_features) {
    for (int64_t l = 1; l <= options.layers; ++l) {
      const bool is_last = l == options.layers;
      layers_.emplace_back(set, tensor_name(prefix, "conv", l),
                           l == 1 ? shape.features : options.heads * options.hidden,
                           shape.edge_features, is_last ? shape.classes : options.hidden,
                           options.heads, !is_last);
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "gatv2", false);
    AttentionPairs whole;
    if (!input.sample) whole = pairs_.get(input, edge_features_ > 0);
    const auto over = [&](int64_t l) {
      return input.sample ? pairs_.get(layer_of(input, l), edge_features_ > 0) : whole;
    };
    return run_blocks(layers_, norms_, input.x, over, dropout_, pass, kActivation);
  }
  torch::Tensor layer(int64_t l, const BackboneInput& input) override {
    return run_block(layers_, norms_, l, input.x,
                     pairs_.get(layer_of(input, 0), edge_features_ > 0), kActivation);
  }

 private:
  static constexpr auto kActivation = [](const torch::Tensor& z) { return torch::elu(z); };
  AttentionCache pairs_;
  BlockNorms norms_;
  double dropout_;
  int64_t edge_features_;
  std::vector<Gatv2Layer> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_gatv2(ParameterSet& set, const std::string& prefix,
                                     const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Gatv2>(set, prefix, options, shape);
}

PassCost cost_of_gatv2(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double n = g.nodes, looped = g.edges + n, heads = static_cast<double>(o.heads);
  const double width = heads * static_cast<double>(o.hidden);
  const double layers = static_cast<double>(o.layers);
  // Both maps, their halves and negatives by head, the mixture, the activation; scores of the
  // pairs, and their rows where edges carry features.
  const double pair_rows = g.edge_features > 0 ? 3 * width : 0;
  PassCost pass = pass_memory(o, g, classes, width,
                              n * width * (layers - 1) * (9 + arrays_besides(o)) +
                                  layers * looped * (5 * heads + 4 + pair_rows));
  pass.parameters += g.features * width;
  stack_work(pass.work, g, o.layers, width, heads * classes, [&](double out) {
    pass.work.sparse("attention", looped, n, out, 6);    // two kinds of scores, there and back
    pass.work.sparse("propagation", looped, n, out, 3);  // alpha u; to u; to alpha
  });
  stack_work(pass.work, g, o.layers, width, heads * classes, [](double) {});  // the targets' map
  return pass;
}

}  // namespace grm::nn
