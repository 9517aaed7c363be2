#pragma once

#include <utility>
#include <vector>

#include "data/good/laws.h"

namespace grm::good {

enum class MotifDomain { basis, size };
GRM_WORDS(MotifDomain, "basis", "size")

constexpr int64_t kMotifSize = 5;  // nodes of a motif, the last of a graph
constexpr int64_t kMotifLabels = 3;

/// One graph of GOOD-Motif: a base, a motif joined to it by one edge, and a few random edges.
struct GoodMotif {
  int64_t base = 0;   // wheel, tree, ladder, star, path
  int64_t width = 0;  // as drawn; the tree's height follows from it
  int64_t motif = 0;  // house, five-cycle, crane
  int64_t label = 0;  // the motif, with probability 0.1 any class
  int64_t environment = -1;
  int64_t attach = 0;  // base node that the motif hangs on
  int64_t nodes = 0;
  std::vector<std::pair<int64_t, int64_t>> edges;  // each once; random ones last
  int64_t random_edges = 0;
};

/// Height of the tree of a width.
int64_t tree_height(int64_t width);

/// The 30,000 graphs of one published set, and the numbers of those in each subset.
struct GoodMotifSet {
  std::vector<GoodMotif> graphs;
  Split split;
};
GoodMotifSet draw_good_motif(MotifDomain domain, Shift shift);

}  // namespace grm::good
