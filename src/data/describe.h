#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grm/data/task.h"

namespace grm {

/// How many numbers lie in low..high.
struct HistogramBin {
  int64_t low = 0;
  int64_t high = 0;
  int64_t count = 0;
};

/// What a reader wants to know of a domain before training on it.
struct DomainSummary {
  std::string name;
  std::string group;
  Role role = Role::train;
  int64_t nodes = 0;
  int64_t edges = 0;             // stored pairs
  int64_t features = 0;          // width
  int64_t feature_nonzeros = 0;  // stored numbers
  std::vector<int64_t> labels;   // histogram over the classes of the items that the metric sees
  int64_t unlabelled = 0;        // items with label -1
  int64_t isolated = 0;          // nodes without any pair
  int64_t no_in = 0;             // nodes that receive from nobody
  int64_t no_out = 0;            // nodes that send to nobody
  int64_t self_loops = 0;
  double mean_degree = 0;             // stored pairs per node
  double majority_share = 0;          // of `labels`: the accuracy of the best constant answer
  std::vector<HistogramBin> degrees;  // of the nodes: pairs that they receive
  // A set of graphs has these too; elsewhere `graphs` is 0 and `labels` counts nodes.
  int64_t graphs = 0;
  double mean_nodes = 0;
  double mean_edges = 0;            // stored pairs
  std::vector<HistogramBin> sizes;  // nodes of a graph
  int64_t edge_features = 0;        // width
  int64_t truth_edges = 0;          // edges that make the label, where known
};

DomainSummary describe(const Domain& domain, Role role, int64_t classes);
/// All domains: training, validation, test.
std::vector<DomainSummary> describe(const Task& task);

/// Counts in the bins 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, 16-23, ... from the first to the last one
/// that is not empty.
std::vector<HistogramBin> count_histogram(const torch::Tensor& counts);

/// SHA-256 over names, topology, features and labels of all domains: equal for equal data.
std::string fingerprint(const Task& task);

/// "labels 12 3 40, majority share 0.727", for notes on generated labels.
std::string label_note(const torch::Tensor& y, int64_t classes);

}  // namespace grm
