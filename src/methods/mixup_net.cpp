#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"
#include "methods/mixup.h"
#include "nn/backbones.h"
#include "ops/sparse.h"

namespace grm {
namespace {

// Gamma(a, 1) by Marsaglia and Tsang (2000); below 1 by the power of a uniform number that takes
// Gamma(a + 1) there. As a logarithm, since it may be very small.
double log_gamma_draw(Stream& stream, double a) {
  double below = 0.0;
  if (a < 1.0) {
    below = std::log1p(-stream.uniform()) / a;
    a += 1.0;
  }
  const double d = a - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = stream.normal(), v = std::pow(1.0 + c * x, 3.0);
    const double log_u = std::log1p(-stream.uniform());
    if (v > 0.0 && log_u < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return below + std::log(d) + std::log(v);
    }
  }
}

torch::Tensor mix(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& l) {
  return l * a + (1.0 - l) * b;
}

}  // namespace

double draw_beta(Stream stream, double alpha) {
  if (alpha == 0.0) return 1.0;
  const double x = log_gamma_draw(stream, alpha), y = log_gamma_draw(stream, alpha);
  return 1.0 / (1.0 + std::exp(y - x));
}

torch::Tensor shuffled_among(int64_t n, const torch::Tensor& ids, Stream stream) {
  const int64_t k = ids.numel();
  const torch::Tensor order = torch::tensor(stream.choose(k, k), torch::kInt64);
  return torch::arange(n, torch::kInt64).index_copy(0, ids, ids.index_select(0, order));
}

MixupNet::MixupNet(nn::ParameterSet& set, const MixupNetOptions& options, int64_t features,
                   int64_t classes)
    : options_(options),
      propagation_(options.conv, set.dtype(), set.device()),
      device_(set.device()),
      dtype_(set.dtype()) {
  for (int64_t k = 1; k <= options.layers; ++k) {
    const std::string name = "layer" + std::to_string(k);
    const int64_t in = k == 1 ? features : options.hidden;
    Layer layer{set.glorot(name + ".neighbours", in, options.hidden),
                nn::Linear(set, name + ".self", in, options.hidden),
                {}};
    if (options.batch_norm) layer.norm = nn::BatchNorm(set, name + ".norm", options.hidden);
    layers_.push_back(std::move(layer));
  }
  head_ = nn::Linear(set, "head", options.hidden, classes);
}

torch::Tensor MixupNet::finished(Layer& layer, const torch::Tensor& rows, nn::Pass& pass) const {
  return torch::relu(options_.batch_norm ? layer.norm.forward(rows, pass) : rows);
}

MixupNet::Output MixupNet::forward(const Graph& graph, nn::Pass& pass, const torch::Tensor& order,
                                   const torch::Tensor& l) {
  const nn::Propagation propagation = propagation_.get(graph);
  const Features x = nn::drop_features(graph.x, options_.input_dropout, pass, device_);
  const bool mixes = order.defined();
  torch::Tensor plain, mixed;  // a_k, z_k
  for (size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const bool first = k == 0;
    const torch::Tensor received = propagation.apply(
        first ? ops::feature_linear(x, layer.neighbours) : plain.mm(layer.neighbours));
    const torch::Tensor self = first ? layer.self.forward(x) : layer.self.forward(plain);
    if (mixes) {
      // f over the permuted edges of permuted rows is what arrives at the other node.
      const torch::Tensor elsewhere = ops::gather_rows(received, order);
      const torch::Tensor own =
          first ? mix(self, ops::gather_rows(self, order), l) : layer.self.forward(mixed);
      mixed = mix(finished(layer, received + own, pass), finished(layer, elsewhere + own, pass), l);
      mixed = pass.dropout(mixed, options_.dropout);
    }
    plain = pass.dropout(finished(layer, received + self, pass), options_.dropout);
  }
  return {head_.forward(plain), mixes ? head_.forward(mixed) : torch::Tensor()};
}

}  // namespace grm
