#include <torch/types.h>

#include "nn/backbones.h"

namespace grm::nn {
namespace {

/// (linear, normalise, relu, dropout) for all layers but the last, which is plainly linear.
class MlpBackbone : public Backbone {
 public:
  MlpBackbone(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
              int64_t features, int64_t classes)
      : dropout_(options.dropout),
        norms_(set, prefix, options.batch_norm, options.layers - 1, options.hidden) {
    for (int64_t l = 1; l <= options.layers; ++l) {
      layers_.emplace_back(set, tensor_name(prefix, "linear", l),
                           l == 1 ? features : options.hidden,
                           l == options.layers ? classes : options.hidden);
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "mlp", false);
    const size_t last = layers_.size() - 1;
    torch::Tensor h;
    for (size_t l = 0; l < last; ++l) {
      const torch::Tensor z = l == 0 ? layers_[l].forward(input.x) : layers_[l].forward(h);
      h = pass.dropout(torch::relu(norms_.forward(l, z, pass)), dropout_);
    }
    return {h, last == 0 ? layers_[last].forward(input.x) : layers_[last].forward(h)};
  }

  torch::Tensor layer(int64_t /*l*/, const BackboneInput& input) override {
    Pass pass = Pass::evaluate();
    return forward(input, pass).logits;
  }

 private:
  double dropout_;
  BlockNorms norms_;
  std::vector<Linear> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_mlp(ParameterSet& set, const std::string& prefix,
                                   const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<MlpBackbone>(set, prefix, options, shape.features, shape.classes);
}

PassCost cost_of_mlp(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double h = static_cast<double>(o.hidden), hidden_layers = static_cast<double>(o.layers - 1);
  PassCost pass =
      pass_memory(o, g, classes, h, g.nodes * h * hidden_layers * (1 + arrays_besides(o)));
  stack_work(pass.work, g, o.layers, h, classes, [](double) {});
  return pass;
}

}  // namespace grm::nn
