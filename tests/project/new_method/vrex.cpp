// V-REx: risk extrapolation (Krueger et al., ICML 2021). The risks of the training domains are made
// equal, in the hope that they stay so beyond them.
//
//   L = mean_d R_d + beta Var_d(R_d)            R_d = l(f(X_d, A_d), y_d)
//
// One full-batch step per epoch. beta = 0 is ERM on the same domains.
#include <torch/types.h>

#include "core/stages.h"
#include "methods/backbone_method.h"
#include "methods/domains.h"

namespace grm {
namespace {

struct VrexOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser;
  double beta = 10.0;
  DomainOptions domains;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.add("beta", beta, {0, 1e6}, "weight of the variance of the domains' risks");
    domains.declare(list);
  }
};

class Vrex final : public BackboneMethod {
 public:
  Vrex(const VrexOptions& options, const TrainView& view, const Rng& rng)
      : BackboneMethod(options.backbone, options.optimiser, view, rng),
        beta_(options.beta),
        provider_(options.domains, options.backbone, view, rng) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const std::vector<Domain>& domains = provider_.domains(epoch);
    std::vector<torch::Tensor> risks;
    for (size_t d = 0; d < domains.size(); ++d) {
      risks.push_back(loss_of(domains[d], forward(domains[d], epoch, d).logits));
    }
    const torch::Tensor all = torch::stack(risks), mean = all.mean();
    const torch::Tensor variance = (all - mean).square().mean();
    const torch::Tensor total = mean + beta_ * variance;
    optimiser_.zero_grad();
    const Stage stage("backward");
    total.backward();
    optimiser_.step();
    return {{"total", total.item<double>()}, {"variance", variance.item<double>()}};
  }

  std::map<std::string, torch::Tensor> training_state() const override {
    return provider_.training_state();
  }
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override {
    provider_.restore_training_state(state);
  }

 private:
  double beta_;
  DomainProvider provider_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_vrex() {
  return std::make_unique<SimpleRecipe<VrexOptions, Vrex>>();
}

}  // namespace grm
