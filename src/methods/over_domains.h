#pragma once

#include <memory>
#include <vector>

#include "methods/domains.h"
#include "methods/environment_objective.h"

// Methods at node level whose environments are training domains.
namespace grm {

struct OverDomainsOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser;
  DomainOptions domains;

 protected:
  /// The run as its passes see it: natural domains that share one graph share its pass.
  RunShape passes(const RunShape& run) const;
};

/// ERM's step on all domains at once, and an objective over them. Natural domains that are nodes of
/// one graph (GOOD's environments) are seen in one pass over it.
class OverDomains : public BackboneMethod {
 public:
  using Make = std::function<std::unique_ptr<EnvironmentObjective>(const ObjectiveShape&)>;
  OverDomains(const OverDomainsOptions& options, const Make& make, const TrainView& view,
              const Rng& rng);

  std::vector<LossTerm> train_epoch(int64_t epoch) override;
  std::vector<nn::Adam*> optimisers() override;
  std::map<std::string, torch::Tensor> training_state() const override;
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override;

 private:
  void train_step(nn::Step& step, const std::vector<Domain>& domains);
  EnvironmentItems items_of(nn::Step& step, const std::vector<Domain>& domains);
  void keep_labels(const std::vector<Domain>& domains);
  int64_t hidden_width();

  DomainProvider provider_;
  std::unique_ptr<EnvironmentObjective> objective_;  // null: built to predict
  torch::Tensor y_, environment_;                    // of all domains, one after the other
  std::vector<int64_t> blocks_;
  std::vector<torch::Tensor> unlabelled_;  // by domain: nodes of its graph without a label
};

/// Options and class of a method from those of its objective (`Own`: declare, make, add_work).
template <class Own>
struct OverDomainsWith : OverDomainsOptions {
  Own own;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    own.declare(list);
    domains.declare(list);
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    return backbone_memory(backbone, run, domains.held(backbone, passes(run)), "editors");
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    const double copies = domains.copies(run.training.size());
    WorkCount all = backbone_work(backbone, passes(run), copies);
    own.add_work(all, copies * epoch(run.training).targets, static_cast<double>(backbone.hidden));
    return all;
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    return backbone_savings(backbone, domains.savings());
  }
};

template <class Own>
struct OverDomainsMethod final : OverDomains {
  OverDomainsMethod(const OverDomainsWith<Own>& options, const TrainView& view, const Rng& rng)
      : OverDomains(
            options, [&](const ObjectiveShape& shape) { return options.own.make(shape); }, view,
            rng) {}
};

template <class Own>
std::unique_ptr<MethodRecipe> recipe_over_domains() {
  return std::make_unique<SimpleRecipe<OverDomainsWith<Own>, OverDomainsMethod<Own>>>();
}

}  // namespace grm
