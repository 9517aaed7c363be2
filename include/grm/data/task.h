#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grm/core/words.h"
#include "grm/graph/graph.h"

namespace grm {

enum class Role { train, validation, test };
GRM_WORDS(Role, "train", "validation", "test")
enum class LossKind { softmax, binary_pair };  // softmax cross-entropy; the 2-output BCE
GRM_WORDS(LossKind, "softmax", "binary_pair")
enum class MetricKind { accuracy, roc_auc, macro_f1 };
GRM_WORDS(MetricKind, "accuracy", "roc_auc", "macro_f1")

/// Labels of one domain's items (nodes, or the graphs of a set), and which of them count.
struct Labels {
  torch::Tensor y;           // [items] int64, -1: unknown
  torch::Tensor loss;        // [k] int64: items whose loss is trained on, ascending
  torch::Tensor evaluate;    // [m] int64: items that the metric sees, ascending
  torch::Tensor edge_truth;  // [nnz] uint8: edges that make the label; undefined where unknown
};

/// One environment: a graph with its labels. Domains of one role that share `group` are scored
/// together, on the concatenation of their nodes (Elliptic's snapshots); elsewhere group == name.
struct Domain {
  std::string name;
  std::string group;
  Graph graph;
  Labels labels;
  std::vector<std::string> item_names;  // as the user calls the items; empty: 0, 1, 2, ...
};

/// Logits [k, classes] of the given nodes of a graph.
using Predictor = std::function<torch::Tensor(const Graph& graph, const torch::Tensor& nodes)>;

/// What a method may see while training: the training domains and the shape of the problem. A model
/// that is built to predict gets the shape alone, without any domain.
/// Validation and test labels are not in it, so reading them does not compile.
struct TrainView {
  std::vector<Domain> training;
  int64_t classes = 0;
  int64_t features = 0;
  LossKind loss = LossKind::softmax;
  Level level = Level::node;
  int64_t edge_features = 0;
  /// Mean validation metric of a predictor, in percent, for methods that choose something while
  /// they train; the labels behind it stay out of sight. Empty where there is nothing to ask.
  std::function<double(const Predictor&)> validate;
};

/// A whole problem: domains by role, number of classes, loss and metric.
struct Task {
  std::string name;
  Level level = Level::node;
  std::vector<Domain> training;
  std::vector<Domain> validation;
  std::vector<Domain> test;
  int64_t classes = 0;
  LossKind loss = LossKind::softmax;
  MetricKind metric = MetricKind::accuracy;
  std::map<std::string, std::string> hashes;  // source file (relative to the data root) -> SHA-256
  std::vector<std::string> missing;           // domains left out under --allow-missing
  std::vector<std::string> notes;             // what a reader of results must know
  std::vector<std::string> label_names;       // by class; empty: 0, 1, 2, ...
  std::vector<std::string> feature_names;     // by column; empty: unnamed
  std::string preprocessing;  // JSON: how columns of own data became features; else empty

  int64_t features() const { return training.front().graph.x.width(); }
  TrainView train_view() const;
  const std::vector<Domain>& domains(Role role) const;
};

/// Builds a domain whose nodes all count, for loss and metric.
Domain make_domain(Graph graph, torch::Tensor y);

/// Checks what every dataset promises: labels in range, equal feature width, finite features, at
/// least one node and one counted label per domain. Error(data) names domain and place.
void check_task(const Task& task);

}  // namespace grm
