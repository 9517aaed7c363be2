#pragma once

#include <cstdint>
#include <vector>

#include "graph/draw_lists.h"
#include "grm/graph/graph.h"

namespace grm {

namespace dist {
class Group;
}

/// A graph whose rows (neighbour lists and features) lie with several processes, each of which holds
/// some. Nodes have the numbers that they have in the graph as a whole, and what comes back is what a
/// graph in one piece would give. All processes call the same functions in the same order, each with
/// nodes of its own choice unless it says otherwise.
class PartedGraph {
 public:
  virtual ~PartedGraph() = default;
  /// Stored pairs of the graph.
  virtual int64_t edges() const = 0;
  /// draw_lists() of these nodes; `edges` are places in `edge_data`.
  virtual DrawnLists draw(const std::vector<int64_t>& nodes, int64_t most,
                          const Stream& draws) const = 0;
  /// pick_rows() of the features.   nodes: int64
  virtual Features features(const torch::Tensor& nodes) const = 0;
  /// Of the same ascending ids on all processes: these nodes and their in-neighbours, ascending.
  virtual torch::Tensor with_neighbours(const torch::Tensor& ids) const = 0;
  /// Of the same ids on all processes: how many pairs are stored into each, [k] int64.
  virtual torch::Tensor counts(const torch::Tensor& ids) const = 0;
  /// Rows of a matrix whose rows lie with several processes, [k, columns] float on the host: row k is
  /// row place[k] of what process owner[k] hands in.
  virtual torch::Tensor rows_of(const torch::Tensor& mine, const std::vector<int>& owner,
                                const std::vector<int64_t>& place) const = 0;
  virtual dist::Group& processes() const = 0;
};

}  // namespace grm
