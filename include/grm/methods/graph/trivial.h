#pragma once

#include <torch/types.h>

#include <string>

#include "grm/graph/graph.h"

namespace grm::graph_level {

/// What a trivial baseline reads of the graphs `items`, one row for each, in double.
///   "size": numbers of nodes and edges [k, 2]      "mean_features": mean node features [k, d]
torch::Tensor trivial_inputs(const std::string& reads, const Graph& set,
                             const torch::Tensor& items);

}  // namespace grm::graph_level
