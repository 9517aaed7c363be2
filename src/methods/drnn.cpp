// DRNN: a distributionally robust network by group DRO (Sagawa et al., 2020), as in the baselines
// of ARM (Zhang et al., 2021). Groups are the training domains, D of them.
//
//   q_g <- q_g exp(eta l_g) / sum_h q_h exp(eta l_h)      from the losses of this step; 1/D at first
//   L   =  sum_g q_g l_g                                  q constant, one step per epoch
//
// q is updated before it is used, kept as log q for the whole run, and part of the checkpoint.
// Prediction is a plain forward pass. With one domain q = 1 and the method is ERM.
//
// Differences from the authors' code: full batches, every labelled node of each domain, where they
// draw minibatches with equal probability per group; the common selection rule in place of the
// worst group's validation score. Their size adjustment C / sqrt(n_g) (C = 0 there), loss
// normalisation and greedy variant are off in both papers and left out.
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/backbone_method.h"
#include "methods/domains.h"
#include "methods/group_dro.h"

namespace grm {

void update_group_weights(std::vector<double>& log_q, const std::vector<double>& losses,
                          double eta) {
  ensure(!log_q.empty() && log_q.size() == losses.size(), "group DRO: one loss per group");
  for (size_t g = 0; g < log_q.size(); ++g) log_q[g] += eta * losses[g];
  const double top = *std::max_element(log_q.begin(), log_q.end());
  double sum = 0.0;
  for (const double value : log_q) sum += std::exp(value - top);
  for (double& value : log_q) value -= top + std::log(sum);
}

namespace {

struct DrnnOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser{Optimiser::adam, 1e-4, 0.0};
  double eta = 0.01;
  DomainOptions domains;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.add("eta", eta, {0, 1e6}, "step size of the domain weights; 0 keeps them equal");
    domains.declare(list);
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    return backbone_memory(backbone, run, domains.held(backbone, run), "editors");
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    return backbone_work(backbone, run, domains.copies(run.training.size()));
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    return backbone_savings(backbone, domains.savings());
  }
};

class Drnn final : public BackboneMethod {
 public:
  Drnn(const DrnnOptions& options, const TrainView& view, const Rng& rng)
      : BackboneMethod(options.backbone, options.optimiser, view, rng),
        eta_(options.eta),
        provider_(options.domains, options.backbone, view, rng) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const std::vector<Domain>& domains = provider_.domains(epoch);
    const size_t count = domains.size();
    if (log_q_.empty()) log_q_.assign(count, -std::log(static_cast<double>(count)));
    SharedProducts shared;
    std::vector<torch::Tensor> losses;
    for (size_t g = 0; g < count; ++g) {
      losses.push_back(
          loss_of(domains[g], forward(domains[g], epoch, g, nullptr, {}, &shared).logits));
    }
    const std::vector<double> values = read_scalars(losses);
    update_group_weights(log_q_, values, eta_);
    torch::Tensor objective;
    double mean = 0.0;
    for (size_t g = 0; g < count; ++g) {
      const torch::Tensor term = losses[g] * std::exp(log_q_[g]);
      objective = g == 0 ? term : objective + term;
      mean += values[g] / static_cast<double>(count);
    }
    optimiser_.zero_grad();
    const Stage stage("backward");
    objective.backward();
    optimiser_.step();
    provider_.feedback(epoch, values);
    return {{"total", objective.item<double>()},
            {"worst", *std::max_element(values.begin(), values.end())},
            {"mean", mean}};
  }

  std::map<std::string, torch::Tensor> training_state() const override {
    std::map<std::string, torch::Tensor> state = provider_.training_state();
    state["logq"] = torch::tensor(log_q_, torch::kFloat64);
    return state;
  }
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override {
    std::map<std::string, torch::Tensor> rest = state;
    const auto found = rest.find("logq");
    if (found == rest.end() || found->second.scalar_type() != torch::kFloat64) {
      fail(ErrorKind::data,
           "the checkpoint has no domain weights 'logq' in double; it was written "
           "by another method or version; start a new run");
    }
    const torch::Tensor kept = found->second.contiguous();
    log_q_.assign(kept.data_ptr<double>(), kept.data_ptr<double>() + kept.numel());
    rest.erase(found);
    provider_.restore_training_state(rest);
  }

 private:
  double eta_;
  DomainProvider provider_;
  std::vector<double> log_q_;  // empty before the first epoch
};

}  // namespace

std::unique_ptr<MethodRecipe> make_drnn() {
  return std::make_unique<SimpleRecipe<DrnnOptions, Drnn>>();
}

}  // namespace grm
