#pragma once

#include <vector>

#include "graph/kernels.h"
#include "grm/graph/batch.h"

// Batches of whole graphs with room for more rows and pairs than they have. The steps of an epoch then
// have few shapes, and none of them needs to know on the host what a batch holds: on a GPU a batch is
// cut out there, and a step can be recorded. Everything here works on the CPU as well.
namespace grm {

/// How much room the batches of a set get. Patterns are block-diagonal over `parts`, on the host.
class GraphRooms {
 public:
  GraphRooms() = default;
  GraphRooms(const torch::Tensor& parts, const std::vector<const Adjacency*>& patterns);
  /// The smallest room for the graphs `ids` (on the host). Batches of as many graphs in the same room
  /// have the same shapes.
  int64_t room_of(const torch::Tensor& ids) const;
  int64_t rows(int64_t graphs, int64_t room) const;
  int64_t entries(size_t pattern, int64_t graphs, int64_t room) const;
  /// Nodes of the largest graph, and the most entries that a graph has in a pattern.
  int64_t most_nodes() const { return sizes_[0].most; }
  int64_t most_entries(size_t pattern) const { return sizes_[pattern + 1].most; }

 private:
  // First row, or first entry, of each graph.
  struct Sizes {
    torch::Tensor offsets;
    double mean = 0;   // of a graph
    int64_t most = 0;  // likewise
    int64_t capacity(int64_t graphs, int64_t room) const;
  };
  std::vector<Sizes> sizes_;  // of the nodes, then of the entries of each pattern
};

/// The graphs `ids` of a set, as pick_graphs has them. `parts` and `ids` lie where the batch is wanted.
class PaddedGraphs {
 public:
  /// `rows`: more than the nodes of these graphs.
  PaddedGraphs(const torch::Tensor& parts, const torch::Tensor& ids, int64_t rows);
  /// The batch without its edges. Rows behind the last node (`counted`) belong to no graph; they carry
  /// the number of the last graph and node 0 of the set, so that all lookups are valid.
  const GraphBatch& batch() const { return batch_; }
  /// The block of a pattern of the set that lies there, too, with at least as many `entries` as it has.
  /// Pairs behind the last one join a row behind the last node to itself; their edge id is 0.
  AdjacencyPtr pattern(const Adjacency& whole, int64_t entries,
                       torch::Tensor* edge_ids = nullptr) const;

 private:
  kernels::ChosenGraphs chosen() const;

  torch::Tensor parts_, ids_;
  GraphBatch batch_;
};

/// The part of a padded pattern that some of its pairs (bool [nnz]; the padding never counts) span, with
/// the nodes that touch one of them, in the same room. `counted`: that of the batch.
struct PaddedPart {
  AdjacencyPtr edges;
  torch::Tensor nodes;  // [rows] int64: row of the batch of each row; the last where there is none
  torch::Tensor new_row;     // [rows + 1] int64: rows that are kept before each row of the batch
  torch::Tensor row_place;   // [rows] int64: where a row of the batch went, -1 if it is not kept
  torch::Tensor edge_ids;    // [nnz] int64: pair of the batch of each pair, as in `nodes`
  torch::Tensor edge_place;  // [nnz] int64: where a pair of the batch went, or -1
  torch::Tensor counted;     // [1] int64: rows that are kept
};
PaddedPart padded_part(const Adjacency& edges, const torch::Tensor& counted,
                       const torch::Tensor& keep);

/// Rows of X as dense features, where `rows` (int64) lies. The shift stays.
Features pick_dense_rows(const Features& x, const torch::Tensor& rows);

}  // namespace grm
