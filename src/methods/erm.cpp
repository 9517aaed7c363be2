// Empirical risk minimisation: the baseline that every other method must beat.
//
//   L = mean over training domains of l(f(X, A), y)
//
// One full-batch step per epoch. With `update = per_domain` (the reference protocol on FB-100) one
// step per training graph; `per_domain_accumulate` also repeats that protocol's accident of zeroing
// the gradient only once per epoch, so that later graphs step along the sum of gradients.
#include <torch/types.h>

#include "core/stages.h"
#include "grm/graph/device.h"
#include "methods/backbone_cost.h"
#include "methods/backbone_method.h"

namespace grm {
namespace {

struct ErmOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser;
  DomainUpdate update = DomainUpdate::mean;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.choice("update", update,
                "one step on the mean loss, one step per training domain, or the latter without "
                "zeroing gradients in between");
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    return backbone_memory(backbone, run, one_after_the_other(backbone, run));
  }
  std::optional<WorkCount> work(const RunShape& run) const { return backbone_work(backbone, run); }
  std::vector<Saving> savings(const RunShape& /*run*/) const { return backbone_savings(backbone); }
};

class Erm final : public BackboneMethod {
 public:
  Erm(const ErmOptions& options, const TrainView& view, const Rng& rng)
      : BackboneMethod(options.backbone, options.optimiser, view, rng), options_(options) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    steps_.run({epoch, 0}, [this](nn::Step& step) { train_step(step); });
    const double share = 1.0 / static_cast<double>(view_.training.size());
    const std::vector<double> losses = steps_.read().front();
    double total = 0.0;
    for (const double loss : losses) total += loss * share;
    return {{"total", total}};
  }

 private:
  void train_step(nn::Step& step) {
    const bool per_domain = options_.update != DomainUpdate::mean;
    const double share = 1.0 / static_cast<double>(view_.training.size());
    std::vector<torch::Tensor> losses;
    optimiser_.zero_grad();
    for (size_t d = 0; d < view_.training.size(); ++d) {
      const Domain& domain = view_.training[d];
      if (options_.update == DomainUpdate::per_domain) optimiser_.zero_grad();
      const torch::Tensor loss = loss_of(domain, forward(step, domain, d).logits);
      const Stage stage("backward");
      (per_domain ? loss : loss * share).backward();
      if (per_domain) step.take(optimiser_);
      losses.push_back(loss.detach());
    }
    if (!per_domain) step.take(optimiser_);
    step.report(losses);
  }

  ErmOptions options_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_erm() {
  return std::make_unique<SimpleRecipe<ErmOptions, Erm>>();
}

}  // namespace grm
