// Empirical risk minimisation: the baseline that every other method must beat.
//
//   L = mean over training domains of l(f(X, A), y)
//
// One full-batch step per epoch. With `update = per_domain` (the reference protocol on FB-100) one
// step per training graph; `per_domain_accumulate` also repeats that protocol's accident of zeroing
// the gradient only once per epoch, so that later graphs step along the sum of gradients. With
// train.batch, the same steps are taken on samples of the graphs, as many as visit every target.
#include <fmt/format.h>
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
  std::optional<MemoryUses> memory(const RunShape& given) const {
    const RunShape run = on_samples(given, nn::hops(backbone));
    return backbone_memory(backbone, run, one_after_the_other(backbone, run));
  }
  std::optional<WorkCount> work(const RunShape& run) const { return backbone_work(backbone, run); }
  std::vector<Saving> savings(const RunShape& /*run*/) const { return backbone_savings(backbone); }
  std::string undivided() const {
    return update == DomainUpdate::mean
               ? "without train.batch it takes its steps on whole training domains, so there is no "
                 "batch to cut"
               : fmt::format("with method.update = {} it takes a step on each training domain",
                             to_string(update));
  }
  bool takes_batches() const { return nn::hops(backbone).has_value(); }
  bool cuts_samples() const { return takes_batches() && update == DomainUpdate::mean; }
  bool reads_parts() const { return takes_batches(); }
};

class Erm final : public BackboneMethod {
 public:
  Erm(const ErmOptions& options, const TrainView& view, const Rng& rng)
      : BackboneMethod(options.backbone, options.optimiser, view, rng), options_(options) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const int64_t steps = batches_.steps(view_.training);
    for (int64_t at = 0; at < steps; ++at) {
      steps_.run({epoch, at}, [&](nn::Step& step) {
        train_step(step, batches_.draw(view_.training, step.when()));
      });
    }
    const double share = 1.0 / static_cast<double>(view_.training.size());
    const std::vector<double> losses = mean_over_steps(steps_.read());
    double total = 0.0;
    for (const double loss : losses) total += loss * share;
    return {{"total", total}};
  }

 private:
  void train_step(nn::Step& step, const std::vector<Domain>& domains) {
    const bool per_domain = options_.update != DomainUpdate::mean;
    const double share = 1.0 / static_cast<double>(view_.training.size());
    std::vector<torch::Tensor> losses;
    double held = 0.0;  // of the step's targets
    optimiser_.zero_grad();
    for (size_t d = 0; d < domains.size(); ++d) {
      const Domain& domain = domains[d];
      if (options_.update == DomainUpdate::per_domain) optimiser_.zero_grad();
      const double part = batches_.share(view_.training, d, step.when());
      held += part * share;
      if (part == 0.0) {  // a shard without targets of this domain
        losses.push_back(torch::zeros({}, torch::kFloat32));
        continue;
      }
      torch::Tensor loss = loss_of(domain, forward(step, domain, d).logits);
      if (part < 1.0) loss = loss * part;
      const Stage stage("backward");
      (per_domain ? loss : loss * share).backward();
      if (per_domain) step.take(optimiser_);
      losses.push_back(loss.detach());
    }
    step.counts(held);
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
