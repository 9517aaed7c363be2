// Deep CORAL (Sun and Saenko, ECCV 2016) over environments: the hidden rows (what the head sees) of
// all of them have the same covariance.
//
//   S_e = (H_e' H_e - n_e h_e h_e') / (n_e - 1),  h_e the mean row
//   L   = R + lambda mean_{e != f} mean((S_e - S_f)^2) / 4
//
// Environments with one item in the step are left out. GOOD's code takes h_e h_e' off once, without
// n_e, so that its S_e is nearly the second moment: covariance = as-coded. lambda = 0 is ERM.
#include <torch/types.h>

#include "methods/environment_penalties.h"
#include "methods/graph/over_environments.h"
#include "methods/over_domains.h"

namespace grm {
namespace {

// The rows of an environment; on a GPU, and where they lie anywhere, those of others are 0.
torch::Tensor rows_of_environment(const EnvironmentItems& items, const EnvironmentRisks& risks,
                                  int64_t e) {
  if (items.blocks.empty()) return items.hidden * risks.member[e].unsqueeze(1);
  return items.hidden.slice(0, items.blocks[e], items.blocks[e + 1]);
}

}  // namespace

torch::Tensor coral_distance(Covariance form, const EnvironmentItems& items,
                             const EnvironmentRisks& risks) {
  const torch::Tensor sizes = risks.member.sum(1);
  const torch::Tensor counts = sizes.ge(2.0).to(sizes.scalar_type()).view({-1, 1, 1});
  std::vector<torch::Tensor> covariances;
  for (int64_t e = 0; e < items.environments; ++e) {
    const torch::Tensor rows = rows_of_environment(items, risks, e);
    const torch::Tensor n = sizes[e], mean = rows.sum(0) / n.clamp_min(1.0);
    const torch::Tensor square = mean.unsqueeze(1) * mean.unsqueeze(0);
    covariances.push_back(
        (rows.t().mm(rows) - (form == Covariance::centred ? n * square : square)) /
        (n - 1.0).clamp_min(1.0));
  }
  // The sum of |S_e - S_f|^2 over ordered pairs is 2 C times that of |S_e - mean S|^2.
  const torch::Tensor all = torch::stack(covariances), number = counts.sum();
  const torch::Tensor off = (all - (all * counts).sum(0, true) / number.clamp_min(1.0)) * counts;
  const auto entries = static_cast<double>(items.hidden.size(1) * items.hidden.size(1));
  return 2.0 * off.square().sum() / ((number - 1.0).clamp_min(1.0) * (4.0 * entries));
}

namespace {

struct CoralOptions : WeightedPenaltyOptions {
  CoralOptions() { lambda = 0.1; }
  Covariance covariance = Covariance::centred;
  void declare(OptionList& list) {
    WeightedPenaltyOptions::declare(list, "weight of the distance between covariances");
    list.choice("covariance", covariance,
                "covariance of the rows, or GOOD's, which is nearly their second moment");
  }
  void add_work(WorkCount& work, double items, double width) const {
    work.product("covariances", width, items, width, 3);
  }
  std::unique_ptr<EnvironmentObjective> make(const ObjectiveShape& shape) const;
};

class Coral final : public EnvironmentObjective {
 public:
  explicit Coral(const CoralOptions& options) : options_(options) {}
  const char* part() const override { return "coral"; }
  bool reads_hidden() const override { return true; }

  ObjectiveLoss loss(const EnvironmentItems& items, const EnvironmentRisks& risks,
                     const torch::Tensor& risk, nn::Step& /*step*/) override {
    const torch::Tensor distance = coral_distance(options_.covariance, items, risks);
    return {risk + options_.lambda * distance, distance};
  }

 private:
  CoralOptions options_;
};

std::unique_ptr<EnvironmentObjective> CoralOptions::make(const ObjectiveShape& shape) const {
  shape.width();  // complains of a network without hidden rows
  return std::make_unique<Coral>(*this);
}

}  // namespace

std::unique_ptr<MethodRecipe> make_coral() {
  return recipe_over_domains<CoralOptions>();
}
std::unique_ptr<MethodRecipe> make_graph_coral() {
  return graph_level::recipe_over_environments<CoralOptions>();
}

}  // namespace grm
