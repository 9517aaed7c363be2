// IRM: invariant risk minimisation (Arjovsky et al., 2019), its practical form IRMv1. A classifier
// on top of the features should be at an optimum in all environments at once: w = 1, a number that
// multiplies the logits, is no better chosen in one environment than in another.
//
//   L = R + (lambda / C) sum_e (dR_e(w o) / dw)^2 at w = 1
//
// R is the mean loss as ERM takes it, R_e that of environment e, C the number of environments in the
// step. The derivative has the closed form mean_{i in e} <dl_i / do_i, o_i>, so that first
// derivatives are enough to train on it. lambda = 0 is ERM.
#include <torch/types.h>

#include "methods/environment_penalties.h"
#include "methods/graph/over_environments.h"
#include "methods/over_domains.h"
#include "nn/losses.h"

namespace grm {

torch::Tensor irm_penalty(const TrainLoss& loss, const EnvironmentItems& items,
                          const EnvironmentRisks& risks) {
  const torch::Tensor residuals = nn::loss_residuals(loss, items.logits, items.y);
  const torch::Tensor slopes = risks.share.matmul((residuals * items.logits).sum(1));
  return risks.mean(slopes.square());
}

namespace {

struct IrmOptions : WeightedPenaltyOptions {
  void declare(OptionList& list) {
    WeightedPenaltyOptions::declare(list, "weight of the squared slopes of the risks");
  }
  std::unique_ptr<EnvironmentObjective> make(const ObjectiveShape& shape) const;
};

class Irm final : public EnvironmentObjective {
 public:
  Irm(const IrmOptions& options, const ObjectiveShape& shape)
      : lambda_(options.lambda), loss_(shape.loss) {}

  ObjectiveLoss loss(const EnvironmentItems& items, const EnvironmentRisks& risks,
                     const torch::Tensor& risk, nn::Step& /*step*/) override {
    const torch::Tensor penalty = irm_penalty(loss_, items, risks);
    return {risk + lambda_ * penalty, penalty};
  }

 private:
  double lambda_;
  TrainLoss loss_;
};

std::unique_ptr<EnvironmentObjective> IrmOptions::make(const ObjectiveShape& shape) const {
  return std::make_unique<Irm>(*this, shape);
}

}  // namespace

std::unique_ptr<MethodRecipe> make_irm() {
  return recipe_over_domains<IrmOptions>();
}
std::unique_ptr<MethodRecipe> make_graph_irm() {
  return graph_level::recipe_over_environments<IrmOptions>();
}

}  // namespace grm
