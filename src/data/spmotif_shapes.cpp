#include "data/spmotif_shapes.h"

#include <algorithm>
#include <set>

#include "grm/core/error.h"

namespace grm {
namespace {

using Edges = std::vector<std::pair<int64_t, int64_t>>;

constexpr double kNoiseShare = 0.05;

// The nodes of a motif are counted from 0; node 0 is the one that touches the base.
const Edges kCycle = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}};
const Edges kHouse = {{1, 2}, {2, 3}, {3, 4}, {1, 4}, {0, 1}, {0, 4}};
const Edges kCrane = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}, {0, 2}, {0, 3}};
const Edges kCigaCrane = {{0, 1}, {1, 2}, {1, 4}, {0, 3}, {2, 3}, {3, 4}};

const Edges& motif_edges(int64_t motif, MotifVariant variant) {
  if (motif == 0) return kCycle;
  if (motif == 1) return kHouse;
  return variant == MotifVariant::dir ? kCrane : kCigaCrane;
}

}  // namespace

MotifGraph base_graph(BaseKind kind, int64_t size, int64_t branching) {
  MotifGraph graph;
  if (kind == BaseKind::tree) {
    graph.nodes = 1;
    int64_t level = 1;  // nodes of the last level
    for (int64_t h = 0; h < size; ++h) {
      const int64_t first = graph.nodes - level;
      for (int64_t k = 0; k < level * branching; ++k) {
        graph.edges.emplace_back(first + k / branching, graph.nodes + k);
      }
      level *= branching;
      graph.nodes += level;
    }
  } else if (kind == BaseKind::ladder) {
    graph.nodes = 2 * size;
    for (int64_t i = 0; i < size; ++i) {
      graph.edges.emplace_back(i, size + i);
      if (i + 1 == size) break;
      graph.edges.emplace_back(i, i + 1);
      graph.edges.emplace_back(size + i, size + i + 1);
    }
  } else {
    ensure(size >= 4, "base_graph: a wheel has at least four nodes");
    graph.nodes = size;
    for (int64_t i = 1; i < size; ++i) {
      graph.edges.emplace_back(0, i);
      graph.edges.emplace_back(i + 1 < size ? i : 1, i + 1 < size ? i + 1 : i);
    }
  }
  return graph;
}

void attach_motif(MotifGraph& graph, int64_t motif, MotifVariant variant, int64_t at) {
  const int64_t first = graph.nodes;
  for (const auto& [u, v] : motif_edges(motif, variant)) {
    graph.edges.emplace_back(first + u, first + v);
  }
  graph.edges.emplace_back(at, first);
  graph.nodes += kMotifNodes;
}

void add_noise_edges(MotifGraph& graph, Stream& draws) {
  std::set<std::pair<int64_t, int64_t>> known(graph.edges.begin(), graph.edges.end());
  const auto attempts = static_cast<int64_t>(kNoiseShare * static_cast<double>(graph.edges.size()));
  const int64_t first_of_motif = graph.nodes - kMotifNodes;
  for (int64_t k = 0; k < attempts; ++k) {
    std::pair<int64_t, int64_t> pair;
    do {
      const auto u = static_cast<int64_t>(draws.below(graph.nodes));
      const auto v = static_cast<int64_t>(draws.below(graph.nodes));
      pair = std::minmax(u, v);
    } while (pair.first == pair.second || known.count(pair) > 0);
    if (pair.first >= first_of_motif) continue;  // both ends in the motif: the attempt is lost
    known.insert(pair);
    graph.edges.push_back(pair);
  }
}

}  // namespace grm
