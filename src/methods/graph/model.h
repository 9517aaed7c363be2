#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "methods/backbone_method.h"
#include "methods/graph/batches.h"

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

/// The graphs of one training step.
struct TrainBatch {
  nn::GraphInput input;
  torch::Tensor ids;  // [B] int64: graphs of the training set
  torch::Tensor y;    // [B] int64
  nn::Pass pass;      // training mode, with the dropout stream of this step
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
/// start_readout() and start_optimiser(), and trains with run_epoch().
class GraphMethod : public Method {
 public:
  torch::Tensor logits(const Graph& set, const torch::Tensor& items) override;
  torch::Tensor edge_scores(const Graph& set, const torch::Tensor& items) override;
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

  /// Goes over the training graphs once, `ids` of them where given (they may repeat). All
  /// optimisers() step after every batch, or once at the end on the mean of the batches' losses
  /// (`accumulate`). Returns "total" and the terms, averaged over batches.
  std::vector<LossTerm> run_epoch(int64_t epoch,
                                  const std::function<BatchLoss(TrainBatch&)>& objective,
                                  const torch::Tensor& ids = {});

  /// The rows that `of_batch` gives for the graphs `items`, in evaluation mode, some hundred graphs
  /// at a time. Undefined where it gives nothing.
  torch::Tensor by_chunks(
      const Graph& set, const torch::Tensor& items,
      const std::function<torch::Tensor(const nn::GraphInput&, nn::Pass&)>& of_batch) const;

  const Domain& training() const { return view_.training.front(); }
  /// The readout of node rows of this width, before start_optimiser().
  void start_readout(int64_t width) {
    readout_ = nn::GraphReadout(set_, "readout", training_options_.readout, width);
  }

  GraphTrainOptions training_options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  nn::GraphReadout readout_;
  std::optional<nn::Adam> optimiser_;
};

}  // namespace grm::graph_level
