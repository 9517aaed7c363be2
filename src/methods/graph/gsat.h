#pragma once

#include <torch/types.h>

#include "grm/core/words.h"
#include "nn/graph_encoder.h"

// The parts of GSAT: attention on edges that is noisy while training, and what it costs in information.
namespace grm::graph_level::gsat {

/// max(final, 0.9 - 0.1 floor(e / interval)) in the e-th epoch, e = 0, 1, ...
double prior(double final, int64_t interval, int64_t epochs_before);

/// a log(a / r + 1e-6) + (1 - a) log((1 - a) / (1 - r + 1e-6) + 1e-6), entry by entry; r a scalar.
torch::Tensor information(const torch::Tensor& attention, const torch::Tensor& r);

/// Numbers [nnz] of edges, each averaged with that of the edge in the other direction; an edge
/// without one keeps its own.
torch::Tensor both_directions(const torch::Tensor& values, const Adjacency& edges);

/// sigmoid((scores + log u - log(1 - u)) / t), u uniform in (0, 1), t (a scalar) 1 where it is not
/// given: a sample of the binary concrete law; sigmoid(scores) without u.
torch::Tensor attention_of(const torch::Tensor& scores, const torch::Tensor& u,
                           const torch::Tensor& t = {});
/// Uniform numbers for the scores of a step.
torch::Tensor attention_noise(const Stream& stream, const torch::Tensor& scores);

/// The mean of numbers that lie graph by graph, those behind the last graph left out.
/// offsets: [B + 1] int64
torch::Tensor mean_of_graphs(const torch::Tensor& values, const torch::Tensor& offsets);

/// What has attention: edges, or nodes, of which an edge has the product of its ends'.
enum class Attention { edge, node };
GRM_WORDS(Attention, "edge", "node")

/// Scores of nodes [N] from their rows: [d -> 2d -> d -> 1] with instance normalisation over the nodes
/// of each graph, ReLU and dropout after both hidden layers.
class NodeScorer {
 public:
  NodeScorer() = default;
  NodeScorer(nn::ParameterSet& set, const std::string& name, int64_t width, double dropout);
  torch::Tensor forward(const torch::Tensor& rows, const nn::GraphInput& batch,
                        nn::Pass& pass) const;

 private:
  nn::Linear first_, second_, last_;
  double dropout_ = 0.0;
};

}  // namespace grm::graph_level::gsat
