#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "grm/core/rng.h"
#include "grm/graph/adjacency.h"

namespace grm {

/// In place of a number of neighbours: none of them, nor the self-pair.
constexpr int64_t kDrawNone = -1;

/// Where the stored pairs into a node are: a row of a pattern whose columns are numbers of nodes, and
/// the weights of the pattern's pairs, or null.
struct StoredList {
  const Csr* in = nullptr;
  const float* weights = nullptr;
  int64_t row = 0;
};

/// Pairs that were drawn for some nodes, list after list.
struct DrawnLists {
  std::vector<int64_t> ends;     // where each node's pairs end
  std::vector<int32_t> sources;  // ascending in each list
  std::vector<int64_t> edges;    // the pair's place in the stored pattern
  // Of each node: how many pairs are stored, whether its self-pair is one of them, and its degree: the
  // sum of their weights, and 1 for a self-pair that is not there.
  std::vector<int32_t> stored;
  std::vector<uint8_t> loops;
  std::vector<float> degrees;
  std::vector<float> edge_data;  // of a parted graph: weight (if any) and features of each pair

  int64_t nodes() const { return static_cast<int64_t>(ends.size()); }
  void append(const DrawnLists& more);
};

/// Draws for each node up to `most` of its neighbours without replacement (0: all, kDrawNone: none). A
/// stored self-pair is kept and not counted. What a node draws depends on `draws` and its number
/// alone, not on where its list is.
DrawnLists draw_lists(const std::vector<int64_t>& nodes,
                      const std::function<StoredList(int64_t node)>& list_of, int64_t most,
                      const Stream& draws);

}  // namespace grm
