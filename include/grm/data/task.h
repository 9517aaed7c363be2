#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grm/core/words.h"
#include "grm/graph/graph.h"

namespace grm {

namespace dist {
class Group;
}

enum class Role { train, validation, test };
GRM_WORDS(Role, "train", "validation", "test")
/// What is predicted of an item: one class of several, yes or no for each of several questions
/// (tasks), or numbers.
enum class Target { classes, multi_label, regression };
GRM_WORDS(Target, "class", "multi-label", "regression")
/// Softmax cross-entropy; the 2-output BCE; BCE of each task; squared error.
enum class LossKind { softmax, binary_pair, multi_label, squared };
GRM_WORDS(LossKind, "softmax", "binary_pair", "multi_label", "squared")
/// `matthews` is the correlation of true and predicted class, in percent like all others.
enum class MetricKind {
  accuracy,
  roc_auc,
  macro_f1,
  average_precision,
  micro_f1,
  rmse,
  mae,
  r2,
  matthews
};
GRM_WORDS(MetricKind, "accuracy", "roc_auc", "macro_f1", "average_precision", "micro_f1", "rmse",
          "mae", "r2", "matthews")

Target target_of(LossKind loss);
/// The metrics of a kind of target, the usual one first.
std::vector<MetricKind> metrics_of(Target target);
/// Whether the metric is an error, of which less is better.
bool smaller_is_better(MetricKind metric);

/// Where the targets of a regression lie, by target: training's mean and deviation. What a model
/// gives are targets less their mean, divided by their deviation.
struct TargetScale {
  std::vector<double> mean, deviation;  // empty for other targets

  /// Outputs of a model [k, targets] as targets, and back; unchanged where there is no scale.
  torch::Tensor restored(const torch::Tensor& outputs) const;
  torch::Tensor scaled(const torch::Tensor& targets) const;
};

/// What is trained on: the loss, and how it counts rows.
struct TrainLoss {
  LossKind kind = LossKind::softmax;
  /// [classes] float: what a row of each class counts; of multi-label targets, what a yes of each
  /// task counts. Undefined: one.
  torch::Tensor weights;
  double focal = 0.0;  // gamma: a row counts (1 - p)^gamma, p the probability of its label
  /// Known labels of a row, on average, in the batch that the rows are a part of; 0: they are all of
  /// it. For targets that are not all known.
  double known = 0.0;

  TrainLoss() = default;
  TrainLoss(LossKind loss) : kind(loss) {}  // NOLINT: a kind is a loss without more to say
};

/// Labels of one domain's items (nodes, or the graphs of a set), and which of them count.
struct Labels {
  /// [items] int64, -1: unknown. Of other targets than classes [items, tasks] float, NaN: unknown.
  torch::Tensor y;
  torch::Tensor loss;        // [k] int64: items whose loss is trained on, ascending
  torch::Tensor evaluate;    // [m] int64: items that the metric sees, ascending
  torch::Tensor edge_truth;  // [nnz] uint8: edges that make the label; undefined where unknown
  /// [items] int64 from 0 on: which environment of the training domain an item belongs to, -1: none.
  /// For methods that use environments at graph level; undefined where the data names none.
  torch::Tensor environment;
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

/// How the steps of a run are cut. A batch falls into `shards` parts of equal size; each is computed
/// alone, gradients are summed in the order of the shards. The processes of the group compute some
/// shards each; null: this process computes all.
struct Sharding {
  int64_t shards = 1;
  std::shared_ptr<dist::Group> group;
};

/// Steps on samples of large graphs (train.batch, train.fanout).
struct Sampling {
  int64_t batch = 0;            // target nodes of each training domain in a step; 0: whole graphs
  std::vector<int64_t> fanout;  // neighbours drawn per hop, the targets' first; 0: all; empty: all
  bool on() const { return batch > 0; }
};

/// What a method may see while training: the training domains (targets of a regression scaled) and
/// the shape of the problem. A model
/// that is built to predict gets the shape alone, without any domain.
/// Validation and test labels are not in it, so reading them does not compile.
struct TrainView {
  std::vector<Domain> training;
  int64_t classes = 0;
  int64_t features = 0;
  TrainLoss loss;
  Level level = Level::node;
  int64_t edge_features = 0;
  Sampling sampling = {};
  /// Mean validation metric of a predictor, for methods that choose something while they train:
  /// more is better (errors come with a minus). The labels behind it stay out of sight. Empty where
  /// there is nothing to ask.
  std::function<double(const Predictor&)> validate;
  Sharding sharding;
};

/// A whole problem: domains by role, number of classes, loss and metric.
struct Task {
  std::string name;
  Level level = Level::node;
  std::vector<Domain> training;
  std::vector<Domain> validation;
  std::vector<Domain> test;
  int64_t classes = 0;  // or tasks, or numbers to predict: outputs of a model
  LossKind loss = LossKind::softmax;
  TargetScale target_scale;  // of regression
  MetricKind metric = MetricKind::accuracy;
  std::map<std::string, std::string> hashes;  // source file (relative to the data root) -> SHA-256
  std::vector<std::string> missing;           // domains left out under --allow-missing
  std::vector<std::string> notes;             // what a reader of results must know
  std::vector<std::string> label_names;       // by class or task; empty: 0, 1, 2, ...
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
