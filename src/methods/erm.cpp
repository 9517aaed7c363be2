// Empirical risk minimisation: the baseline that every other method must beat.
//
//   L = mean over training domains of l(f(X, A), y)
//
// One full-batch step per epoch. With `update = per_domain` (the reference protocol on FB-100) one
// step per training graph; `per_domain_accumulate` also repeats that protocol's accident of zeroing
// the gradient only once per epoch, so that later graphs step along the sum of gradients.
#include <torch/types.h>

#include "grm/methods/table.h"
#include "grm/nn/backbone.h"
#include "grm/nn/losses.h"

namespace grm {
namespace {

struct ErmOptions {
  nn::BackboneOptions backbone;
  std::string optimiser = "adamw";
  double lr = 0.01;
  double weight_decay = 1e-3;
  std::string update = "mean";

  void declare(OptionList& list) {
    backbone.declare(list);
    list.choice("optimiser", optimiser, {"adamw", "adam"},
                "AdamW (decoupled weight decay) or Adam");
    list.add("lr", lr, {0, 10}, "learning rate");
    list.add("weight_decay", weight_decay, {0, 10}, "weight decay, on all parameters");
    list.choice("update", update, {"mean", "per_domain", "per_domain_accumulate"},
                "one step on the mean loss, one step per training domain, or the latter without "
                "zeroing gradients in between");
  }
};

class Erm final : public Method {
 public:
  Erm(const ErmOptions& options, const TrainView& view, const Rng& rng)
      : options_(options),
        view_(view),
        rng_(rng),
        set_(rng),
        backbone_(nn::make_backbone(set_, "", options.backbone, view.features, view.classes)),
        optimiser_(set_, options.lr, options.weight_decay, options.optimiser == "adamw") {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const bool per_domain = options_.update != "mean";
    const double share = 1.0 / static_cast<double>(view_.training.size());
    double total = 0.0;
    optimiser_.zero_grad();
    for (size_t d = 0; d < view_.training.size(); ++d) {
      const Domain& domain = view_.training[d];
      if (options_.update == "per_domain") optimiser_.zero_grad();
      nn::Pass pass = nn::Pass::train(rng_.stream("dropout", epoch, d));
      const torch::Tensor logits =
          backbone_->forward({domain.graph.edges, domain.graph.x, {}}, pass).logits;
      const torch::Tensor& nodes = domain.labels.loss;
      const torch::Tensor loss = nn::supervised_loss(view_.loss, logits.index_select(0, nodes),
                                                     domain.labels.y.index_select(0, nodes));
      (per_domain ? loss : loss * share).backward();
      if (per_domain) optimiser_.step();
      total += loss.item<double>() * share;
    }
    if (!per_domain) optimiser_.step();
    return {{"total", total}};
  }

  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override {
    const at::NoGradGuard no_grad;
    nn::Pass pass = nn::Pass::evaluate();
    return backbone_->forward({graph.edges, graph.x, {}}, pass).logits.index_select(0, nodes);
  }

  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }

 private:
  ErmOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  std::unique_ptr<nn::Backbone> backbone_;
  nn::Adam optimiser_;
};

class ErmRecipe final : public MethodRecipe {
 public:
  void declare(OptionList& list) override { options_.declare(list); }
  std::unique_ptr<Method> build(const TrainView& view, const Rng& rng) const override {
    return std::make_unique<Erm>(options_, view, rng);
  }

 private:
  ErmOptions options_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_erm() {
  return std::make_unique<ErmRecipe>();
}

}  // namespace grm
