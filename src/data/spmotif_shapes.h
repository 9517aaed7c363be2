#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "grm/core/rng.h"
#include "grm/core/words.h"

namespace grm {

/// The generators of SP-Motif, by where they were published.
enum class MotifVariant { dir, ciga_struc, ciga_mixed, two_piece };
GRM_WORDS(MotifVariant, "dir", "ciga-struc", "ciga-mixed", "two-piece")

constexpr int64_t kMotifNodes = 5;
constexpr int64_t kMotifClasses = 3;

/// A graph of which every pair is stored once, from the smaller to the larger number. Base nodes
/// come first; the last kMotifNodes are the motif.
struct MotifGraph {
  int64_t nodes = 0;
  std::vector<std::pair<int64_t, int64_t>> edges;
};

enum class BaseKind { tree, ladder, wheel };

/// Tree: balanced, `size` = height, each inner node with `branching` children. Ladder: two paths of
/// `size` nodes and their rungs. Wheel: a hub (node 0) and a cycle of size - 1 nodes.
MotifGraph base_graph(BaseKind kind, int64_t size, int64_t branching);

/// Adds motif 0, 1 or 2 (five-cycle, house, crane) as new nodes and one edge from its first node to
/// the base node `at`. The crane of the variants other than dir is another shape.
void attach_motif(MotifGraph& graph, int64_t motif, MotifVariant variant, int64_t at);

/// int(0.05 |E|) times: draws a pair without edge and adds it unless both ends are in the motif.
void add_noise_edges(MotifGraph& graph, Stream& draws);

}  // namespace grm
