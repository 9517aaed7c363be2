#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/sources.h"
#include "grm/data/dataset.h"
#include "grm/data/task.h"
#include "grm/graph/batch.h"

namespace grm {

/// First node of each graph, and the number of all nodes: [graphs + 1] int64.
torch::Tensor parts_of(const std::vector<int64_t>& nodes);

/// Edges in edge order, and which of the given pairs each of them was: data of the pairs becomes
/// data of the edges by index_select(0, pair) or pick_rows(x, pair).
struct PackedEdges {
  AdjacencyPtr edges;  // [nodes, nodes]
  torch::Tensor pair;  // [nnz] int64
};

/// From int64 pairs source[k] -> target[k], nodes counted through the whole set. Of equal pairs
/// the first stays. Error(data) names a pair that leaves its graph.
PackedEdges pack_edges(const torch::Tensor& parts, const torch::Tensor& source,
                       const torch::Tensor& target);

/// The same for pairs that each stand for both directions: the reverse of a pair has its data,
/// unless it was given itself.
PackedEdges pack_both_ways(const torch::Tensor& parts, const torch::Tensor& source,
                           const torch::Tensor& target);

/// A picked batch as a set of its own: edges and parts. Features are left to the caller.
Graph as_set(const GraphBatch& batch, const std::string& name);

/// The graphs `ids` (int64) of a set in this order as a set, with their features and edge data.
Graph pick_set(const Graph& set, const torch::Tensor& ids, const std::string& name);

/// The value below which a share of the sorted numbers lies, interpolated between neighbours.
double quantile_of(const std::vector<double>& sorted, double share);

/// A file that lists the graphs of one role.
struct SplitFile {
  Role role;
  Use use;
  const char* path;
};
/// Graph numbers of a split file, one a line. `taken` has an entry for every graph of the set;
/// those of this split are marked in it. Error(data) names the line of a number that is outside the
/// set, or that came before here or in another split.
torch::Tensor read_split(const std::string& path, std::vector<bool>& taken);

/// Adds the reverse of every edge of a graph or set; features, weights and truth of an edge go with it.
void add_reverse_edges(Domain& domain);

/// How a dataset's graphs are treated: the reverse of every pair, and each domain's own mean
/// subtracted. Domains that share a topology go on sharing one.
class Treatment {
 public:
  Treatment(bool symmetrise, Centring centre) : symmetrise_(symmetrise), centre_(centre) {}
  void operator()(Domain& domain);

 private:
  bool symmetrise_;
  Centring centre_;
  std::map<const Adjacency*, AdjacencyPtr> done_;
};

}  // namespace grm
