#pragma once

#include "grm/methods/method.h"

namespace grm {

/// The edges around an item, each with what the log-odds of the predicted class lose when the edge
/// is left out, in both directions at once: a mask of edges that needs nothing of the method but its
/// logits. Positive: the edge speaks for the prediction; negative: against it. Of a graph all edges
/// are tried, of a node those nearest to it, `most` at most. One pass for each edge, over the part of
/// the graph in which the node's answer is the same.
constexpr int64_t kMostRemoved = 200;
GeneratedGraph removal_graph(Method& method, const Graph& graph, int64_t item,
                             int64_t most = kMostRemoved);

/// log p_c / (1 - p_c) of class classes[i] in each row: [k]. The logit itself where there is one.
torch::Tensor log_odds(const torch::Tensor& logits, const torch::Tensor& classes);

}  // namespace grm
