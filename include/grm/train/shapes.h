#pragma once

#include <string>
#include <vector>

#include "grm/core/options.h"
#include "grm/data/task.h"
#include "grm/graph/batch.h"
#include "grm/methods/grm/options.h"

// How large the arrays of a run will be, read off the data and the options: what counts of
// operations and estimates of memory start from.
namespace grm {

/// A domain graph, or a set of graphs.
struct GraphShape {
  double nodes = 0, edges = 0;
  double sparse = 0;    // stored sparse feature entries
  double dense = 0;     // dense feature columns
  double features = 0;  // all columns
  double items = 0;     // what is classified: nodes or graphs
};
GraphShape shape_of(const Graph& graph);

/// All ego-nets of a step together, or one domain graph taken whole.
struct BatchShape {
  double graphs = 0, rows = 0;
  double edges = 0;       // observed pairs, without the self-pairs that a convolution adds
  double pairs = 0;       // ordered pairs inside the graphs, i = j included
  double half_pairs = 0;  // unordered ones, i = j included
};
BatchShape operator+(const BatchShape& a, const BatchShape& b);
BatchShape operator*(const BatchShape& a, double factor);
BatchShape shape_of(const GraphBatch& batch);

/// The ego-nets of `count` targets of a domain, on average over those drawn (`drawn` at most): what
/// a step of GRM sees.
BatchShape ego_shape(const Domain& domain, const std::vector<int64_t>& fanout, int64_t count,
                     int64_t drawn);

/// Options by name as they stand, without knowing whose they are.
class OptionValues {
 public:
  explicit OptionValues(const OptionList& list) : list_(list) {}
  const OptionList& list() const { return list_; }
  bool has(const std::string& key) const;
  /// `otherwise` where no option has this name.
  double number(const std::string& key, double otherwise = 0.0) const;
  bool flag(const std::string& key, bool otherwise = false) const;
  std::string text(const std::string& key, const std::string& otherwise = "") const;
  template <class E>
  E choice(const std::string& key, E otherwise) const {
    return value_of<E>(text(key)).value_or(otherwise);
  }

 private:
  const Option* find(const std::string& key) const;
  const OptionList& list_;
};

/// GRM's options from their list, at node level or (graph_level) for sets of graphs.
GrmOptions grm_options(const OptionList& list, bool graph_level);

/// GRM at node level: optimiser steps of an epoch, and target nodes of all steps and domains.
int64_t grm_steps(const GrmOptions& options, const std::vector<Domain>& training);
double grm_targets(const GrmOptions& options, const Domain& domain, int64_t steps);

}  // namespace grm
