#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "grm/graph/adjacency.h"

namespace grm {

/// How the influential nodes V_i^D are found (Section 3.3 of the paper). For a node i with
/// neighbours N_i, V_i^D holds every node u whose mean shortest-path length to N_i is at most
/// `max_length` and whose geometric mean of the number of shortest paths to N_i is at least
/// `min_paths`. Edges count as undirected. A node that cannot reach some member of N_i is not in
/// V_i^D; if N_i or V_i^D is empty, V_i^D is i and its neighbours.
struct InfluenceRule {
  double max_length = 3.0;  // L*
  double min_paths = 1.5;   // P*
  bool sampled = false;     // false: the exact sets
  int64_t members = 64;     // sampled: at most this many members per node, uniform from the set
  int64_t neighbours = 8;   // sampled: at most this many of N_i estimate the two means
  uint64_t seed = 0;        // sampled: key of the draws
};

/// Row i lists V_i^D: an [n, n] pattern. Deterministic for any thread count. `progress`, if given,
/// is called from one thread at a time with the share done in [0, 1].
AdjacencyPtr influence_sets(const Adjacency& edges, const InfluenceRule& rule,
                            const std::function<void(double)>& progress = {});

/// Bytes that the exact sets of an n-node graph may need while computing and after (worst case).
double exact_influence_bytes(int64_t nodes);

}  // namespace grm
