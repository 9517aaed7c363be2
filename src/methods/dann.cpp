// DANN: domain-adversarial training (Ganin et al., JMLR 2016). A linear map tells the environment
// from the hidden rows (what the head sees), and the network learns to give it nothing to tell by.
//
//   L = R + lambda CE(D(rev(H)), environment)
//   rev: identity, gradient times -a,  a = 2 / (1 + exp(-10 p)) - 1,  p the share of training done
//
// D minimises the cross-entropy, the network behind rev maximises it. D knows the environments of
// training, so it is trained beside the model and is part of checkpoints, not of the model. Items
// without an environment are left out of the second term. lambda = 0 is ERM.
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"
#include "methods/environment_penalties.h"
#include "methods/graph/over_environments.h"
#include "methods/over_domains.h"

namespace grm {
namespace {

struct ReversedGradient : torch::autograd::Function<ReversedGradient> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& rows,
                               const torch::Tensor& factor) {
    context->save_for_backward({factor});
    return rows.view_as(rows);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outputs) {
    return {-context->get_saved_variables()[0] * outputs[0], torch::Tensor()};
  }
};

}  // namespace

torch::Tensor reversed_gradient(const torch::Tensor& rows, const torch::Tensor& factor) {
  return ReversedGradient::apply(rows, factor.to(rows.scalar_type()));
}

double adversary_ramp(double p) {
  return 2.0 / (1.0 + std::exp(-10.0 * p)) - 1.0;
}

double adversary_ramp(const nn::When& when, int64_t steps, int64_t ramp) {
  const double done = static_cast<double>(when.epoch - 1) +
                      static_cast<double>(when.step) / static_cast<double>(steps);
  return adversary_ramp(std::min(1.0, done / static_cast<double>(ramp)));
}

torch::Tensor environment_cross_entropy(const torch::Tensor& logits,
                                        const torch::Tensor& environment) {
  const torch::Tensor known = environment.ge(0);
  const torch::Tensor rows = torch::nll_loss(torch::log_softmax(logits, 1),
                                             environment.clamp_min(0), {}, at::Reduction::None);
  const torch::Tensor counted = known.to(logits.scalar_type());
  return (rows * counted).sum() / counted.sum().clamp_min(1.0);
}

namespace {

struct DannOptions : WeightedPenaltyOptions {
  DannOptions() { lambda = 0.1; }
  int64_t ramp = 100;
  void declare(OptionList& list) {
    WeightedPenaltyOptions::declare(list, "weight of the adversary's cross-entropy");
    list.add("ramp", ramp, {1, 1e7},
             "epochs in which the reversal of gradients grows to its full size");
  }
  void add_work(WorkCount& work, double items, double width) const {
    work.product("adversary", items, width, 1, 3);
  }
  std::unique_ptr<EnvironmentObjective> make(const ObjectiveShape& shape) const;
};

class Dann final : public EnvironmentObjective {
 public:
  Dann(const DannOptions& options, const ObjectiveShape& shape)
      : options_(options),
        steps_(shape.steps),
        set_(shape.rng),
        adversary_(set_, "adversary", shape.width(), shape.environments),
        optimiser_(set_, shape.optimiser.lr, shape.optimiser.weight_decay,
                   shape.optimiser.decoupled()) {}

  const char* part() const override { return "adversary"; }
  bool reads_hidden() const override { return true; }
  nn::ParameterSet* helper() override { return &set_; }
  nn::Adam* helper_optimiser() override { return &optimiser_; }

  ObjectiveLoss loss(const EnvironmentItems& items, const EnvironmentRisks& /*risks*/,
                     const torch::Tensor& risk, nn::Step& step) override {
    const torch::Tensor a = step.number(
        [this](const nn::When& when) { return adversary_ramp(when, steps_, options_.ramp); });
    const torch::Tensor told = adversary_.forward(reversed_gradient(items.hidden, a));
    const torch::Tensor loss = environment_cross_entropy(told, items.environment);
    return {risk + options_.lambda * loss, loss};
  }

 private:
  DannOptions options_;
  int64_t steps_;
  nn::ParameterSet set_;
  nn::Linear adversary_;
  nn::Adam optimiser_;
};

std::unique_ptr<EnvironmentObjective> DannOptions::make(const ObjectiveShape& shape) const {
  return std::make_unique<Dann>(*this, shape);
}

}  // namespace

std::unique_ptr<MethodRecipe> make_dann() {
  return recipe_over_domains<DannOptions>();
}
std::unique_ptr<MethodRecipe> make_graph_dann() {
  return graph_level::recipe_over_environments<DannOptions>();
}

}  // namespace grm
