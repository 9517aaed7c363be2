#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "grm/data/task.h"

/// SP-Motif graphs as one would look at them by hand, and the drawings they are compared with.
namespace grm::test {

using Pair = std::pair<int64_t, int64_t>;
using Pairs = std::set<Pair>;

inline constexpr int64_t kMotif = 5;

// One graph of a set, its nodes counted from 0.
struct Sample {
  int64_t nodes = 0;
  int64_t label = 0;
  Pairs edges;
  Pairs truth;
};

inline std::vector<Sample> samples_of(const Domain& domain) {
  const Graph& set = domain.graph;
  const int64_t* part = set.parts.data_ptr<int64_t>();
  const uint8_t* truth = domain.labels.edge_truth.data_ptr<uint8_t>();
  std::vector<Sample> samples(set.items());
  for (int64_t g = 0; g < set.items(); ++g) {
    samples[g].nodes = part[g + 1] - part[g];
    samples[g].label = domain.labels.y[g].item<int64_t>();
    for (int64_t i = part[g]; i < part[g + 1]; ++i) {
      for (int64_t e = set.edges->in.offset()[i]; e < set.edges->in.offset()[i + 1]; ++e) {
        const Pair pair(set.edges->in.index()[e] - part[g], i - part[g]);
        samples[g].edges.insert(pair);
        if (truth[e]) samples[g].truth.insert(pair);
      }
    }
  }
  return samples;
}

// The drawings of the specification, edge by edge.
inline const std::vector<Pairs> kShapes = {
    {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}},
    {{1, 2}, {2, 3}, {3, 4}, {1, 4}, {0, 1}, {0, 4}},
    {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}, {0, 2}, {0, 3}}};
inline const Pairs kCigaCrane = {{0, 1}, {1, 2}, {1, 4}, {0, 3}, {2, 3}, {3, 4}};

inline Pairs inside(const Pairs& edges, int64_t from, int64_t to) {
  Pairs found;
  for (const auto& [u, v] : edges) {
    if (u >= from && v < to) found.insert({u - from, v - from});
  }
  return found;
}

inline Pairs tree(int64_t nodes, int64_t r) {
  Pairs edges;
  for (int64_t k = 1; k < nodes; ++k) edges.insert({(k - 1) / r, k});
  return edges;
}

inline Pairs ladder(int64_t width) {
  Pairs edges;
  for (int64_t k = 0; k < width; ++k) {
    edges.insert({k, width + k});
    if (k > 0) edges.insert({{k - 1, k}, {width + k - 1, width + k}});
  }
  return edges;
}

inline Pairs wheel(int64_t nodes) {
  Pairs edges;
  for (int64_t k = 1; k < nodes; ++k)
    edges.insert({{0, k}, {k == 1 ? 1 : k - 1, k == 1 ? nodes - 1 : k}});
  return edges;
}

struct Base {
  int64_t kind = -1;  // 0 tree, 1 ladder, 2 wheel
  int64_t size = 0;   // height, width, nodes
};

// Which base has exactly these edges (`noise`: these and more)?
inline Base base_of(int64_t nodes, const Pairs& edges, bool noise = false) {
  const auto is = [&](const Pairs& wanted) {
    return noise ? std::includes(edges.begin(), edges.end(), wanted.begin(), wanted.end())
                 : edges == wanted;
  };
  for (const int64_t r : {2, 3}) {
    int64_t count = 1, level = 1;
    for (int64_t height = 0; count <= nodes; ++height) {
      if (count == nodes && is(tree(nodes, r))) return {0, height};
      level *= r;
      count += level;
    }
  }
  if (nodes % 2 == 0 && is(ladder(nodes / 2))) return {1, nodes / 2};
  if (nodes > 4 && is(wheel(nodes))) return {2, nodes};
  return {};
}

// A count of n draws with probability p within three standard deviations.
inline void expect_share(int64_t count, int64_t n, double p) {
  EXPECT_NEAR(count, n * p, 3 * std::sqrt(n * p * (1 - p))) << "of " << n << " with " << p;
}

/// Counts of equally likely kinds: chi-square with two degrees of freedom below its 0.9999
/// quantile.
inline void expect_uniform(const std::vector<int64_t>& counts, int64_t n) {
  double chi = 0;
  const double expected = static_cast<double>(n) / static_cast<double>(counts.size());
  for (const int64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    chi += off * off / expected;
  }
  EXPECT_LT(chi, 18.42);
}

}  // namespace grm::test
