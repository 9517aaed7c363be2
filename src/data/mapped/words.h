#pragma once

#include <cstdint>
#include <vector>

#include "data/mapped/parted_graph.h"

// What processes tell each other of a graph in parts, as words of four bytes: floats travel as the
// words that they are.
namespace grm::mapped {

using Words = std::vector<int32_t>;

/// Rows of features. A row is: how many sparse entries, where there are such columns, their columns
/// and values, then the dense columns.
class RowWords {
 public:
  explicit RowWords(const PartsOfGraph& of);
  /// Words of the row that begins here.
  int64_t length(const int32_t* row) const;
  /// Of the longest row that a cache keeps: four times the usual.
  int64_t most() const { return most_; }
  /// Appends row `row` of a part.
  void add(Words& words, const PartRows& rows, int64_t row) const;
  Features features(const std::vector<const int32_t*>& rows, const torch::Tensor& shift) const;

 private:
  void add_sparse(Features& x, const std::vector<const int32_t*>& rows) const;

  int64_t dense_, sparse_, entry_;  // columns; words of a sparse entry
  int64_t most_ = 0;
};

void add_words(Words& words, const void* numbers, int64_t count);

/// Drawn lists: four words for each node, the sources of all, the data of all edges.
Words words_of(const DrawnLists& lists);
/// Of so many nodes, with so many numbers on each edge. Error(internal) if the length is another.
DrawnLists lists_of(const torch::Tensor& words, int64_t nodes, int64_t edge_width);

}  // namespace grm::mapped
