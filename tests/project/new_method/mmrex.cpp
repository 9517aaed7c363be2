// MM-REx: minimax risk extrapolation (Krueger et al., ICML 2021). The worst of all mixtures of the
// training domains is minimised, where weights of a mixture may be negative.
//
//   L = mean_d R_d + beta (max_d R_d - mean_d R_d)            R_d = l(f(X_d, A_d), y_d)
//
// One full-batch step per epoch. beta = 0 is ERM on the same domains.
#include <torch/types.h>

#include "core/stages.h"
#include "methods/backbone_method.h"
#include "methods/domains.h"

namespace grm {
namespace {

struct MmrexOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser;
  double beta = 2.0;
  DomainOptions domains;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.add("beta", beta, {0, 1e6}, "how far the mixtures reach beyond the mean of the domains");
    domains.declare(list);
  }
};

class Mmrex final : public BackboneMethod {
 public:
  Mmrex(const MmrexOptions& options, const TrainView& view, const Rng& rng)
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
    const torch::Tensor worst = all.max();
    const torch::Tensor total = mean + beta_ * (worst - mean);
    optimiser_.zero_grad();
    const Stage stage("backward");
    total.backward();
    optimiser_.step();
    return {{"total", total.item<double>()}, {"worst", worst.item<double>()}};
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

std::unique_ptr<MethodRecipe> make_mmrex() {
  return std::make_unique<SimpleRecipe<MmrexOptions, Mmrex>>();
}

}  // namespace grm
