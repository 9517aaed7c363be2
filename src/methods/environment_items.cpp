#include "methods/environment_items.h"

#include <torch/types.h>

#include "grm/core/error.h"
#include "nn/losses.h"

namespace grm {
namespace {

using torch::Tensor;

// Known labels of each item, [m].
Tensor known_labels(const TrainLoss& loss, const EnvironmentItems& items) {
  const auto numbers = items.logits.options();
  if (target_of(loss.kind) == Target::classes) return torch::ones({items.y.size(0)}, numbers);
  return torch::isnan(items.y).logical_not().to(numbers).sum(1);
}

}  // namespace

Tensor EnvironmentRisks::mean(const Tensor& values) const {
  return (values * present).sum() / present.sum().clamp_min(1.0);
}

EnvironmentRisks environment_risks(const TrainLoss& loss, const EnvironmentItems& items) {
  ensure(items.environments > 0 && items.environment.size(0) == items.logits.size(0),
         "environment_risks: every item needs a place for its environment");
  EnvironmentRisks risks;
  const Tensor names = torch::arange(items.environments, items.environment.options());
  risks.member = items.environment.unsqueeze(0).eq(names.unsqueeze(1)).to(items.logits.options());
  // row_losses are scaled so that their mean is the mean over all known labels.
  const Tensor known = known_labels(loss, items);
  const Tensor in_each = risks.member.matmul(known);
  risks.share = risks.member * (known.mean() / in_each.clamp_min(1.0)).unsqueeze(1);
  risks.present = in_each.gt(0.0).to(items.logits.options());
  risks.each = risks.share.matmul(nn::row_losses(loss, items.logits, items.y));
  return risks;
}

}  // namespace grm
