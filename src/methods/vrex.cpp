// V-REx: risk extrapolation (Krueger et al., ICML 2021). The risks of the environments are made
// equal, in the hope that they stay so beyond them.
//
//   L = R + lambda Var_e(R_e)
//
// R is the mean loss as ERM takes it, Var the unbiased variance over the environments in the step; it
// is 0 with one. lambda = 0 is ERM.
#include <torch/types.h>

#include "methods/environment_penalties.h"
#include "methods/graph/over_environments.h"
#include "methods/over_domains.h"

namespace grm {

torch::Tensor risk_variance(const EnvironmentRisks& risks) {
  const torch::Tensor off = (risks.each - risks.mean(risks.each)) * risks.present;
  return off.square().sum() / (risks.present.sum() - 1.0).clamp_min(1.0);
}

namespace {

struct VrexOptions : WeightedPenaltyOptions {
  VrexOptions() { lambda = 10.0; }
  void declare(OptionList& list) {
    WeightedPenaltyOptions::declare(list, "weight of the variance of the risks");
  }
  std::unique_ptr<EnvironmentObjective> make(const ObjectiveShape& shape) const;
};

class Vrex final : public EnvironmentObjective {
 public:
  explicit Vrex(double lambda) : lambda_(lambda) {}
  const char* part() const override { return "variance"; }

  ObjectiveLoss loss(const EnvironmentItems& /*items*/, const EnvironmentRisks& risks,
                     const torch::Tensor& risk, nn::Step& /*step*/) override {
    const torch::Tensor variance = risk_variance(risks);
    return {risk + lambda_ * variance, variance};
  }

 private:
  double lambda_;
};

std::unique_ptr<EnvironmentObjective> VrexOptions::make(const ObjectiveShape& /*shape*/) const {
  return std::make_unique<Vrex>(lambda);
}

}  // namespace

std::unique_ptr<MethodRecipe> make_vrex() {
  return recipe_over_domains<VrexOptions>();
}
std::unique_ptr<MethodRecipe> make_graph_vrex() {
  return graph_level::recipe_over_environments<VrexOptions>();
}

}  // namespace grm
