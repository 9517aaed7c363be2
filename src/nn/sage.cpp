#include <torch/types.h>

#include "nn/backbones.h"
#include "nn/convolutions.h"
#include "ops/sparse.h"

namespace grm::nn {
namespace {

/// The blocks of the GCN with GraphSAGE layers. Edge weights multiply the messages before the mean,
/// whose divisor stays the number of pairs. Weights of the data make it a weighted mean.
class Sage : public Backbone {
 public:
  Sage(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
       int64_t features, int64_t classes)
      : options_(options),
        means_([dtype = set.dtype(), device = set.device()](const AdjacencyPtr& edges) {
          return mean_propagation(edges, dtype, device);
        }),
        norms_(set, prefix, options.batch_norm, options.layers - 1, options.hidden) {
    for (int64_t l = 1; l <= options.layers; ++l) {
      layers_.emplace_back(set, tensor_name(prefix, "conv", l), l == 1 ? features : options.hidden,
                           l == options.layers ? classes : options.hidden);
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "sage", true);
    const auto block = [&](const auto& over) {
      return run_blocks(layers_, norms_, input.x, over, options_.dropout, pass, kActivation);
    };
    if (input.sample) return block([&](int64_t l) { return mean_of(layer_of(input, l)); });
    const Propagation plain = mean_of(input);
    Propagation inner = plain;
    if (input.edge_weights.defined()) {
      inner.weights =
          plain.weights *
          to_place_of(input.edge_weights, plain.weights).to(plain.weights.scalar_type());
    }
    const Propagation& outer = options_.weight_last_layer ? inner : plain;
    return block([&](int64_t l) { return l + 1 == options_.layers ? outer : inner; });
  }
  torch::Tensor layer(int64_t l, const BackboneInput& input) override {
    return run_block(layers_, norms_, l, input.x, mean_of(layer_of(input, 0)), kActivation);
  }

 private:
  static constexpr auto kActivation = [](const torch::Tensor& z) { return torch::relu(z); };

  Propagation mean_of(const BackboneInput& input) {
    Propagation mean = means_.get(input.edges);
    if (!input.data_weights.defined()) return mean;
    const torch::Tensor w =
        to_place_of(input.data_weights, mean.weights).to(mean.weights.scalar_type());
    mean.weights = mean_weights(input.edges, w);
    return mean;
  }

  // w_ji / sum_j w_ji; 0 where a node receives nothing.
  static torch::Tensor mean_weights(const AdjacencyPtr& edges, const torch::Tensor& w) {
    const torch::Tensor sums = ops::row_sum(edges, w);
    return w * select_rows(torch::where(sums > 0, torch::reciprocal(sums), torch::zeros_like(sums)),
                           edge_list(edges->on(w.device())).second);
  }

  BackboneOptions options_;
  PropagationCache means_;
  BlockNorms norms_;
  std::vector<SageLayer> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_sage(ParameterSet& set, const std::string& prefix,
                                    const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Sage>(set, prefix, options, shape.features, shape.classes);
}

PassCost cost_of_sage(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double n = g.nodes, h = static_cast<double>(o.hidden);
  PassCost pass = pass_memory(o, g, classes, h,
                              n * h * static_cast<double>(o.layers - 1) * (2 + arrays_besides(o)));
  pass.parameters += g.features * h;
  stack_work(pass.work, g, o.layers, h, classes,
             [&](double out) { pass.work.sparse("propagation", g.edges, n, out, 2); });
  // The map of the node itself, beside that of the mean.
  stack_work(pass.work, g, o.layers, h, classes, [](double) {});
  return pass;
}

}  // namespace grm::nn
