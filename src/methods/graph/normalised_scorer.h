#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "nn/graph_encoder.h"

namespace grm::graph_level {

/// Rows of each segment brought to mean 0 and variance 1 per channel: (x - mean) / sqrt(var + 1e-5)
/// with the biased variance, no learnt scale, no running statistics.
/// offsets: [B + 1] int64, rows: [n, d] -> [n, d]
torch::Tensor instance_norm(const torch::Tensor& offsets, const torch::Tensor& rows);

enum class ScorerNorm { instance, batch };

/// Edge scores of GALA, GSAT and LECI: [2d -> 4d -> d -> 1] on [H_source ; H_target], with instance
/// normalisation over the edges of each graph (LECI: batch norm over all edges), ReLU and dropout after
/// both hidden layers.
class NormalisedScorer {
 public:
  NormalisedScorer() = default;
  NormalisedScorer(nn::ParameterSet& set, const std::string& name, int64_t width, double dropout,
                   ScorerNorm norm = ScorerNorm::instance);
  /// rows: [N, d] -> [nnz]
  torch::Tensor forward(const torch::Tensor& rows, const nn::GraphInput& batch,
                        nn::Pass& pass) const;

 private:
  torch::Tensor hidden(size_t layer, const torch::Tensor& rows, const torch::Tensor& offsets,
                       nn::Pass& pass) const;

  nn::Linear first_, second_, last_;
  std::vector<nn::BatchNorm> norms_;  // of batch norm
  double dropout_ = 0.0;
};

}  // namespace grm::graph_level
