#include <torch/types.h>

#include "backbones.h"
#include "grm/nn/convolutions.h"

namespace grm::nn {
namespace {

/// Attention layers over the graph with one self-loop per node: (conv, normalise, elu, dropout)
/// with concatenated heads, then a last conv that averages its heads.
class Gat : public Backbone {
 public:
  Gat(ParameterSet& set, const std::string& prefix, const BackboneOptions& options,
      int64_t features, int64_t classes)
      : patterns_([](const AdjacencyPtr& edges) {
          return Propagation{with_self_loops(*edges), {}};
        }),
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
    const AdjacencyPtr pattern = patterns_.get(input.edges).pattern;
    return run_blocks(layers_, norms_, input.x, pattern, pattern, dropout_, pass,
                      [](const torch::Tensor& z) { return torch::elu(z); });
  }

 private:
  PropagationCache patterns_;
  BlockNorms norms_;
  double dropout_;
  std::vector<GatLayer> layers_;
};

}  // namespace

std::unique_ptr<Backbone> make_gat(ParameterSet& set, const std::string& prefix,
                                   const BackboneOptions& options, int64_t features,
                                   int64_t classes) {
  return std::make_unique<Gat>(set, prefix, options, features, classes);
}

}  // namespace grm::nn
