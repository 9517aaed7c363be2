#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "methods/backbone_method.h"
#include "methods/device_predictions.h"
#include "methods/graph/batches.h"
#include "nn/recorded_step.h"

namespace grm::graph_level {

/// Options that all graph-level methods share; members hold the common defaults.
struct GraphTrainOptions {
  int64_t batch = 32;
  OptimiserOptions optimiser{Optimiser::adam, 1e-3, 0.0};
  nn::ReadoutOptions readout;
  bool accumulate = false;
  void declare(OptionList& list);
};

/// What methods on sets of graphs say of their cost. A step sees `batch` graphs of mean size, and
/// `passes` stands for its passes of an encoder of the widest kind: an extractor, the causal part
/// and the rest make two and a half.
struct GraphMethodOptions : MethodOptions {
  GraphTrainOptions training;
  EpochShape epoch(const std::vector<DomainShape>& sets) const;
  std::string undivided() const { return ""; }

 protected:
  MemoryUses memory_of(const nn::GraphEncoderOptions& encoder, const RunShape& run,
                       double passes = 2.5, double besides = 0.0) const;
  /// One pass of each encoder over the graphs with labels. A cut graph has at least the nodes of
  /// one pass in both parts together.
  static WorkCount work_of(const std::vector<nn::GraphEncoderOptions>& encoders,
                           const RunShape& run);
  std::vector<Saving> savings_of(const nn::GraphEncoderOptions& encoder) const;
};

/// Widths of a head: {in, classes}, or {in, 2 in, classes} with `layers` = 2.
std::vector<int64_t> head_widths(int64_t in, int64_t layers, int64_t classes);

/// The graphs of one training step. On a GPU all of it lies there, with room for more rows than there
/// are.
struct TrainBatch {
  nn::GraphInput input;
  torch::Tensor ids;  // [B] int64: graphs of the training set
  torch::Tensor y;    // [B] int64
  nn::Pass& pass;     // training mode, with the dropout stream of this step
  nn::Step& step;     // for what differs from step to step besides
};

/// A part of a step's loss, for the record. It is read when the epoch is over, so that no step
/// waits for a device.
struct BatchTerm {
  std::string name;
  torch::Tensor value;  // a scalar
};

/// What a step minimises, and its parts.
struct BatchLoss {
  torch::Tensor total;  // a scalar, differentiated
  std::vector<BatchTerm> terms;
};

/// A method on one training set of graphs. The subclass creates its networks in set_, then calls
/// start_readout(), start_optimiser() and start_steps(), and trains with run_epoch().
class GraphMethod : public Method {
 public:
  torch::Tensor logits(const Graph& set, const torch::Tensor& items) override;
  torch::Tensor edge_scores(const Graph& set, const torch::Tensor& items) override;
  void forget_graphs() override { predictions_.forget(); }
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&*optimiser_}; }

 protected:
  GraphMethod(const GraphTrainOptions& training, const TrainView& view, const Rng& rng);

  /// Logits [B, classes] of a batch; called in evaluation mode without gradients.
  virtual torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) = 0;
  /// Scores [nnz] of a batch's edges, or undefined.
  virtual torch::Tensor batch_edge_scores(const nn::GraphInput& /*batch*/, nn::Pass& /*pass*/) {
    return {};
  }

  /// Adam over `parameters` (of set_) with the shared options.
  void start_optimiser(const nn::ParameterSet::Named& parameters);
  void start_optimiser() { start_optimiser(set_.parameters()); }
  /// Allows steps to be recorded on a GPU. `of_features`: the encoder of raw features.
  void start_steps(const nn::GraphEncoderOptions& of_features);

  /// Goes over the training graphs once, `ids` of them where given (they may repeat). All
  /// optimisers() step after every batch, or once at the end on the mean of the batches' losses
  /// (`accumulate`). Returns "total" and the terms, averaged over batches. The objective of a step
  /// that is recorded runs a few times and is then repeated: what changes beside the batch comes from
  /// TrainBatch::step or stands in tensors that stay where they are. `variant` names the objective
  /// where there are several.
  std::vector<LossTerm> run_epoch(int64_t epoch,
                                  const std::function<BatchLoss(TrainBatch&)>& objective,
                                  const torch::Tensor& ids = {}, int64_t variant = 0);

  /// The rows that `of_batch` gives for the graphs `items`, in evaluation mode, some hundred graphs
  /// at a time. Undefined where it gives nothing.
  torch::Tensor by_chunks(
      const Graph& set, const torch::Tensor& items,
      const std::function<torch::Tensor(const nn::GraphInput&, nn::Pass&)>& of_batch,
      bool padded) const;
  torch::Tensor by_chunks(
      const Graph& set, const torch::Tensor& items,
      const std::function<torch::Tensor(const nn::GraphInput&, nn::Pass&)>& of_batch) const {
    return by_chunks(set, items, of_batch, fits_padded(set));
  }

  const Domain& training() const { return view_.training.front(); }
  /// The readout of node rows of this width, before start_optimiser().
  void start_readout(int64_t width) {
    readout_ = nn::GraphReadout(set_, "readout", training_options_.readout, width);
  }

  /// Whether batches of this set are cut out on a GPU.
  bool fits_padded(const Graph& set) const;
  /// What is trained beside the model with an optimiser of its own; null: nothing.
  virtual nn::ParameterSet* helper() { return nullptr; }
  void start_sums();
  TrainBatch make_batch(nn::Step& step, const torch::Tensor& drawn, int64_t room) const;
  /// The graphs of a step, or of its shard.
  torch::Tensor drawn(const nn::When& when) const { return when.part_of(batches_[when.step]); }
  void take_step(nn::Step& step);
  /// What a step minimises and its gradients; reports the values.
  void train_step(nn::Step& step, int64_t room,
                  const std::function<BatchLoss(TrainBatch&)>& objective);

  GraphTrainOptions training_options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  nn::GraphReadout readout_;
  std::optional<nn::Adam> optimiser_;

 private:
  std::optional<nn::StepRecorder> steps_;
  bool own_network_ = false;            // one of the caller's, which is neither recorded nor padded
  bool cuts_there_ = false;             // batches of training are cut out on a GPU
  GraphRooms rooms_;                    // for them
  std::vector<torch::Tensor> batches_;  // of this epoch
  std::vector<std::string> names_;      // of the values of a step
  DevicePredictions predictions_;
};

}  // namespace grm::graph_level
