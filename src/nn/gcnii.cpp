#include <torch/types.h>

#include "nn/backbones.h"
#include "nn/convolutions.h"

namespace grm::nn {
namespace {

/// GCNII as the EERM code has it: the kipf weights are applied with rows = sources, so that on
/// directed graphs a node receives from its *out*-neighbours, and the output is a log-softmax.
class Gcnii : public Backbone {
 public:
  Gcnii(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
        int64_t features, int64_t classes)
      : dropout_(options.dropout),
        operators_([dtype = set.dtype(), device = set.device()](const AdjacencyPtr& edges) {
          return transposed(make_propagation(Conv::kipf, edges, {}, dtype, device));
        }),
        weighted_(Conv::kipf, set.dtype(), set.device()),
        first_(set, tensor_name(prefix, "linear", 1), features, options.hidden),
        last_(set, tensor_name(prefix, "linear", 2), options.hidden, classes) {
    for (int64_t l = 1; l <= options.layers; ++l) {
      layers_.emplace_back(set, tensor_name(prefix, "conv", l), options.hidden, l);
    }
  }

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "gcnii", false);
    const Propagation p = input.data_weights.defined()
                              ? transposed(weighted_.get(input.edges, input.data_weights))
                              : operators_.get(input.edges);
    const Features x = drop_features(input.x, dropout_, pass, first_.weight.device());
    const torch::Tensor h0 = torch::relu(first_.forward(x));
    torch::Tensor h = h0;
    for (const GcniiLayer& layer : layers_) {
      h = torch::relu(layer.forward(pass.dropout(h, dropout_), h0, p));
    }
    h = pass.dropout(h, dropout_);
    return {h, torch::log_softmax(last_.forward(h), 1)};
  }

 private:
  double dropout_;
  PropagationCache operators_;
  WeightedPropagation weighted_;
  Linear first_, last_;
  std::vector<GcniiLayer> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_gcnii(ParameterSet& set, const std::string& prefix,
                                     const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Gcnii>(set, prefix, options, shape.features, shape.classes);
}

PassCost cost_of_gcnii(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double n = g.nodes, h = static_cast<double>(o.hidden);
  const double layers = static_cast<double>(o.layers), dropped = o.dropout > 0 ? 2 : 0;
  PassCost pass = pass_memory(o, g, classes, h, n * h * layers * (6 + dropped));
  pass.work.features("features", g, h);
  pass.work.sparse("propagation", g.edges + n, n, h, 2 * layers);
  pass.work.product("maps", n, h, h, 3 * layers);
  pass.work.product("maps", n, h, classes, 3);
  return pass;
}

}  // namespace grm::nn
