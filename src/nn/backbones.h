#pragma once

#include "nn/backbone.h"

// What the files of the single backbones share.
namespace grm::nn {

using MakeBackbone = std::unique_ptr<Backbone>(ParameterSet& set, const std::string& prefix,
                                               const BackboneOptions& options,
                                               const BackboneShape& shape);
MakeBackbone make_gcn, make_sage, make_gat, make_gpr, make_gcnii, make_mlp, make_gin, make_gatv2;
using CostOfBackbone = PassCost(const BackboneOptions& options, const GraphShape& graph,
                                double classes);
CostOfBackbone cost_of_gcn, cost_of_sage, cost_of_gat, cost_of_gpr, cost_of_gcnii, cost_of_mlp,
    cost_of_gin, cost_of_gatv2;

/// The memory of a pass through layers of one width, with `numbers` that wait for its backward pass
/// beside the logits; the work is left to the backbone.
PassCost pass_memory(const BackboneOptions& options, const GraphShape& graph, double classes,
                     double width, double numbers);
/// Arrays that a hidden layer keeps beside those of its map: its normalisation, and dropout's mask
/// and result.
double arrays_besides(const BackboneOptions& options);

/// The maps of a plain stack, features -> width -> ... -> last; `propagate(out)` adds what
/// follows each of them.
template <class Propagate>
void stack_work(WorkCount& work, const GraphShape& g, int64_t layers, double width, double last,
                const Propagate& propagate) {
  for (int64_t l = 1; l <= layers; ++l) {
    const double out = l == layers ? last : width;
    if (l == 1) {
      work.features("features", g, out);
    } else {
      work.product("maps", g.nodes, width, out, 3);
    }
    propagate(out);
  }
}

/// "prefix.kind3", or "kind3" without prefix; number 0 is left out.
std::string tensor_name(const std::string& prefix, const std::string& kind, int64_t number = 0);

/// Error(shape) unless features, edges and weights belong to the same graph; Error(config) naming
/// the backbone for weights where `takes_weights` is false.
void check_input(const BackboneInput& input, const std::string& backbone, bool takes_weights);

/// What layer `l` of a network sees of a sample: its own edges with what they carry. Of a whole
/// graph: all of it.
BackboneInput layer_of(const BackboneInput& input, int64_t l);

/// The weights of the inner layers and of the last: of the data, and a mask; undefined: all ones.
struct InputWeights {
  torch::Tensor data, mask;  // as they came
  bool last_layer = false;   // whether the mask reaches the last layer, too

  torch::Tensor inner_on(const torch::Device& device, torch::Dtype dtype) const;
  torch::Tensor outer_on(const torch::Device& device, torch::Dtype dtype) const;
};
InputWeights weights_of(const BackboneInput& input, bool weight_last_layer);

/// Input dropout that keeps features sparse: stored non-zeros of the sparse part are dropped (its
/// zeros stay zero anyway), the dense part entry by entry. The shift is a constant row, not data of
/// a node, and is not dropped. The result is on `device`.
Features drop_features(const Features& x, double p, Pass& pass, const torch::Device& device);

/// The normalisations between layers, or none with batch_norm = false: a block's rows pass through
/// unchanged then.
class BlockNorms {
 public:
  BlockNorms(ParameterSet& set, const std::string& prefix, bool enabled, int64_t blocks,
             int64_t width);
  torch::Tensor forward(int64_t block, const torch::Tensor& rows, const Pass& pass);

 private:
  std::vector<BatchNorm> norms_;
};

/// Blocks of a layer, its normalisation, `activation` and dropout, then the last layer alone. Layer
/// l goes over `over(l)`: propagations or patterns, as the layers take them.
template <class Layer, class OverOf, class Activation>
BackboneOutput run_blocks(const std::vector<Layer>& layers, BlockNorms& norms, const Features& x,
                          const OverOf& over, double dropout, Pass& pass,
                          const Activation& activation) {
  const auto last = static_cast<int64_t>(layers.size()) - 1;
  torch::Tensor h;
  for (int64_t l = 0; l < last; ++l) {
    const torch::Tensor z = l == 0 ? layers[l].forward(x, over(l)) : layers[l].forward(h, over(l));
    h = pass.dropout(activation(norms.forward(l, z, pass)), dropout);
  }
  return {h, last == 0 ? layers[last].forward(x, over(last)) : layers[last].forward(h, over(last))};
}

/// Block `l` of these alone, while predicting.
template <class Layer, class Over, class Activation>
torch::Tensor run_block(const std::vector<Layer>& layers, BlockNorms& norms, int64_t l,
                        const Features& x, const Over& over, const Activation& activation) {
  const torch::Tensor z = layers[l].forward(x, over);
  if (l + 1 == static_cast<int64_t>(layers.size())) return z;
  return activation(norms.forward(l, z, Pass::evaluate()));
}

}  // namespace grm::nn
