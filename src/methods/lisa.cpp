// LiSA (label-invariant subgraph augmentation), node level: subgraphs that keep the label but
// differ from each other serve as training domains.
//
// A training graph with E stored edges has K generators, each a free vector b^k in R^E:
//   p_e = sigmoid(clamp(b_e, -10, 10)),  mask = the floor(rho E) edges with the largest p,
// with the straight-through gradient d mask_e / d p_e = 1 for all edges. The mask is the edge
// weight of all layers but the last, which sees the whole graph. L_0 is the loss on the whole
// graph, L_k the loss under mask k, and
//   generators:  mean(L_0..L_K) + lambda_kl mean_k KL_k - lambda_d Var(sqrt(L_1)..sqrt(L_K))
//   classifier:  mean(L_0..L_K) + Var(L_0..L_K).
// Per epoch and training graph: `inner_steps` generator steps, then one classifier step. Prediction
// is a plain pass over the whole graph. With K = 0 this is ERM with one step per training graph.
//
// With conv = kipf a mask also changes the degrees that normalise the messages, and the generators'
// gradient goes through them; with conv = sum and with sage it enters the message alone, as in the
// formula dL/db_e = <dL/dZ_i, (X W)_j> p_e (1 - p_e).
//
// Deviations from the authors' code: one backbone of width 128 for all methods (theirs is 32 wide);
// L_0 adds a constant to the generators' objective, so it is computed there only for what it does
// to the running statistics of the normalisation; sqrt(L) is bounded away from its infinite slope
// at 0; the Elliptic script's evaluation, list handling and training while printing are not copied.
#include "methods/lisa.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/backbone_cost.h"
#include "methods/backbone_method.h"
#include "methods/frozen.h"

namespace grm {
namespace {

struct LisaOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser;
  int64_t views = 3;
  int64_t inner_steps = 10;
  double rho = 0.1;
  double lambda_kl = 0.1;
  double lambda_d = 0.1;
  double generator_lr = 0.01;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.add("views", views, {0, 64}, "number K of subgraph generators per training graph");
    list.add("inner_steps", inner_steps, {0, 1000}, "generator steps before each classifier step");
    list.add("rho", rho, {0, 1}, "share of the stored edges that a mask keeps");
    list.add("lambda_kl", lambda_kl, {0, 1000}, "weight of the masks' divergence from coin flips");
    list.add("lambda_d", lambda_d, {0, 1000},
             "weight of the variance of the views' root losses, which the generators enlarge");
    list.add("generator_lr", generator_lr, {0, 10}, "learning rate of the generators");
  }

  void check() const {
    if (views == 0) return;
    const nn::BackboneKind kind = backbone.backbone;
    if (kind != nn::BackboneKind::gcn && kind != nn::BackboneKind::sage &&
        kind != nn::BackboneKind::gin && kind != nn::BackboneKind::own) {
      fail(ErrorKind::config,
           "lisa: method.backbone = {} cannot be masked edge by edge; use gcn, sage "
           "or gin",
           to_string(backbone.backbone));
    }
    if (backbone.layers < 2 && !backbone.weight_last_layer) {
      fail(ErrorKind::config,
           "lisa: method.layers = 1 leaves no layer that sees a mask; use 2 or more, or set "
           "method.weight_last_layer = true");
    }
  }

  std::optional<MemoryUses> memory(const RunShape& run) const {
    const auto count = static_cast<double>(views);
    Held all;
    for (const DomainShape& g : run.training) {
      Held one;
      one.add(nn::backbone_cost(backbone, g, run.classes), count + 1);
      // Every view builds its operator anew, and keeps mask, probability, weights and gradients.
      one.topology = count * cost::convolution(backbone.conv, g.nodes, g.edges);
      one.kept += count * 14 * cost::kFloat * g.edges;
      one.besides = count * 4 * cost::kFloat * g.edges;  // generators, gradients and moments
      all.in_turn(one);
    }
    return backbone_memory(backbone, run, all, "generators");
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    return backbone_work(backbone, run, static_cast<double>(views * (inner_steps + 1) + 1));
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    return backbone_savings(backbone, {smaller("views", views, 1)});
  }
};

