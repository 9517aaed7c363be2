#pragma once

#include <torch/types.h>

#include <string>

#include "grm/core/words.h"
#include "grm/graph/graph.h"

namespace grm::graph_level {

/// size: numbers of nodes and edges [k, 2]      mean_features: mean node features [k, d]
enum class TrivialReads { size, mean_features };
GRM_WORDS(TrivialReads, "size", "mean_features")
/// What a trivial baseline reads of the graphs `items`, one row for each, in double.
torch::Tensor trivial_inputs(TrivialReads reads, const Graph& set, const torch::Tensor& items);

}  // namespace grm::graph_level
