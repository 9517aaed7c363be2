#pragma once

#include <string>
#include <vector>

#include "grm/data/task.h"
#include "grm/graph/batch.h"
#include "grm/methods/method.h"

// How well a method's edge scores point at the edges that make the label. The two directions of an
// edge are one pair with the mean of their scores; all figures are in percent.
namespace grm {

struct Explanation {
  std::string domain;
  double auc = 0.0;        // ROC-AUC over the pairs of all graphs together
  double graph_auc = 0.0;  // mean over graphs that hold pairs of both kinds
  double precision = 0.0;  // mean over graphs with k >= 1 true pairs of the share of true ones
                           // among the k highest scores; ties at the border count by their share
  int64_t graphs = 0;      // those with a true pair
};

/// Pairs {i, j} of the graphs of a batch, graph by graph.
struct ScoredPairs {
  torch::Tensor scores;   // [pairs] double
  torch::Tensor truth;    // [pairs] int64, 1: an edge in either direction is a true one
  torch::Tensor offsets;  // [graphs + 1] int64
};
/// From scores and truth [nnz] of the stored edges, in edge order.
ScoredPairs tie_directions(const GraphBatch& batch, const torch::Tensor& scores,
                           const torch::Tensor& truth);

/// The figures of some pairs. Error(data) unless pairs of both kinds occur.
Explanation score_pairs(const ScoredPairs& pairs);

/// The figures of every domain of a role whose true edges are known, over its evaluated graphs.
/// Empty if the method has no scores; a domain without true or without other edges is left out.
std::vector<Explanation> explanations(Method& method, const Task& task, Role role);

}  // namespace grm
