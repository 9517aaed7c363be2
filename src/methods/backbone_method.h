#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "grm/methods/method.h"
#include "methods/device_predictions.h"
#include "methods/mini_batches.h"
#include "nn/backbone.h"
#include "nn/recorded_step.h"

namespace grm {

enum class Optimiser { adamw, adam };
GRM_WORDS(Optimiser, "adamw", "adam")

/// One step of the optimiser on all training domains, or one for each of them.
enum class DomainUpdate { mean, per_domain, per_domain_accumulate };
GRM_WORDS(DomainUpdate, "mean", "per_domain", "per_domain_accumulate")

/// Optimiser options that most methods share; members hold the method's own defaults.
struct OptimiserOptions {
  Optimiser optimiser = Optimiser::adamw;
  double lr = 0.01;
  double weight_decay = 1e-3;
  void declare(OptionList& list);
  bool decoupled() const { return optimiser == Optimiser::adamw; }
};

/// Mean loss of a domain's training nodes; logits: [n, classes] of all its nodes.
torch::Tensor domain_loss(const TrainLoss& loss, const Labels& labels, const torch::Tensor& logits);

/// Error(config) for a method that looks at the class of an item, where targets are not classes.
void require_classes(const TrainView& view, const std::string& who, const std::string& why);

/// Tells the log which data of edges a method (or its backbone) leaves aside. Nothing for a model
/// that is built to predict, or for data whose edges carry nothing.
void tell_unread_edges(const TrainView& view, const std::string& who, bool reads_weights,
                       bool reads_features);

/// One product of the first layer for each set of features in use (edited copies of a graph have
/// the features of that graph). Valid for passes between two changes of the weights.
class SharedProducts {
 public:
  nn::SharedProduct* of(const Graph& graph);

 private:
  std::deque<std::pair<Features, nn::SharedProduct>> products_;
};

/// A method whose model is one backbone, used as it is for prediction. What makes it a method is
/// how it trains: train_epoch is left to the subclass. One that runs its steps through `steps_` is
/// recorded on a GPU (nn/recorded_step.h).
class BackboneMethod : public Method {
 public:
  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override;
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }
  void forget_graphs() override { predictions_.forget(); }

 protected:
  BackboneMethod(const nn::BackboneOptions& backbone, const OptimiserOptions& optimiser,
                 const TrainView& view, const Rng& rng);

  /// Forward pass in training mode over a domain's graph, or over other edges for its nodes.
  /// `place` tells the passes of one epoch apart.
  nn::BackboneOutput forward(const Domain& domain, int64_t epoch, uint64_t place,
                             const AdjacencyPtr& edges = nullptr,
                             const torch::Tensor& edge_weights = {},
                             SharedProducts* shared = nullptr);
  /// The same in a step that may be recorded.
  nn::BackboneOutput forward(nn::Step& step, const Domain& domain, uint64_t place,
                             const AdjacencyPtr& edges = nullptr,
                             const torch::Tensor& edge_weights = {},
                             SharedProducts* shared = nullptr);
  /// The same on any input.
  nn::BackboneOutput forward(nn::Step& step, uint64_t place, const nn::BackboneInput& input);
  nn::BackboneOutput forward(nn::Pass& pass, const Domain& domain, const AdjacencyPtr& edges,
                             const torch::Tensor& edge_weights, SharedProducts* shared);
  torch::Tensor loss_of(const Domain& domain, const torch::Tensor& logits) const {
    return domain_loss(view_.loss, domain.labels, logits);
  }

  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  std::unique_ptr<nn::Backbone> backbone_;
  nn::Adam optimiser_;     // over the whole set
  const bool recordable_;  // whole graphs and a backbone of ours: others may do anything
  nn::StepRecorder steps_;
  MiniBatches batches_;

 private:
  nn::Pass& training_pass(nn::Step& step, uint64_t place);

  std::optional<int64_t> hops_;
  DevicePredictions predictions_;
};

}  // namespace grm
