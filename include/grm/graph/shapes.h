#pragma once

#include "grm/graph/batch.h"
#include "grm/graph/graph.h"

// How large the arrays of graphs and batches are: what counts of operations and estimates of memory
// start from.
namespace grm {

/// A domain graph, or a set of graphs.
struct GraphShape {
  double nodes = 0, edges = 0;
  double sparse = 0;         // stored sparse feature entries
  double dense = 0;          // dense feature columns
  double features = 0;       // all columns
  double items = 0;          // what is classified: nodes or graphs
  double edge_features = 0;  // columns of edges
};
GraphShape shape_of(const Graph& graph);
/// A part of the graphs of a set, of mean size.
GraphShape share_of(const GraphShape& set, double share);

/// All ego-nets of a step together, or one domain graph taken whole.
struct BatchShape {
  double graphs = 0, rows = 0;
  double edges = 0;       // observed pairs, without the self-pairs that a convolution adds
  double pairs = 0;       // ordered pairs inside the graphs, i = j included
  double half_pairs = 0;  // unordered ones, i = j included
};
BatchShape operator*(const BatchShape& a, double factor);
BatchShape shape_of(const GraphBatch& batch);

}  // namespace grm
