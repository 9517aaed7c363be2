#pragma once

#include <memory>

#include "graph/influence.h"

namespace grm {

/// V_i^D of a few nodes of a large graph, found by looking around them: the members that are at
/// most two edges away from i, under the rule with `neighbours` drawn neighbours, at most `members`
/// of them. Path counts are exact, since a shortest path between a node of two hops and a neighbour
/// of i never leaves three. Costs what three hops around a node cost, whatever the graph's size.
/// Deterministic for any thread count; a node's set does not depend on what else is asked for.
class LocalInfluence {
 public:
  /// Keeps the undirected neighbour lists of the graph.
  LocalInfluence(const Adjacency& edges, const InfluenceRule& rule);
  ~LocalInfluence();

  /// Row k: V_i^D of nodes[k] (int64), ascending node ids; no row is empty.
  Csr sets(const torch::Tensor& nodes) const;

 private:
  class Search;
  struct Pool;
  Csr neighbours_;
  InfluenceRule rule_;
  std::unique_ptr<Pool> pool_;  // work space of the searches, as large as the graph, kept
};

}  // namespace grm
