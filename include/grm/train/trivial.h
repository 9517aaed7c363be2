#pragma once

#include "grm/train/evaluate.h"

// Answers that look at next to nothing of a graph: what a method has to beat to have learned more.
namespace grm {

enum class Trivial {
  size,           // numbers of nodes and edges
  mean_features,  // mean of the node features; the edges are not seen
};
std::string to_string(Trivial kind);

/// What the model of this kind reads of the graphs `items`, one row for each, in double.
torch::Tensor trivial_inputs(Trivial kind, const Graph& set, const torch::Tensor& items);

/// Multinomial logistic regression on these inputs, standardised and trained on the training
/// graphs from zero with all of them in every step: no randomness. Scores of the groups of a role.
std::vector<DomainScore> trivial_scores(const Task& task, Trivial kind, Role role = Role::test);

}  // namespace grm
