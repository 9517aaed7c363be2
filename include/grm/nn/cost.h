#pragma once

#include <string>
#include <vector>

#include "grm/graph/shapes.h"
#include "grm/nn/layers.h"

// What networks cost, from shapes alone: memory in bytes, work in operations.
namespace grm {

/// One kind of work, forward and backward together.
struct WorkTerm {
  std::string name;
  double flops = 0.0;
  double bytes = 0.0;  // read and written, each operand once
};

/// Operations by count: matrix products, sparse products and tiles of generated graphs. A
/// multiply-add is two. Work that is linear in an array (activations, normalisation, losses, the
/// optimiser) is left out, so a rate computed from the count is a lower bound. `passes` says how
/// often a product of a shape is computed: once forward, and backward once for each operand that
/// has a gradient.
struct WorkCount {
  std::vector<WorkTerm> terms;
  double flops() const;
  double bytes() const;
  void add(const std::string& name, double flops, double bytes);
  /// Adds another count, term by term, some number of times.
  void add(const WorkCount& other, double times = 1.0);
  /// [a, b] x [b, c].
  void product(const std::string& name, double a, double b, double c, double passes);
  /// A pattern of `entries` times rows of width d, `rows` of them written.
  void sparse(const std::string& name, double entries, double rows, double d, double passes);
  /// X W with the features' own gradient left out: X W and X^T dY.
  void features(const std::string& name, const GraphShape& graph, double width);
};

/// One pass over a graph, forward and backward.
struct PassCost {
  double kept = 0.0;        // bytes that wait for the backward pass
  double passing = 0.0;     // bytes that come and go besides
  double parameters = 0.0;  // numbers
  WorkCount work;
};

namespace cost {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kFloat = 4.0;

/// Bytes of a pattern with its transpose: 4 + 4 of indices and 8 of edge ids for every pair.
double adjacency(double pairs, double rows, double cols);
/// Entries of the operator of a convolution: kipf adds a self-pair to every node (none is stored).
double operator_entries(nn::Conv conv, double edges, double nodes);
/// Bytes of that operator: kipf copies the pattern and weighs it, sums use the edges as they are.
double convolution(nn::Conv conv, double nodes, double edges);
/// Bytes of parameters, gradients, two moments, the best epoch's copy and one in passing.
double model(double parameters);

}  // namespace cost
}  // namespace grm
