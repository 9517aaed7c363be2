#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "methods/backbone_method.h"
#include "methods/environment_items.h"

// The objectives that IRM, V-REx, group DRO, Deep CORAL and DANN add to ERM's step. They know no
// level: over_domains.h applies them to the nodes of several domains, graph/over_environments.h to
// the graphs of a batch.
namespace grm {

/// What an objective may know of a run when it is made.
struct ObjectiveShape {
  TrainLoss loss;
  int64_t environments = 0;
  int64_t steps = 1;               // of an epoch
  std::function<int64_t()> width;  // of the hidden rows
  OptimiserOptions optimiser;
  Rng rng;
};

/// What a step minimises, and the part that the objective is about.
struct ObjectiveLoss {
  torch::Tensor total, part;
};

class EnvironmentObjective {
 public:
  virtual ~EnvironmentObjective() = default;
  /// `risk`: the mean loss of the step, as ERM takes it.
  virtual ObjectiveLoss loss(const EnvironmentItems& items, const EnvironmentRisks& risks,
                             const torch::Tensor& risk, nn::Step& step) = 0;
  /// The name of the part in records.
  virtual const char* part() const { return "penalty"; }
  virtual bool reads_hidden() const { return false; }
  /// Node level: whether it looks at hidden rows of nodes without a label.
  virtual bool reads_unlabelled() const { return false; }
  /// Node level: called once with the domains, and the nodes of each one's graph that no domain trains
  /// on, before the first step. `device`: where the network computes.
  virtual void begin(const std::vector<Domain>& /*domains*/,
                     const std::vector<torch::Tensor>& /*unlabelled*/,
                     const torch::Device& /*device*/) {}
  /// What is trained beside the model and not part of it; null: nothing.
  virtual nn::ParameterSet* helper() { return nullptr; }
  virtual nn::Adam* helper_optimiser() { return nullptr; }
};

/// The state of what is trained beside a model (null: nothing) as part of a method's own, and back: what
/// is left is the rest.
void add_helper_state(const nn::ParameterSet* helper, std::map<std::string, torch::Tensor>& state);
std::map<std::string, torch::Tensor> restore_helper(
    nn::ParameterSet* helper, const std::map<std::string, torch::Tensor>& state);

/// risk + lambda penalty, for an objective that is one such function.
struct WeightedPenaltyOptions {
  double lambda = 1.0;
  void declare(OptionList& list, const char* help) { list.add("lambda", lambda, {0, 1e6}, help); }
  /// Operations besides the network's, for `items` rows of `width`.
  void add_work(WorkCount& /*work*/, double /*items*/, double /*width*/) const {}
};

}  // namespace grm
