// SRGNN: shift-robust GNN (Zhu, Ponomareva, Han and Perozzi, NeurIPS 2021). Labelled nodes are
// weighted so that their neighbourhoods look like those of the nodes without a label, and hidden rows
// of both get the same moments.
//
//   w_e = argmin w'Hw / 2 + f'w,  w >= 0.2,  the sum of w over a class is its size
//   H_ij = k(A_i, A_j),  f_i = -(n / m) sum_j k(A_i, A_j) over m target nodes
//   k = mean of exp(-t |A_i - A_j|^2) over t = 1, 0.1, 0.001,  A_i row i of the 0/1 adjacency
//   L = mean_e sum_i w_i l_i / n_e + lambda mean_e CMD(H_e, H_target)
//
// e are the training domains. GOOD's code takes nodes of its OOD validation set as targets; a method
// here sees no validation nodes as such: targets are all nodes of a training graph that no domain
// trains on, as in the paper. Where a graph has none the method is ERM on it. The weights are found
// once, in parts of some hundred nodes; GOOD finds them for every subgraph anew. One step an epoch.
#include "methods/srgnn.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/log.h"
#include "grm/graph/device.h"
#include "methods/draw.h"
#include "methods/kernel_matching.h"
#include "methods/over_domains.h"
#include "nn/losses.h"

namespace grm {
namespace srgnn {

using torch::Tensor;

Tensor moment_distance(const Tensor& a, const Tensor& b) {
  const auto length = [](const Tensor& difference) {
    return (difference.square().sum() + 1e-20).sqrt();  // whose slope at 0 is finite
  };
  const Tensor mean_a = a.mean(0), mean_b = b.mean(0);
  const Tensor off_a = a - mean_a, off_b = b - mean_b;
  Tensor sum = length(mean_a - mean_b), power_a = off_a, power_b = off_b;
  for (int k = 2; k <= 5; ++k) {
    power_a = power_a * off_a;
    power_b = power_b * off_b;
    sum = sum + length(power_a.mean(0) - power_b.mean(0));
  }
  return sum;
}

Tensor weights_of(const Domain& domain, const Tensor& target, int64_t part, double least,
                  Stream draws) {
  const Labels& labels = domain.labels;
  const Adjacency& edges = *domain.graph.edges;
  const int64_t n = labels.loss.numel();
  const Tensor weights = torch::ones({n}, torch::kFloat64);
  const Tensor order = torch::tensor(draws.choose(n, n), torch::kInt64);
  const bool classes = labels.y.dim() == 1 && !labels.y.is_floating_point();
  for (int64_t first = 0; first < n && target.numel() > 0; first += part) {
    const Tensor rows = order.slice(0, first, std::min(n, first + part));
    const Tensor nodes = labels.loss.index_select(0, rows);
    const int64_t count = std::min(nodes.numel(), target.numel());
    const Tensor drawn =
        target.index_select(0, torch::tensor(draws.choose(target.numel(), count), torch::kInt64));
    const Tensor h = matching_kernel(row_distances(edges, nodes, nodes));
    const double scale = -static_cast<double>(nodes.numel()) / static_cast<double>(count);
    const Tensor f = scale * matching_kernel(row_distances(edges, nodes, drawn)).sum(1);
    const Tensor group = classes ? labels.y.index_select(0, nodes) : torch::zeros_like(nodes);
    weights.index_copy_(0, rows, matching_weights(h, f, group, least));
  }
  return weights;
}

}  // namespace srgnn

namespace {

struct SrgnnOptions : OverDomainsOptions {
  double lambda = 1e-3;
  double least_weight = 0.2;
  int64_t matched = 500;

  SrgnnOptions() { domains.domains = DomainSource::natural; }
  void declare(OptionList& list) {
    backbone.declare(list);
    optimiser.declare(list);
    list.add("lambda", lambda, {0, 1e6}, "weight of the distance between moments of hidden rows");
    list.add("least_weight", least_weight, {0, 1}, "least weight of a labelled node");
    list.add("matched", matched, {0, 1e5},
             "labelled nodes whose weights are found together; 0: all weights are 1");
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    Held held = domains.held(backbone, passes(run));
    const double part = std::min(static_cast<double>(matched), epoch(run.training).targets);
    held.besides += 6 * 8 * part * part;  // distances, kernels and what comes of them, in double
    return backbone_memory(backbone, run, held, "matching of nodes");
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    return backbone_work(backbone, passes(run));
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    return backbone_savings(backbone, {smaller("matched", matched, 50)});
  }
};

class Reweighted final : public EnvironmentObjective {
 public:
  Reweighted(const SrgnnOptions& options, const ObjectiveShape& shape)
      : options_(options), loss_(shape.loss), rng_(shape.rng) {
    if (options.lambda > 0.0) shape.width();  // complains of a network without hidden rows
  }
  const char* part() const override { return "moments"; }
  bool reads_hidden() const override { return options_.lambda > 0.0; }
  bool reads_unlabelled() const override { return options_.lambda > 0.0; }

  void begin(const std::vector<Domain>& domains, const std::vector<torch::Tensor>& unlabelled,
             const torch::Device& device) override {
    std::vector<torch::Tensor> all;
    bool shifts = false;
    for (size_t g = 0; g < domains.size(); ++g) {
      const int64_t n = domains[g].labels.loss.numel();
      shifts = shifts || unlabelled[g].numel() > 0;
      all.push_back((options_.matched == 0
                         ? torch::ones({n}, torch::kFloat64)
                         : srgnn::weights_of(domains[g], unlabelled[g], options_.matched,
                                             options_.least_weight, rng_.stream("matching", g))) /
                    static_cast<double>(n));
    }
    if (!shifts) {
      log_warning("srgnn: every node of the training graphs has a label, so it trains as ERM does");
    }
    weights_ = on_device(torch::cat(all) / static_cast<double>(domains.size()), device);
  }

  ObjectiveLoss loss(const EnvironmentItems& items, const EnvironmentRisks& risks,
                     const torch::Tensor& /*risk*/, nn::Step& /*step*/) override {
    const torch::Tensor rows = nn::row_losses(loss_, items.logits, items.y);
    torch::Tensor total = (rows * weights_.to(rows.scalar_type())).sum();
    torch::Tensor moments = torch::zeros_like(risks.each[0]);
    for (int64_t e = 0; e < items.environments && options_.lambda > 0.0; ++e) {
      if (items.unlabelled[e].size(0) == 0) continue;
      moments = moments +
                srgnn::moment_distance(items.hidden.slice(0, items.blocks[e], items.blocks[e + 1]),
                                       items.unlabelled[e]) /
                    static_cast<double>(items.environments);
    }
    return {total + options_.lambda * moments, moments};
  }

 private:
  SrgnnOptions options_;
  TrainLoss loss_;
  Rng rng_;
  torch::Tensor weights_;  // of all labelled nodes; they sum to 1
};

struct Srgnn final : OverDomains {
  Srgnn(const SrgnnOptions& options, const TrainView& view, const Rng& rng)
      : OverDomains(
            options,
            [&](const ObjectiveShape& shape) {
              return std::make_unique<Reweighted>(options, shape);
            },
            view, rng) {}
};

}  // namespace

std::unique_ptr<MethodRecipe> make_srgnn() {
  return std::make_unique<SimpleRecipe<SrgnnOptions, Srgnn>>();
}

}  // namespace grm
