#include <torch/types.h>

#include <optional>

#include "grm/core/error.h"
#include "nn/backbones.h"
#include "nn/convolutions.h"

namespace grm::nn {
namespace {

/// (GIN, normalise, relu, dropout) for all layers but the last, which is a plain GIN layer. Where
/// edges carry features, a linear map of the nodes comes first.
class Gin : public Backbone {
 public:
  Gin(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
      const BackboneShape& shape)
      : options_(options),
        norms_(set, prefix, options.batch_norm, options.layers - 1, options.hidden),
        device_(set.device()),
        dtype_(set.dtype()) {
    if (shape.edge_features > 0) {
      embed_.emplace(set, tensor_name(prefix, "embed"), shape.features, options.hidden);
    }
    for (int64_t l = 1; l <= options.layers; ++l) {
      const int64_t in = l == 1 && !embed_ ? shape.features : options.hidden;
      layers_.emplace_back(set, tensor_name(prefix, "conv", l), in, options.hidden,
                           l == options.layers ? shape.classes : options.hidden,
                           shape.edge_features, options.batch_norm);
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "gin", true);
    const InputWeights given = weights_of(input, options_.weight_last_layer);
    GinEdges inner{input.edges, given.inner_on(device_, dtype_), {}};
    if (embed_) inner.edge_x = input.edge_x.on(device_);
    GinEdges outer = inner;
    outer.weights = given.outer_on(device_, dtype_);
    const size_t last = layers_.size() - 1;
    torch::Tensor h = embed_ ? embed_->forward(input.x) : torch::Tensor();
    for (size_t l = 0; l < last; ++l) {
      const torch::Tensor z =
          conv(l, input.x, h, input.sample ? sampled(input, static_cast<int64_t>(l)) : inner, pass);
      h = pass.dropout(torch::relu(norms_.forward(static_cast<int64_t>(l), z, pass)),
                       options_.dropout);
    }
    return {h, conv(last, input.x, h,
                    input.sample ? sampled(input, static_cast<int64_t>(last)) : outer, pass)};
  }
  torch::Tensor layer(int64_t l, const BackboneInput& input) override {
    const Pass pass = Pass::evaluate();
    const torch::Tensor h = embed_ && l == 0 ? embed_->forward(input.x) : input.x.dense;
    const bool first = l == 0 && !embed_;
    const torch::Tensor z =
        conv(static_cast<size_t>(l), input.x, first ? torch::Tensor() : h, sampled(input, 0), pass);
    if (l + 1 == static_cast<int64_t>(layers_.size())) return z;
    return torch::relu(norms_.forward(l, z, pass));
  }

 private:
  // The edges of a layer of a sample; each stands for some of the whole graph.
  GinEdges sampled(const BackboneInput& input, int64_t l) const {
    const BackboneInput own = layer_of(input, l);
    const Propagation sum =
        sampled_propagation(Conv::sum, *input.sample, l, input.data_weights, dtype_, device_);
    return {own.edges, sum.weights, embed_ ? own.edge_x.on(device_) : Features{}};
  }

  torch::Tensor conv(size_t l, const Features& x, const torch::Tensor& h, const GinEdges& edges,
                     const Pass& pass) {
    return h.defined() ? layers_[l].forward(h, edges, pass) : layers_[l].forward(x, edges, pass);
  }

  BackboneOptions options_;
  BlockNorms norms_;
  torch::Device device_;
  torch::Dtype dtype_;
  std::optional<Linear> embed_;
  std::vector<GinConv> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_gin(ParameterSet& set, const std::string& prefix,
                                   const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Gin>(set, prefix, options, shape);
}

PassCost cost_of_gin(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double n = g.nodes, h = static_cast<double>(o.hidden);
  const double layers = static_cast<double>(o.layers);
  // The map, its sum over neighbours, the sum with the node's own, norm and activation.
  PassCost pass = pass_memory(o, g, classes, h,
                              n * h * layers * (4 + arrays_besides(o)) +
                                  (g.edge_features > 0 ? layers * g.edges * h : 0.0));
  pass.parameters += h * h * layers;
  stack_work(pass.work, g, o.layers, h, h,
             [&](double out) { pass.work.sparse("propagation", g.edges, n, out, 2); });
  pass.work.product("maps", n, h, h, 3 * (layers - 1));
  pass.work.product("maps", n, h, classes, 3);
  return pass;
}

}  // namespace grm::nn
