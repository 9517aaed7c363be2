#pragma once

#include <torch/types.h>

#include "grm/core/rng.h"
#include "nn/data_propagation.h"
#include "nn/graph_encoder.h"

// What mixup needs at both levels, and its network on nodes.
namespace grm {

/// One draw from Beta(alpha, alpha); 1 for alpha = 0.
double draw_beta(Stream stream, double alpha);

/// A row for each of n items: that of itself, but among `ids` (int64 [k]) a random other of them, or
/// itself.  [n] int64
torch::Tensor shuffled_among(int64_t n, const torch::Tensor& ids, Stream stream);

struct MixupNetOptions {
  nn::Conv conv = nn::Conv::kipf;
  int64_t hidden = 128;
  int64_t layers = 2;
  double dropout = 0.0;
  bool batch_norm = true;
  double input_dropout = 0.0;
};

/// Two-branch mixup of nodes (Wang et al., WWW 2021): layers f(x, z) = A x W1 + z W2 + b, of which A x
/// comes from the node's neighbours and z is the node itself, then a linear map.
class MixupNet {
 public:
  MixupNet(nn::ParameterSet& set, const MixupNetOptions& options, int64_t features,
           int64_t classes);
  /// What comes out for the nodes as they are and, where `order` is given, for the mixed ones: node i
  /// is `l` (a scalar) of itself and 1 - l of node order[i], at each layer among the neighbours of
  /// either.  [n, classes]
  struct Output {
    torch::Tensor plain, mixed;
  };
  Output forward(const Graph& graph, nn::Pass& pass, const torch::Tensor& order = {},
                 const torch::Tensor& l = {});

 private:
  struct Layer {
    torch::Tensor neighbours;  // W1 [in, out]
    nn::Linear self;           // W2, b
    nn::BatchNorm norm;
  };
  torch::Tensor finished(Layer& layer, const torch::Tensor& rows, nn::Pass& pass) const;

  MixupNetOptions options_;
  nn::DataPropagation propagation_;
  torch::Device device_;
  torch::Dtype dtype_;
  std::vector<Layer> layers_;
  nn::Linear head_;
};

}  // namespace grm
