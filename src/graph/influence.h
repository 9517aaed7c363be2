#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "grm/core/rng.h"
#include "grm/graph/adjacency.h"

namespace grm {

/// How the influential nodes V_i^D are found (Section 3.3 of the paper). For a node i with
/// neighbours N_i, V_i^D holds every node u whose mean shortest-path length to N_i is at most
/// `max_length` and whose geometric mean of the number of shortest paths to N_i is at least
/// `min_paths`. Edges count as undirected and a self-loop makes no neighbour. A node that cannot
/// reach some member of N_i is not in V_i^D; if N_i or V_i^D is empty, V_i^D is i and its
/// neighbours.
struct InfluenceRule {
  double max_length = 3.0;  // L*, at most 250
  double min_paths = 1.5;   // P*
  bool sampled = false;     // false: the exact sets
  int64_t members = 64;     // sampled: at most this many members per node, uniform from the set
  int64_t neighbours = 8;   // sampled: at most this many of N_i estimate the two means
  uint64_t seed = 0;        // sampled: key of the draws

  /// Key of all draws for node i.
  uint64_t key_of(int64_t i) const { return mix64(seed, static_cast<uint64_t>(i)); }
};

/// The sets V_i^D of all nodes; none is empty. Exact sets hold most of the graph when it is dense,
/// so they are kept as a bit matrix; sampled ones as a sparse pattern. Cheap to copy.
struct InfluenceSets {
  int64_t nodes = 0;
  torch::Tensor bits;   // exact: [nodes, words] int64, bit u % 64 of word u / 64 stands for u
  AdjacencyPtr sparse;  // sampled: [nodes, nodes], row i lists V_i^D

  bool exact() const { return bits.defined(); }
  int64_t size(int64_t i) const;
  bool contains(int64_t i, int64_t u) const;
  /// Mean of size(i).
  double mean_size() const;
  /// The sets of `ids` (int64) as the rows of a [k, nodes] pattern. An entry of exact sets takes 16
  /// bytes here against one bit in the matrix, so ask for few rows at a time.
  AdjacencyPtr rows(const torch::Tensor& ids) const;

  /// For files. from_tensors throws Error(data) unless the tensors are what to_tensors gives.
  std::map<std::string, torch::Tensor> to_tensors() const;
  static InfluenceSets from_tensors(const std::map<std::string, torch::Tensor>& tensors);
};

/// Deterministic for any thread count. `progress`, if given, is called from one thread at a time
/// with the share done in [0, 1]. Path counts are exact up to 2^53. A GPU searches where `device`
/// is one; the sets are the same to the bit, and live on the host.
InfluenceSets influence_sets(const Adjacency& edges, const InfluenceRule& rule,
                             const std::function<void(double)>& progress = {},
                             const torch::Device& device = torch::kCPU);

/// Bytes that the exact sets of an n-node graph need while computing with threads() threads and
/// after, besides the graph itself (worst case).
double exact_influence_bytes(int64_t nodes);

/// A text that differs whenever the topology, a parameter that matters or the algorithm differs:
/// the key of cached sets.
std::string influence_key(const Adjacency& edges, const InfluenceRule& rule);

}  // namespace grm
