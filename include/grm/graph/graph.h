#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grm/core/words.h"
#include "grm/graph/adjacency.h"

namespace grm {

/// Node features X [n, width] as three parts that are never merged into one dense matrix:
/// sparse columns first, then dense columns, minus one constant row.
///   X = [ S | D ] - 1 shift^T
struct Features {
  AdjacencyPtr sparse;  // rows = nodes, columns = the first sparse->cols() features; or null
  torch::Tensor sparse_values;  // [nnz] float; undefined: all ones
  torch::Tensor dense;          // [n, d] float, the remaining columns; or undefined
  torch::Tensor shift;          // [width] float, subtracted from every row; or undefined

  int64_t rows() const;
  int64_t sparse_width() const { return sparse ? sparse->cols() : 0; }
  int64_t width() const;
  /// Stored numbers: non-zeros of the sparse part plus all of the dense part.
  int64_t nonzeros() const;
  /// Column means of X over its rows, [width] float, summed in double.
  torch::Tensor column_mean() const;
  /// The same features with their column mean subtracted, as a rank-one term.
  Features centred() const;
  /// X itself, dense [n, width]; for tests and export only.
  torch::Tensor to_dense() const;

  /// The same features with their numbers on that device; the sparse pattern goes there by itself
  /// (Adjacency::on). Copies are made at the first call and kept, for all copies of these features.
  Features on(const torch::Device& device) const;
  /// Tells on() of a copy that the caller has already: it is used, and none is made.
  void has_copy(const torch::Tensor& of, const torch::Tensor& copy) const;

  struct DeviceCopies;
  static std::shared_ptr<DeviceCopies> no_copies();
  std::shared_ptr<DeviceCopies> copies = no_copies();  // what on() keeps; nobody else reads it
};

/// What is classified: nodes of one graph, or the graphs of a set.
enum class Level { node, graph };
GRM_WORDS(Level, "node", "graph")

/// What a graph that was drawn around some nodes of a larger one (graph/sample.h) knows of it. Its
/// rows are those nodes, then what lies one hop from them, and so on; a layer of a network computes
/// its first rows from some more of them, the last layer those of the nodes alone.
struct GraphSample {
  /// The edges that each layer goes along, [rows that it computes, rows that it reads], the first
  /// layer first; those of a later one are the first of those before it.
  std::vector<AdjacencyPtr> layers;
  /// [n] float: weights of the edges into a node in the larger graph, and 1 for the self-pair of a
  /// node that has none.
  torch::Tensor degrees;
  /// [nnz] float: how many edges of the larger graph an edge stands for; undefined: all are here.
  torch::Tensor stands_for;
};

class PartedGraph;

/// One domain graph: topology and features. It carries no labels, so whoever is handed a Graph to
/// predict on cannot look at them. Immutable and cheap to copy.
struct Graph {
  std::string name;
  AdjacencyPtr edges;  // [n, n]
  Features x;
  // A set of graphs is packed into one whose edges are block-diagonal: nothing has to be put
  // together graph by graph while training.
  torch::Tensor parts;         // [graphs + 1] int64, first node of each graph; undefined: one graph
  Features edge_x;             // features of the edges, a row for each; empty where there are none
  torch::Tensor edge_weights;  // [nnz] float, weights that belong to the data; undefined: all ones
  /// Drawn out of a larger graph: `edges` are those of its first layer then, and have no row for
  /// nodes that no layer computes.
  std::shared_ptr<const GraphSample> sample = nullptr;
  /// Its rows lie in parts, with several processes (graph/parted.h): `edges` knows the number of nodes
  /// and nothing else, features and data of edges have their width and no row.
  std::shared_ptr<const PartedGraph> parted = nullptr;

  Level level() const { return parts.defined() ? Level::graph : Level::node; }
  int64_t nodes() const { return edges->cols(); }
  /// What is classified: the graphs of a set, else the nodes.
  int64_t items() const { return level() == Level::graph ? parts.numel() - 1 : nodes(); }
};

/// Rows of X in the given order, int64 ids; the shift stays.
Features pick_rows(const Features& x, const torch::Tensor& rows);

}  // namespace grm
