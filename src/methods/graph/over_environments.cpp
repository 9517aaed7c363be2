#include "methods/graph/over_environments.h"

#include <torch/types.h>

#include "grm/graph/device.h"
#include "nn/losses.h"

namespace grm::graph_level {

OverEnvironments::OverEnvironments(const OverEnvironmentsOptions& options, const Make& make,
                                   const TrainView& view, const Rng& rng)
    : PlainGraphMethod(options, view, rng) {
  if (view.training.empty()) return;
  environments_ = environments_of(options.environments, training());
  environments_.of_item = on_device(environments_.of_item, set_.device());
  const int64_t width = options.encoder.hidden;
  objective_ = make({view.loss, environments_.count, options.epoch(shapes_of(view.training)).steps,
                     [width] { return width; }, options.training.optimiser, rng});
}

BatchLoss OverEnvironments::batch_loss(TrainBatch& batch) {
  const Answer out = answer(batch.input, batch.pass);
  EnvironmentItems items;
  items.hidden = out.hidden;
  items.logits = out.logits;
  items.y = batch.y;
  items.environment = environments_.of_item.index_select(0, batch.ids);
  items.environments = environments_.count;
  const EnvironmentRisks risks = environment_risks(view_.loss, items);
  const torch::Tensor risk = nn::supervised_loss(view_.loss, items.logits, items.y);
  const ObjectiveLoss loss = objective_->loss(items, risks, risk, batch.step);
  return {loss.total, {{"risk", risk}, {objective_->part(), loss.part}}};
}

std::vector<LossTerm> OverEnvironments::train_epoch(int64_t epoch) {
  return run_epoch(epoch, [this](TrainBatch& batch) { return batch_loss(batch); });
}

std::vector<nn::Adam*> OverEnvironments::optimisers() {
  std::vector<nn::Adam*> all = {&*optimiser_};
  if (objective_ && objective_->helper_optimiser()) all.push_back(objective_->helper_optimiser());
  return all;
}

std::map<std::string, torch::Tensor> OverEnvironments::training_state() const {
  std::map<std::string, torch::Tensor> state;
  if (objective_) add_helper_state(objective_->helper(), state);
  return state;
}

void OverEnvironments::restore_training_state(const std::map<std::string, torch::Tensor>& state) {
  restore_helper(helper(), state);
}

}  // namespace grm::graph_level
