// MMD: features of all training domains are made alike by the maximum mean discrepancy (Li et al.,
// 2018), as in the baselines of ARM and DomainBed. D training domains, F_g the hidden rows (what
// the last layer sees) of `support` labelled nodes of domain g, drawn anew in every epoch.
//
//   L = mean_g l_g + gamma 2 / (D (D - 1)) sum_{g < g'} MMD2(F_g, F_g')
//   MMD2(F, F') = mean k(F, F) + mean k(F', F') - 2 mean k(F, F')
//   k(x, y) = sum over c in {1e-3, ..., 1e3} of exp(-c |x - y|^2)
//
// One step per epoch; prediction is a plain forward pass. With train.batch, a step takes a sample of
// every domain, whose targets give l_g and the nodes of F_g. With one domain, or gamma = 0 and the
// natural domains, the method is ERM.
//
// Differences from the authors' code: it also adds the terms g = g', which are 0, and divides by
// zero for D = 1, where the penalty is 0 here. It takes the classification loss on the support
// nodes alone (ce_nodes = support); the default here is all labelled nodes, as for the other
// methods.
#include "methods/mmd.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <numeric>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/backbone_method.h"
#include "methods/domains.h"
#include "methods/draw.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kBandwidths[] = {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3};
constexpr double kSmallestDistance = 1e-30;

// Every set takes part in D - 1 of the D (D - 1) / 2 pairs, so the mean over pairs is one weighted
// sum of the kernel over all rows, sum_ij w_ij k_ij with, for i in g and j in g',
//   w_ij = 2 / (D b_g^2) if g = g', else -2 / (D (D - 1) b_g b_g').
struct KernelSum : torch::autograd::Function<KernelSum> {
  struct Block {
    Tensor weights;   // [count, N]
    Tensor distance;  // [count, N] squared
    Tensor free;      // [count, N] 1 where the lower bound is not active
  };

  // x: [N, h] double; owner: [N] int64, the set of each row; share: [N] double, 1 / b_g.
  static Block block_of(const Tensor& x, const Tensor& owner, const Tensor& share, double sets,
                        int64_t begin, int64_t count) {
    const Tensor rows = x.narrow(0, begin, count);
    const Tensor own = owner.narrow(0, begin, count).unsqueeze(1).eq(owner.unsqueeze(0));
    const Tensor coefficient =
        torch::where(own, torch::full({}, 2.0 / sets, x.options()),
                     torch::full({}, -2.0 / (sets * (sets - 1.0)), x.options()));
    const Tensor squares = x.square().sum(1);
    const Tensor distance = squares.narrow(0, begin, count).unsqueeze(1) + squares.unsqueeze(0) -
                            2 * torch::mm(rows, x.t());
    return {coefficient * share.narrow(0, begin, count).unsqueeze(1) * share.unsqueeze(0),
            distance.clamp_min(kSmallestDistance), distance.gt(kSmallestDistance)};
  }

  static Tensor forward(AutogradContext* context, const Tensor& rows, const Tensor& owner,
                        const Tensor& share, double sets, int64_t block) {
    const Tensor x = rows.to(torch::kFloat64);
    context->save_for_backward({rows, owner, share});
    context->saved_data["sets"] = sets;
    context->saved_data["block"] = block;
    Tensor value = torch::zeros({}, x.options());
    for (int64_t begin = 0; begin < x.size(0); begin += block) {
      const Block b = block_of(x, owner, share, sets, begin, std::min(block, x.size(0) - begin));
      Tensor kernel = torch::zeros_like(b.distance);
      for (const double c : kBandwidths) kernel += torch::exp(b.distance * -c);
      value += (b.weights * kernel).sum(1).sum();
    }
    return value.to(rows.scalar_type());
  }

  // d exp(-c |x - y|^2) / dx = -2 c (x - y) exp(.). With s_ij = w_ij sum_c c exp(.), symmetric:
  //   dx_i = -4 sum_j s_ij (x_i - x_j).
  static variable_list backward(AutogradContext* context, variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "mean_mmd has no second derivative");
    const variable_list saved = context->get_saved_variables();
    const Tensor &rows = saved[0], &owner = saved[1], &share = saved[2];
    const Tensor x = rows.to(torch::kFloat64);
    const double sets = context->saved_data["sets"].toDouble();
    const int64_t block = context->saved_data["block"].toInt();
    Tensor dx = torch::empty_like(x);
    for (int64_t begin = 0; begin < x.size(0); begin += block) {
      const int64_t count = std::min(block, x.size(0) - begin);
      const Block b = block_of(x, owner, share, sets, begin, count);
      Tensor s = torch::zeros_like(b.distance);
      for (const double c : kBandwidths) s += torch::exp(b.distance * -c) * c;
      s = s * b.weights * b.free;
      dx.narrow(0, begin, count)
          .copy_(torch::mm(s, x) - s.sum(1).unsqueeze(1) * x.narrow(0, begin, count));
    }
    return {(dx * (4.0 * outputs[0].to(torch::kFloat64))).to(rows.scalar_type()), Tensor(),
            Tensor(), Tensor(), Tensor()};
  }
};

