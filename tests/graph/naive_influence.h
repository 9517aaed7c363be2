#pragma once

#include <cmath>
#include <cstdint>
#include <queue>
#include <set>
#include <vector>

#include "graph/influence.h"

namespace grm::test {

using NodeSets = std::vector<std::set<int64_t>>;

/// Neighbours in the undirected graph; a self-loop makes none.
inline NodeSets undirected(const Adjacency& edges) {
  NodeSets neighbours(edges.rows());
  for (int64_t i = 0; i < edges.rows(); ++i) {
    for (int64_t e = edges.in.offset()[i]; e < edges.in.offset()[i + 1]; ++e) {
      const int64_t j = edges.in.index()[e];
      if (i == j) continue;
      neighbours[i].insert(j);
      neighbours[j].insert(i);
    }
  }
  return neighbours;
}

/// Lengths (-1: unreachable) and numbers of shortest paths from one node, by the textbook search.
struct Paths {
  std::vector<int64_t> length;
  std::vector<double> count;
};

inline Paths paths_from(const NodeSets& neighbours, int64_t source) {
  Paths paths{std::vector<int64_t>(neighbours.size(), -1), std::vector<double>(neighbours.size())};
  paths.length[source] = 0;
  paths.count[source] = 1.0;
  std::queue<int64_t> queue;
  queue.push(source);
  while (!queue.empty()) {
    const int64_t v = queue.front();
    queue.pop();
    for (const int64_t w : neighbours[v]) {
      if (paths.length[w] < 0) {
        paths.length[w] = paths.length[v] + 1;
        queue.push(w);
      }
      if (paths.length[w] == paths.length[v] + 1) paths.count[w] += paths.count[v];
    }
  }
  return paths;
}

/// The nodes u that satisfy the rule against the searches from the members of N_i.
inline std::set<int64_t> naive_selected(const std::vector<const Paths*>& members,
                                        const InfluenceRule& rule) {
  std::set<int64_t> selected;
  if (members.empty()) return selected;
  const auto n = static_cast<double>(members.size());
  for (size_t u = 0; u < members[0]->length.size(); ++u) {
    int64_t length = 0;
    long double log = 0.0L;
    bool reached = true;
    for (const Paths* paths : members) {
      reached = reached && paths->length[u] >= 0;
      length += paths->length[u];
      log += std::log(static_cast<long double>(paths->count[u]));
    }
    if (!reached || static_cast<double>(length) / n > rule.max_length) continue;
    // Sums this close to the limit are ties: no other value of a product of integers is so near.
    if (log < n * std::log(static_cast<long double>(rule.min_paths)) - 1e-12L) continue;
    selected.insert(static_cast<int64_t>(u));
  }
  return selected;
}

/// V_i^D of every node, straight from the definition.
inline NodeSets naive_influence(const Adjacency& edges, const InfluenceRule& rule) {
  const NodeSets neighbours = undirected(edges);
  std::vector<Paths> paths;
  for (int64_t j = 0; j < edges.rows(); ++j) paths.push_back(paths_from(neighbours, j));
  NodeSets sets(edges.rows());
  for (int64_t i = 0; i < edges.rows(); ++i) {
    std::vector<const Paths*> members;
    for (const int64_t j : neighbours[i]) members.push_back(&paths[j]);
    sets[i] = naive_selected(members, rule);
    if (sets[i].empty()) {
      sets[i] = neighbours[i];
      sets[i].insert(i);
    }
  }
  return sets;
}

inline std::set<int64_t> members_of(const InfluenceSets& sets, int64_t i) {
  std::set<int64_t> members;
  for (int64_t u = 0; u < sets.nodes; ++u) {
    if (sets.contains(i, u)) members.insert(u);
  }
  return members;
}

}  // namespace grm::test