class Lisa final : public BackboneMethod {
 public:
  Lisa(const LisaOptions& options, const TrainView& view, const Rng& rng)
      : BackboneMethod(options.backbone, options.optimiser, view, rng),
        options_(options),
        generators_(rng),
        generator_optimiser_(fill_generators(), options.generator_lr,
                             options.optimiser.weight_decay, options.optimiser.decoupled()) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const double share = 1.0 / static_cast<double>(view_.training.size());
    std::vector<LossTerm> sums;
    for (size_t g = 0; g < view_.training.size(); ++g) {
      steps_.run({epoch, 0}, [this, g](nn::Step& step) { train_graph(step, g); },
                 {static_cast<int64_t>(g)});
    }
    for (const std::vector<double>& values : steps_.read()) {
      const std::vector<LossTerm> terms = named(values);
      if (sums.empty()) {
        for (const LossTerm& term : terms) sums.push_back({term.name, 0.0});
      }
      for (size_t k = 0; k < terms.size(); ++k) sums[k].value += terms[k].value * share;
    }
    return sums;
  }

  std::vector<nn::Adam*> optimisers() override { return {&optimiser_, &generator_optimiser_}; }
  std::map<std::string, torch::Tensor> training_state() const override {
    return generators_.snapshot();
  }
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override {
    generators_.restore(state);
  }

 private:
  // The K views of a graph differ through these first values alone.
  const nn::ParameterSet::Named& fill_generators() {
    for (size_t g = 0; g < view_.training.size(); ++g) {
      for (int64_t k = 0; k < options_.views; ++k) {
        torch::Tensor b = torch::empty({view_.training[g].graph.edges->nnz()}, torch::kFloat32);
        rng_.stream("generators", g, k).fill_uniform(b.data_ptr<float>(), b.numel(), 0.0f, 1.0f);
        generators_.parameter("graph" + std::to_string(g) + ".view" + std::to_string(k + 1), b);
      }
    }
    return generators_.parameters();
  }

  const torch::Tensor& generator(size_t g, int64_t view) const {
    return generators_.parameters()[g * options_.views + (view - 1)].second;
  }

  // View 0 is the whole graph. The classifier step is step 0, so that its plain pass drops the same
  // entries as ERM's.
  torch::Tensor view_loss(nn::Step& step, size_t g, int64_t number, int64_t view,
                          const torch::Tensor& mask, SharedProducts& shared) {
    const Domain& domain = view_.training[g];
    const uint64_t pass = static_cast<uint64_t>(number * (options_.views + 1) + view);
    const uint64_t place = pass * view_.training.size() + g;
    return loss_of(domain, forward(step, domain, place, nullptr, mask, &shared).logits);
  }

  void train_graph(nn::Step& step, size_t g) {
    SharedProducts shared;  // the classifier rests while the generators step
    for (int64_t number = 1; number <= options_.inner_steps && options_.views > 0; ++number) {
      generator_step(step, g, number, shared);
    }
    classifier_step(step, g);
  }

  void generator_step(nn::Step& step, size_t g, int64_t number, SharedProducts& shared) {
    const Frozen classifier(set_.parameters());
    if (options_.backbone.batch_norm) {
      const at::NoGradGuard no_grad;
      view_loss(step, g, number, 0, {}, shared);
    }
    std::vector<torch::Tensor> losses, kl;
    for (int64_t k = 1; k <= options_.views; ++k) {
      const torch::Tensor p = lisa::keep_probability(generator(g, k));
      losses.push_back(view_loss(step, g, number, k, lisa::hard_mask(p, options_.rho), shared));
      kl.push_back(lisa::mask_kl(p));
    }
    generator_optimiser_.zero_grad();
    const Stage stage("backward");
    lisa::generator_objective(losses, kl, options_.lambda_kl, options_.lambda_d).backward();
    step.take(generator_optimiser_);
  }

  // Reports the objective, the plain loss, the losses of the views, their divergences.
  void classifier_step(nn::Step& step, size_t g) {
    SharedProducts shared;
    std::vector<torch::Tensor> losses = {view_loss(step, g, 0, 0, {}, shared)};
    std::vector<torch::Tensor> divergences;
    for (int64_t k = 1; k <= options_.views; ++k) {
      const torch::Tensor p = lisa::keep_probability(generator(g, k).detach());
      losses.push_back(view_loss(step, g, 0, k, lisa::hard_mask(p, options_.rho), shared));
      divergences.push_back(lisa::mask_kl(p));
    }
    const torch::Tensor objective = lisa::classifier_objective(losses);
    optimiser_.zero_grad();
    const Stage stage("backward");
    objective.backward();
    step.take(optimiser_);
    std::vector<torch::Tensor> terms = {objective};
    terms.insert(terms.end(), losses.begin(), losses.end());
    terms.insert(terms.end(), divergences.begin(), divergences.end());
    step.report(terms);
  }

  std::vector<LossTerm> named(const std::vector<double>& values) const {
    double views = 0.0, kl = 0.0;
    for (int64_t k = 1; k <= options_.views; ++k) {
      views += values[1 + k] / static_cast<double>(options_.views);
      kl += values[1 + options_.views + k] / static_cast<double>(options_.views);
    }
    return {{"total", values[0]}, {"plain", values[1]}, {"views", views}, {"kl", kl}};
  }

  LisaOptions options_;
  nn::ParameterSet generators_;  // not part of the model: prediction does not need them
  nn::Adam generator_optimiser_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_lisa() {
  return std::make_unique<SimpleRecipe<LisaOptions, Lisa>>();
}

}  // namespace grm