enum class CeNodes { all, support };
GRM_WORDS(CeNodes, "all", "support")

struct MmdOptions : ByDomainsOptions {
  double gamma = 1.0;
  int64_t support = 50;
  CeNodes ce_nodes = CeNodes::all;

  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.add("gamma", gamma, {0, 1e6}, "weight of the discrepancy between domains");
    list.add("support", support, {1, 1e6},
             "labelled nodes drawn from each domain for the discrepancy");
    list.choice("ce_nodes", ce_nodes,
                "nodes of the classification loss: all labelled ones, or those of the discrepancy");
    domains.declare(list);
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    const double copies = domains.copies(run.training.size());
    WorkCount all = backbone_work(backbone, run, copies);
    const double rows = copies * static_cast<double>(run.training.size() * support);
    all.product("discrepancy", rows, static_cast<double>(backbone.hidden), rows, 3);
    return all;
  }
};

class Mmd final : public BackboneMethod {
 public:
  Mmd(const MmdOptions& options, const TrainView& view, const Rng& rng)
      : BackboneMethod(options.backbone, options.optimiser, view, rng),
        options_(options),
        provider_(options.domains, options.backbone, view, rng) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const std::vector<Domain>& all = provider_.domains(epoch);
    for (int64_t at = 0; at < batches_.steps(all); ++at) {
      const std::vector<Domain> domains = batches_.draw(all, {epoch, at});
      steps_.run({epoch, at}, [&](nn::Step& step) { train_step(step, domains); });
    }
    std::vector<double> values = mean_over_steps(steps_.read());
    const double* terms = values.data() + all.size();
    const std::vector<LossTerm> result = {
        {"total", terms[0]}, {"erm", terms[1]}, {"mmd", terms[2]}};
    values.resize(all.size());
    provider_.feedback(epoch, values);
    return result;
  }

  std::map<std::string, Tensor> training_state() const override {
    return provider_.training_state();
  }
  void restore_training_state(const std::map<std::string, Tensor>& state) override {
    provider_.restore_training_state(state);
  }

 private:
  // Reports the losses of the domains, then the objective and its parts.
  void train_step(nn::Step& step, const std::vector<Domain>& domains) {
    const double share = 1.0 / static_cast<double>(domains.size());
    SharedProducts shared;
    std::vector<Tensor> features;
    std::vector<int64_t> sizes;
    std::vector<Tensor> losses;
    Tensor mean;
    for (size_t g = 0; g < domains.size(); ++g) {
      const nn::BackboneOutput out = forward(step, domains[g], g, nullptr, {}, &shared);
      if (!out.hidden.defined()) {
        fail(ErrorKind::config,
             "mmd compares what the last layer sees, but with method.layers = {} the backbone '{}' "
             "has no hidden layer; use at least 2 layers",
             options_.backbone.layers, to_string(options_.backbone.backbone));
      }
      const Labels labels = domains[g].labels;
      const Tensor nodes = step.indices([this, g, labels](const nn::When& when) {
        return draw_nodes(labels.loss, options_.support,
                          rng_.stream("support", when.epoch, place_in_step(when, g)));
      });
      features.push_back(ops::gather_rows(out.hidden, nodes));
      sizes.push_back(nodes.numel());
      const Tensor loss =
          options_.ce_nodes == CeNodes::all
              ? loss_of(domains[g], out.logits)
              : nn::supervised_loss(view_.loss, ops::gather_rows(out.logits, nodes),
                                    select_rows(to_place_of(labels.y, nodes), nodes));
      losses.push_back(loss.detach());
      mean = mean.defined() ? mean + loss * share : loss * share;
    }
    const Tensor discrepancy = mean_mmd(torch::cat(features), sizes);
    const Tensor total = mean + options_.gamma * discrepancy;
    optimiser_.zero_grad();
    const Stage stage("backward");
    total.backward();
    step.take(optimiser_);
    for (const Tensor& term : {total, mean, discrepancy}) losses.push_back(term);
    step.report(losses);
  }

  MmdOptions options_;
  DomainProvider provider_;
};

}  // namespace

Tensor mean_mmd(const Tensor& rows, const std::vector<int64_t>& sizes, int64_t block) {
  ensure(block > 0 && rows.dim() == 2 &&
             std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) == rows.size(0),
         "mean_mmd: rows, sizes and block do not fit");
  if (sizes.size() < 2) return torch::zeros({}, rows.options());
  std::vector<int64_t> owner;
  std::vector<double> share;
  for (size_t g = 0; g < sizes.size(); ++g) {
    ensure(sizes[g] > 0, "mean_mmd: a set is empty");
    owner.insert(owner.end(), sizes[g], static_cast<int64_t>(g));
    share.insert(share.end(), sizes[g], 1.0 / static_cast<double>(sizes[g]));
  }
  return KernelSum::apply(rows, to_place_of(torch::tensor(owner, torch::kInt64), rows),
                          to_place_of(torch::tensor(share, torch::kFloat64), rows),
                          static_cast<double>(sizes.size()), block);
}

std::unique_ptr<MethodRecipe> make_mmd() {
  return std::make_unique<SimpleRecipe<MmdOptions, Mmd>>();
}

}  // namespace grm
