#pragma once

#include <torch/types.h>

#include <string>

#include "nn/graph_encoder.h"

namespace grm::graph_level {

/// Rows of each segment brought to mean 0 and variance 1 per channel: (x - mean) / sqrt(var + 1e-5)
/// with the biased variance, no learnt scale, no running statistics.
/// offsets: [B + 1] int64, rows: [n, d] -> [n, d]
torch::Tensor instance_norm(const torch::Tensor& offsets, const torch::Tensor& rows);

/// GALA's edge scores: [2d -> 4d -> d -> 1] on [H_source ; H_target], with instance normalisation
/// over the edges of each graph, ReLU and dropout after both hidden layers.
class NormalisedScorer {
 public:
  NormalisedScorer() = default;
  NormalisedScorer(nn::ParameterSet& set, const std::string& name, int64_t width, double dropout);
  /// rows: [N, d] -> [nnz]
  torch::Tensor forward(const torch::Tensor& rows, const nn::GraphInput& batch,
                        nn::Pass& pass) const;

 private:
  nn::Linear first_, second_, last_;
  double dropout_ = 0.0;
};

}  // namespace grm::graph_level
