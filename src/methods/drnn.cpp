// DRNN: a distributionally robust network by group DRO (Sagawa et al., 2020), as in the baselines
// of ARM (Zhang et al., 2021). Groups are the training domains, D of them.
//
//   q_g <- q_g exp(eta l_g) / sum_h q_h exp(eta l_h)      from the losses of this step; 1/D at first
//   L   =  sum_g q_g l_g                                  q constant, one step per epoch
//
// q is updated before it is used, kept as log q for the whole run, and part of the checkpoint.
// Prediction is a plain forward pass. With one domain q = 1 and the method is ERM. With train.batch,
// a step takes a sample of every domain, l_g is the loss of its targets, and q moves in every step.
//
// Differences from the authors' code: full batches, every labelled node of each domain, where they
// draw minibatches with equal probability per group; the common selection rule in place of the
// worst group's validation score. Their size adjustment C / sqrt(n_g) (C = 0 there), loss
// normalisation and greedy variant are off in both papers and left out.
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "core/stages.h"
#include "graph/place.h"
#include "grm/core/error.h"
#include "methods/backbone_method.h"
#include "methods/domains.h"
#include "methods/group_dro.h"
#include "methods/kernels.h"

namespace grm {

torch::Tensor update_group_weights(const torch::Tensor& log_q, const torch::Tensor& losses,
                                   double eta) {
  ensure(log_q.numel() > 0 && log_q.numel() == losses.numel(), "group DRO: one loss per group");
  torch::Tensor q = torch::empty_like(log_q);
  double *log = log_q.data_ptr<double>(), *plain = q.data_ptr<double>();
  const double* loss = losses.data_ptr<double>();
  const int64_t groups = log_q.numel();
  if (log_q.is_cuda()) {
    on_gpu<kernels::group_weights>(place_of(log_q), loss, groups, eta, log, plain);
    return q;
  }
  for (int64_t g = 0; g < groups; ++g) log[g] += eta * loss[g];
  const double top = *std::max_element(log, log + groups);
  double sum = 0.0;
  for (int64_t g = 0; g < groups; ++g) sum += std::exp(log[g] - top);
  for (int64_t g = 0; g < groups; ++g) {
    log[g] -= top + std::log(sum);
    plain[g] = std::exp(log[g]);
  }
  return q;
}

namespace {

struct DrnnOptions : ByDomainsOptions {
  double eta = 0.01;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.add("eta", eta, {0, 1e6}, "step size of the domain weights; 0 keeps them equal");
    domains.declare(list);
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    return backbone_work(backbone, run, domains.copies(run.training.size()));
  }
};

class Drnn final : public BackboneMethod {
 public:
  Drnn(const DrnnOptions& options, const TrainView& view, const Rng& rng)
      : BackboneMethod(options.backbone, options.optimiser, view, rng),
        eta_(options.eta),
        provider_(options.domains, options.backbone, view, rng) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const std::vector<Domain>& all = provider_.domains(epoch);
    const auto count = static_cast<int64_t>(all.size());
    if (!log_q_.defined()) {
      log_q_ = torch::full({count}, -std::log(static_cast<double>(count)), numbers());
    }
    for (int64_t at = 0; at < batches_.steps(all); ++at) {
      const std::vector<Domain> domains = batches_.draw(all, {epoch, at});
      steps_.run({epoch, at}, [&](nn::Step& step) { train_step(step, domains); });
    }
    std::vector<double> values = mean_over_steps(steps_.read());
    const double total = values.back();
    values.pop_back();
    double mean = 0.0;
    for (const double value : values) mean += value / static_cast<double>(count);
    provider_.feedback(epoch, values);
    return {{"total", total},
            {"worst", *std::max_element(values.begin(), values.end())},
            {"mean", mean}};
  }

  std::map<std::string, torch::Tensor> training_state() const override {
    std::map<std::string, torch::Tensor> state = provider_.training_state();
    state["logq"] = log_q_.defined() ? log_q_.cpu() : torch::empty({0}, torch::kFloat64);
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
    if (log_q_.defined() && log_q_.numel() == kept.numel()) {
      log_q_.copy_(kept);  // a recorded step knows it by its place
    } else {
      log_q_ = kept.numel() > 0 ? kept.to(numbers(), false, /*copy=*/true) : torch::Tensor();
    }
    rest.erase(found);
    provider_.restore_training_state(rest);
  }

 private:
  torch::TensorOptions numbers() const {
    return torch::dtype(torch::kFloat64).device(set_.device());
  }

  // Reports the losses of the domains, then the objective.
  void train_step(nn::Step& step, const std::vector<Domain>& domains) {
    SharedProducts shared;
    std::vector<torch::Tensor> losses;
    for (size_t g = 0; g < domains.size(); ++g) {
      losses.push_back(
          loss_of(domains[g], forward(step, domains[g], g, nullptr, {}, &shared).logits));
    }
    const torch::Tensor values = torch::stack(losses).detach().to(torch::kFloat64);
    const torch::Tensor q = update_group_weights(log_q_, values, eta_).to(losses[0].scalar_type());
    torch::Tensor objective;
    for (size_t g = 0; g < losses.size(); ++g) {
      const torch::Tensor term = losses[g] * q[static_cast<int64_t>(g)];
      objective = g == 0 ? term : objective + term;
    }
    optimiser_.zero_grad();
    const Stage stage("backward");
    objective.backward();
    step.take(optimiser_);
    losses.push_back(objective);
    step.report(losses);
  }

  double eta_;
  DomainProvider provider_;
  torch::Tensor log_q_;  // [D] double; undefined before the first epoch
};

}  // namespace

std::unique_ptr<MethodRecipe> make_drnn() {
  return std::make_unique<SimpleRecipe<DrnnOptions, Drnn>>();
}

}  // namespace grm
