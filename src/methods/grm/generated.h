#pragma once

#include <vector>

#include "grm/methods/method.h"
#include "methods/grm/generator.h"

namespace grm {

/// Collects what the samples of z generate for one G, whose rows have the domain representation h.
class GeneratedSamples {
 public:
  explicit GeneratedSamples(const torch::Tensor& h) : h_(h) {}
  void add(const GeneratedEdges& edges, const GeneratedNodes& nodes, const torch::Tensor& z);
  /// `nodes`: the rows' ids in the domain graph; `centre`: the row of the classified node, or -1.
  GeneratedGraph graph(const torch::Tensor& nodes, int64_t centre, const GrmOptions& options) const;

 private:
  torch::Tensor h_;
  AdjacencyPtr pairs_;
  std::vector<torch::Tensor> weights_, presence_;
  torch::Tensor distance_;  // sum over the samples
};

/// The part of a generated graph that a classifier of two layers sees at its centre: nodes from
/// which two pairs lead there, the centre first, then by id. Of more than `most` nodes the nearer
/// ones stay, then those that a heavier pair joins to them.
GeneratedGraph two_hops(const GeneratedGraph& whole, int64_t most);

}  // namespace grm
