// Group DRO as GOOD has it (Sagawa et al., ICLR 2020, without their memory): environments weigh as
// much as they are badly fitted in this very step.
//
//   q_e = exp(eta R_e) / sum_f exp(eta R_f),  no gradient
//   L   = sum_e q_e R_e
//
// Only environments with items in the step take part, and nothing is kept from step to step; the
// method drnn has Sagawa's weights, which are. eta = 0 is the mean over environments: ERM at node
// level, and at graph level ERM whose environments count alike.
#include <torch/types.h>

#include <limits>

#include "methods/environment_penalties.h"
#include "methods/graph/over_environments.h"
#include "methods/over_domains.h"

namespace grm {

torch::Tensor batch_group_weights(const EnvironmentRisks& risks, double eta) {
  const torch::Tensor scores =
      (eta * risks.each.detach())
          .masked_fill(risks.present.eq(0.0), -std::numeric_limits<float>::max());
  return torch::softmax(scores, 0);
}

namespace {

struct GroupDroOptions {
  double eta = 0.1;
  void declare(OptionList& list) {
    list.add("eta", eta, {0, 1e6},
             "how much more an environment weighs that is badly fitted; 0: all alike");
  }
  void add_work(WorkCount& /*work*/, double /*items*/, double /*width*/) const {}
  std::unique_ptr<EnvironmentObjective> make(const ObjectiveShape& shape) const;
};

class GroupDro final : public EnvironmentObjective {
 public:
  explicit GroupDro(double eta) : eta_(eta) {}
  const char* part() const override { return "worst"; }

  ObjectiveLoss loss(const EnvironmentItems& /*items*/, const EnvironmentRisks& risks,
                     const torch::Tensor& /*risk*/, nn::Step& /*step*/) override {
    return {(batch_group_weights(risks, eta_) * risks.each).sum(), risks.each.max()};
  }

 private:
  double eta_;
};

std::unique_ptr<EnvironmentObjective> GroupDroOptions::make(const ObjectiveShape& /*shape*/) const {
  return std::make_unique<GroupDro>(eta);
}

}  // namespace

std::unique_ptr<MethodRecipe> make_groupdro() {
  return recipe_over_domains<GroupDroOptions>();
}
std::unique_ptr<MethodRecipe> make_graph_groupdro() {
  return graph_level::recipe_over_environments<GroupDroOptions>();
}

}  // namespace grm
