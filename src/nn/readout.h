#pragma once

#include <string>

#include "grm/core/options.h"
#include "grm/core/words.h"
#include "grm/nn/layers.h"

// From rows of nodes to one row per graph.
namespace grm::nn {

enum class Pooling { mean, sum, max, weighted, log_mean_exp };
GRM_WORDS(Pooling, "mean", "sum", "max", "weighted", "log-mean-exp")
/// What is pooled: the node rows that a head then reads, or the logits of a head of every node.
enum class Pooled { rows, logits };
GRM_WORDS(Pooled, "rows", "logits")

/// One row per graph of node rows x_i, 0 for a graph without rows. A gate p_i ([n], optional) takes
/// p_i x_i in the place of x_i; `weighted` needs one and is sum_i p_i x_i / (sum_i p_i + 1e-6).
/// log-mean-exp is log(mean_i exp(x_i)) column by column, finite for every finite x.
torch::Tensor pool(Pooling kind, const torch::Tensor& node_offsets, const torch::Tensor& rows,
                   const torch::Tensor& gate = {});

/// The graph of each of `rows` rows: [rows] int64.
torch::Tensor graph_of_row(const torch::Tensor& node_offsets, int64_t rows);

struct ReadoutOptions {
  Pooling pooling = Pooling::mean;
  Pooled pool = Pooled::rows;
  void declare(OptionList& list);
};

class Mlp;

/// Node rows of a batch on their way to the graphs.
struct NodeRows {
  torch::Tensor offsets;  // [graphs + 1]
  torch::Tensor rows;     // [n, width]
  torch::Tensor gate;     // [n], where pooling = weighted
};

/// The readout of a network on graphs: which rows are pooled, and how. With pooling = weighted it
/// has a gate of its own, p_i = sigmoid(w . h_i + b).
class GraphReadout {
 public:
  GraphReadout() = default;
  GraphReadout(ParameterSet& set, const std::string& name, const ReadoutOptions& options,
               int64_t width);
  /// The rows with their gate.
  NodeRows read(const torch::Tensor& offsets, const torch::Tensor& rows) const;
  /// One row per graph.
  torch::Tensor pooled(const NodeRows& nodes) const { return pooled(nodes, nodes.rows); }
  torch::Tensor pooled(const NodeRows& nodes, const torch::Tensor& rows) const {
    return pool(options_.pooling, nodes.offsets, rows, nodes.gate);
  }
  /// head(pool(rows)), or pool(head(rows)).
  torch::Tensor logits(const NodeRows& nodes, const Mlp& head) const;
  torch::Tensor logits(const NodeRows& nodes, const Linear& head) const;
  bool pools_logits() const { return options_.pool == Pooled::logits; }

 private:
  ReadoutOptions options_;
  Linear gate_;  // [width, 1]; undefined unless weighted
};

}  // namespace grm::nn
