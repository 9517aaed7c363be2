#include <torch/types.h>

#include "nn/backbones.h"

namespace grm::nn {
namespace {

/// (conv, normalise, relu, dropout) for all layers but the last, which is a plain conv.
class Gcn : public Backbone {
 public:
  Gcn(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
      int64_t features, int64_t classes)
      : options_(options),
        plain_(options.conv, set.dtype(), set.device()),
        weighted_(options.conv, set.dtype(), set.device()),
        norms_(set, prefix, options.batch_norm, options.layers - 1, options.hidden),
        device_(set.device()),
        dtype_(set.dtype()) {
    for (int64_t l = 1; l <= options.layers; ++l) {
      layers_.emplace_back(set, tensor_name(prefix, "conv", l), l == 1 ? features : options.hidden,
                           l == options.layers ? classes : options.hidden);
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "gcn", true);
    if (input.sample) return on_sample(input, pass);
    const int64_t last = options_.layers - 1;
    const InputWeights given = weights_of(input, options_.weight_last_layer);
    const torch::Tensor inside = given.inner_on(device_, dtype_);
    const torch::Tensor outside = given.outer_on(device_, dtype_);
    const Propagation outer =
        input.propagation.pattern ? input.propagation : operator_of(input.edges, outside);
    const bool alike = given.last_layer || !given.mask.defined();
    const Propagation inner = alike ? outer : operator_of(input.edges, inside);
    torch::Tensor h;
    for (int64_t l = 0; l < last; ++l) {
      const torch::Tensor z =
          l == 0 ? layers_[l].forward(input.x, inner, input.shared) : layers_[l].forward(h, inner);
      h = pass.dropout(torch::relu(norms_.forward(l, z, pass)), options_.dropout);
    }
    const GcnLayer& top = layers_[last];
    return {h, last == 0 ? top.forward(input.x, outer, input.shared) : top.forward(h, outer)};
  }

  torch::Tensor layer(int64_t l, const BackboneInput& input) override {
    return run_block(layers_, norms_, l, input.x, sampled(input, 0),
                     [](const torch::Tensor& z) { return torch::relu(z); });
  }

 private:
  Propagation sampled(const BackboneInput& input, int64_t l) const {
    return sampled_propagation(options_.conv, *input.sample, l, input.data_weights, dtype_,
                               device_);
  }
  BackboneOutput on_sample(const BackboneInput& input, Pass& pass) {
    return run_blocks(
        layers_, norms_, input.x, [&](int64_t l) { return sampled(input, l); }, options_.dropout,
        pass, [](const torch::Tensor& z) { return torch::relu(z); });
  }

  Propagation operator_of(const AdjacencyPtr& edges, const torch::Tensor& weights) {
    return weights.defined() ? weighted_.get(edges, weights) : plain_.get(edges);
  }

  BackboneOptions options_;
  PropagationCache plain_;
  WeightedPropagation weighted_;
  BlockNorms norms_;
  torch::Device device_;
  torch::Dtype dtype_;
  std::vector<GcnLayer> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_gcn(ParameterSet& set, const std::string& prefix,
                                   const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Gcn>(set, prefix, options, shape.features, shape.classes);
}

PassCost cost_of_gcn(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double n = g.nodes, h = static_cast<double>(o.hidden);
  PassCost pass = pass_memory(o, g, classes, h,
                              n * h * static_cast<double>(o.layers - 1) * (1 + arrays_besides(o)));
  stack_work(pass.work, g, o.layers, h, classes, [&](double out) {
    pass.work.sparse("propagation", cost::operator_entries(o.conv, g.edges, n), n, out, 2);
  });
  return pass;
}

}  // namespace grm::nn
