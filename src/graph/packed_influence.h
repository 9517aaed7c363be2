#pragma once

#include <map>
#include <string>

#include "graph/influence.h"

namespace grm {

/// The exact sets V_i^D of all nodes of a packed set of graphs. They never leave a graph, so each
/// graph of n nodes has a bit matrix of its own, n rows of ceil(n / 64) words: a set of a million
/// nodes takes a few dozen megabytes. Cheap to copy.
struct PackedInfluence {
  torch::Tensor parts;       // [graphs + 1] int64, first node of each graph
  torch::Tensor first_word;  // [graphs + 1] int64, first word of each graph's matrix
  torch::Tensor bits;        // [words] int64

  /// The sets of the graphs `ids` (int64) as a square pattern over the rows of
  /// pick_graphs(set, ids).
  AdjacencyPtr pick(const torch::Tensor& ids) const;
  /// Mean number of members.
  double mean_size() const;

  /// For files. from_tensors throws Error(data) unless the tensors are what to_tensors gives for a
  /// set with these parts.
  std::map<std::string, torch::Tensor> to_tensors() const { return {{"graph_bits", bits}}; }
  static PackedInfluence from_tensors(const std::map<std::string, torch::Tensor>& tensors,
                                      const torch::Tensor& parts);
};

/// `edges` are block-diagonal over `parts`. Equal to influence_sets of the whole pattern, at a cost
/// that grows with the number of graphs, not with the square of the number of nodes. The rule must
/// ask for exact sets.
PackedInfluence packed_influence(const Adjacency& edges, const torch::Tensor& parts,
                                 const InfluenceRule& rule);

}  // namespace grm
