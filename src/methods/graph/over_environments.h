#pragma once

#include <memory>
#include <vector>

#include "methods/environment_objective.h"
#include "methods/graph/environments.h"
#include "methods/graph/plain.h"

// Methods at graph level that want the same of the environments of a batch's graphs.
namespace grm::graph_level {

struct OverEnvironmentsOptions : PlainGraphOptions {
  EnvironmentOptions environments;

  std::string undivided() const {
    return "it compares the environments of a whole batch, of which a shard may hold one";
  }
};

/// ERM's step on a batch and an objective over the environments of its graphs. What the objective
/// calls hidden are the pooled rows.
class OverEnvironments : public PlainGraphMethod {
 public:
  using Make = std::function<std::unique_ptr<EnvironmentObjective>(const ObjectiveShape&)>;
  OverEnvironments(const OverEnvironmentsOptions& options, const Make& make, const TrainView& view,
                   const Rng& rng);

  std::vector<LossTerm> train_epoch(int64_t epoch) override;
  std::vector<nn::Adam*> optimisers() override;
  std::map<std::string, torch::Tensor> training_state() const override;
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override;

 protected:
  nn::ParameterSet* helper() override { return objective_ ? objective_->helper() : nullptr; }

 private:
  BatchLoss batch_loss(TrainBatch& batch);

  GraphEnvironments environments_;
  std::unique_ptr<EnvironmentObjective> objective_;  // null: built to predict
};

/// Options and class of a method from those of its objective (`Own`: declare, make, add_work).
template <class Own>
struct OverEnvironmentsWith : OverEnvironmentsOptions {
  Own own;

  void declare(OptionList& list) {
    PlainGraphOptions::declare(list);
    own.declare(list);
    environments.declare(list);
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    WorkCount all = work_of({encoder}, run);
    own.add_work(all, epoch(run.training).targets, static_cast<double>(encoder.hidden));
    return all;
  }
};

template <class Own>
struct OverEnvironmentsMethod final : OverEnvironments {
  OverEnvironmentsMethod(const OverEnvironmentsWith<Own>& options, const TrainView& view,
                         const Rng& rng)
      : OverEnvironments(
            options, [&](const ObjectiveShape& shape) { return options.own.make(shape); }, view,
            rng) {}
};

template <class Own>
std::unique_ptr<MethodRecipe> recipe_over_environments() {
  return std::make_unique<SimpleRecipe<OverEnvironmentsWith<Own>, OverEnvironmentsMethod<Own>>>();
}

}  // namespace grm::graph_level
