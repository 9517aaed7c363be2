#include <torch/types.h>

#include <type_traits>

#include "nn/attention.h"
#include "nn/backbones.h"

namespace grm::nn {
namespace {

/// Attention layers over the graph with one self-loop per node: (conv, normalise, elu, dropout)
/// with concatenated heads, then a last conv that averages its heads. GATv2's attention may see
/// features of edges.
template <class Layer>
class Attentive : public Backbone {
 public:
  Attentive(const char* name, ParameterSet& set, const std::string& prefix,
            const BackboneOptions& options, const BackboneShape& shape)
      : name_(name),
        pairs_(set.dtype(), set.device()),
        norms_(set, prefix, options.batch_norm, options.layers - 1, options.heads * options.hidden),
        dropout_(options.dropout),
        reads_edges_(kMayReadEdges && shape.edge_features > 0) {
    for (int64_t l = 1; l <= options.layers; ++l) {
      const bool is_last = l == options.layers;
      const std::string conv = tensor_name(prefix, "conv", l);
      const int64_t in = l == 1 ? shape.features : options.heads * options.hidden;
      const int64_t out = is_last ? shape.classes : options.hidden;
      if constexpr (kMayReadEdges) {
        layers_.emplace_back(set, conv, in, shape.edge_features, out, options.heads, !is_last);
      } else {
        layers_.emplace_back(set, conv, in, out, options.heads, !is_last);
      }
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, name_, false);
    AttentionPairs whole;
    if (!input.sample) whole = pairs_.get(input, reads_edges_);
    const auto over = [&](int64_t l) {
      return input.sample ? pairs_.get(layer_of(input, l), reads_edges_) : whole;
    };
    return run_blocks(layers_, norms_, input.x, over, dropout_, pass, kActivation);
  }
  torch::Tensor layer(int64_t l, const BackboneInput& input) override {
    return run_block(layers_, norms_, l, input.x, pairs_.get(layer_of(input, 0), reads_edges_),
                     kActivation);
  }

 private:
  static constexpr bool kMayReadEdges = std::is_same_v<Layer, Gatv2Layer>;
  static constexpr auto kActivation = [](const torch::Tensor& z) { return torch::elu(z); };
  const char* name_;
  AttentionCache pairs_;
  BlockNorms norms_;
  double dropout_;
  bool reads_edges_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_gat(ParameterSet& set, const std::string& prefix,
                                   const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Attentive<GatLayer>>("gat", set, prefix, options, shape);
}
std::unique_ptr<Backbone> make_gatv2(ParameterSet& set, const std::string& prefix,
                                     const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Attentive<Gatv2Layer>>("gatv2", set, prefix, options, shape);
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
