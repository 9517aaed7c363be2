#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grm/train/model_file.h"

namespace grm {

/// What a model says of some items (nodes, or the graphs of a set), a row for each. Of multi-label
/// targets `probabilities` are those of a yes to each task, and `entropy` is their sum over the tasks;
/// of a regression there is nothing but logits and values.
struct Prediction {
  torch::Tensor logits;         // [k, classes] float, before the temperature
  torch::Tensor classes;        // [k] int64, the most probable
  torch::Tensor probabilities;  // [k, classes] float: softmax(logits / temperature)
  /// [k] float: deviation over the method's samples (divisor S) of the probability of the predicted
  /// class; undefined if it does not sample.
  torch::Tensor spread;
  torch::Tensor entropy;  // [k] float: of the probabilities, in nats
  torch::Tensor values;   // [k, targets] float: of a regression, in the units of the targets

  int64_t items() const { return logits.defined() ? logits.size(0) : 0; }
};

/// A trained model without its training data. Not for several threads at once.
class Model {
 public:
  explicit Model(ModelFile file);

  const ModelAbout& about() const { return file_.about; }
  const std::string& path() const { return file_.path; }
  Method& method() { return *method_; }
  int64_t features() const { return about().features; }
  int64_t classes() const { return about().classes; }
  /// What the logits are divided by; the model's own unless changed. 1 gives the probabilities as
  /// they were before calibration. Classes do not depend on it.
  double temperature() const { return temperature_; }
  void set_temperature(double temperature) { temperature_ = temperature; }
  /// The name of a class, or its number where the classes have no names.
  std::string label(int64_t c) const;

  /// All items of a graph, or some of them (int64 ids). The graph's columns are those of
  /// feature_names; the model's own symmetrise and centre options are applied here. A model of the
  /// graph level takes a graph without parts as a set of one. Error(shape) if the widths differ.
  Prediction predict(const Graph& graph);
  Prediction predict(const Graph& graph, const torch::Tensor& items);

  /// The graph as the model reads it: checked, symmetrised and centred as the options say. One that
  /// a dataset has loaded is that already.
  Graph prepared(const Graph& graph) const;
  Prediction predict_prepared(const Graph& graph, const torch::Tensor& items);
  /// Lets go of what was derived from the graphs so far. predict() does it by itself.
  void forget_graphs() { method_->forget_graphs(); }

 private:
  ModelFile file_;
  double temperature_;
  std::unique_ptr<Method> method_;
};

/// Reads a model from a run folder or a model file.
Model load(const std::string& path);

/// A graph from pairs edge_index [2, m] (row 0 source, row 1 target; integers) and features
/// x [n, d]. With `graph` [n] (integers that do not fall, from 0) it is a set of graphs, as batches
/// of PyTorch Geometric are; `edge_attr` [m, k] are features of the pairs. Of equal pairs the first
/// stays.
Graph make_graph(const torch::Tensor& edge_index, const torch::Tensor& x,
                 const torch::Tensor& graph = {}, const torch::Tensor& edge_attr = {});

/// One domain to be predicted: its graph as prepared() gives it, and the items that are asked for.
struct Asked {
  Domain domain;
  torch::Tensor items;  // [k] int64
};
/// What `--data` names for a model, with the labels that are there:
///   own data: all items of all domains of a folder, or of one npz;
///   graphs in the publisher's format of the dataset that the model was trained on, read by its own
///   reader with the vocabulary that the model holds (Dataset::load_unseen): all items;
///   the name of a built-in dataset: its test domains, the items that its metric sees. The dataset
///   that the model was trained on is loaded with the options of its run.
/// Labels count (Labels::evaluate) where they are there and the model has their class.
std::vector<Asked> data_to_predict(const Model& model, const std::string& data,
                                   const DataContext& context);

/// The metric of the labelled items of one group of domains.
struct PredictionScore {
  std::string domain;
  int64_t labelled = 0;
  double value = 0.0;  // percent, or in the units of the targets
  double ece = 0.0;    // expected calibration error, percent
};

struct PredictionSummary {
  int64_t items = 0;
  std::vector<int64_t> count;  // by class; of multi-label targets: yeses by task
  bool sampled = false;        // whether there is a spread
  double mean_spread = 0.0;
  double mean_entropy = 0.0;
  std::vector<PredictionScore> scores;  // of groups that have labels
  std::vector<std::string> notes;       // why a group with labels has no score
};

/// Predicts domain by domain (sets of graphs some thousand at a time) and hands the lines of a CSV
/// file to `write`, the head first:
///   domain,id,class,label,p_<label> for each class,spread,entropy
/// of multi-label targets: domain,id,p_<task> for each task,entropy; of a regression:
/// domain,id,<target> for each target;
/// with numbers that read back to the same bits. `progress` is told items done and in all, `each` gets
/// the predictions behind the lines.
using PredictionSink =
    std::function<void(const Domain& domain, const torch::Tensor& items, const Prediction& p)>;
PredictionSummary predict_csv(Model& model, const std::vector<Asked>& data,
                              const std::function<void(const std::string&)>& write,
                              const std::function<void(int64_t, int64_t)>& progress = {},
                              const PredictionSink& each = {});

}  // namespace grm
