#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

namespace grm {

/// Compressed sparse rows: the pattern only, no values.
struct Csr {
  int64_t rows = 0;
  int64_t cols = 0;
  torch::Tensor offsets;  // [rows + 1] int64
  torch::Tensor indices;  // [nnz] int32, ascending inside a row
  int64_t longest = -1;   // entries of the longest row, where somebody counted; else -1

  int64_t nnz() const { return indices.defined() ? indices.numel() : 0; }
  const int64_t* offset() const { return offsets.data_ptr<int64_t>(); }
  const int32_t* index() const { return indices.data_ptr<int32_t>(); }
};

/// An int64 vector of n numbers that the caller fills.
inline torch::Tensor empty_indices(int64_t n) {
  return torch::empty({n}, torch::kInt64);
}

/// A sparse pattern and its transpose, built once. Row i of `in` lists the sources j of the stored
/// pairs j -> i, so that y = A x sums messages into i; the position of a pair in `in` is its edge
/// id, and per-edge values are stored in that order. Also used for rectangular patterns: sparse
/// features (row = node, source = column) and influence sets (row = node, source = member).
struct Adjacency {
  Csr in;
  Csr out;                 // row j lists the targets i of the pairs j -> i
  torch::Tensor out_edge;  // [nnz] int64: edge id of each entry of `out`

  int64_t rows() const { return in.rows; }
  int64_t cols() const { return in.cols; }
  int64_t nnz() const { return in.nnz(); }

  /// The pattern on that device: itself if it is there, else a copy that is made at the first call
  /// and kept. A pattern that was made on a device has no host arrays: host code must not read it.
  const Adjacency& on(const torch::Device& device) const;

  mutable std::shared_ptr<const Adjacency> copy;  // what on() keeps; nobody else reads it
};
using AdjacencyPtr = std::shared_ptr<const Adjacency>;

/// From int64 pairs source[k] -> target[k]. Duplicate pairs are merged, self-loops kept.
/// Error(data) naming the first pair with an end outside the pattern.
AdjacencyPtr make_adjacency(int64_t rows, int64_t cols, const torch::Tensor& source,
                            const torch::Tensor& target);

/// Completes a row-sorted CSR pattern (indices ascending, no duplicates) with its transpose.
AdjacencyPtr with_transpose(Csr in);

/// The pattern with every pair present in both directions; square patterns only.
AdjacencyPtr symmetrised(const Adjacency& edges);

/// The pattern with a self-pair in every row (row i is column i). `edge_of_input` [nnz of edges] receives the new edge
/// id of every old edge.
AdjacencyPtr with_self_loops(const Adjacency& edges, torch::Tensor* edge_of_input = nullptr);

/// Pairs as two int64 tensors (source, target), in edge order, where the pattern lives.
std::pair<torch::Tensor, torch::Tensor> edge_list(const Adjacency& edges);

}  // namespace grm
