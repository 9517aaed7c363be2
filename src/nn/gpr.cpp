#include <torch/types.h>

#include "nn/backbones.h"
#include "nn/convolutions.h"

namespace grm::nn {
namespace {

constexpr int64_t kSteps = 10;
constexpr double kAlpha = 0.1;
constexpr double kPropagationDropout = 0.5;  // in every training pass, whatever `dropout` says

/// GPR-GNN: two linear layers, then a learned mixture of the powers of the kipf operator.
class Gpr : public Backbone {
 public:
  Gpr(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
      int64_t features, int64_t classes)
      : dropout_(options.dropout),
        operators_(Conv::kipf, set.dtype(), set.device()),
        weighted_(Conv::kipf, set.dtype(), set.device()),
        first_(set, tensor_name(prefix, "linear", 1), features, options.hidden),
        second_(set, tensor_name(prefix, "linear", 2), options.hidden, classes),
        coefficients_(set.parameter(tensor_name(prefix, "coefficients"),
                                    pagerank_coefficients(kSteps, kAlpha, set.dtype()))) {}

  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    check_input(input, "gpr", false);
    const Features x = drop_features(input.x, dropout_, pass, first_.weight.device());
    const torch::Tensor hidden = pass.dropout(torch::relu(first_.forward(x)), dropout_);
    const torch::Tensor scores = pass.dropout(second_.forward(hidden), kPropagationDropout);
    return {hidden, generalised_pagerank(operator_of(input), scores, coefficients_)};
  }

 private:
  Propagation operator_of(const BackboneInput& input) {
    return input.data_weights.defined() ? weighted_.get(input.edges, input.data_weights)
                                        : operators_.get(input.edges);
  }

  double dropout_;
  PropagationCache operators_;
  WeightedPropagation weighted_;
  Linear first_, second_;
  torch::Tensor coefficients_;  // [kSteps + 1]
};

}  // namespace

std::unique_ptr<Backbone> make_gpr(ParameterSet& set, const std::string& prefix,
                                   const BackboneOptions& options, const BackboneShape& shape) {
  return std::make_unique<Gpr>(set, prefix, options, shape.features, shape.classes);
}

PassCost cost_of_gpr(const BackboneOptions& o, const GraphShape& g, double classes) {
  const double n = g.nodes, h = static_cast<double>(o.hidden), dropped = o.dropout > 0 ? 2 : 0;
  PassCost pass = pass_memory(o, g, classes, h,
                              n * (h * (1 + dropped) + 24 * classes) + 3 * dropped * g.sparse);
  pass.passing = cost::kFloat * 3 * n * h;
  pass.work.features("features", g, h);
  pass.work.product("maps", n, h, classes, 3);
  pass.work.sparse("propagation", g.edges + n, n, classes, 2 * static_cast<double>(kSteps));
  return pass;
}

}  // namespace grm::nn
