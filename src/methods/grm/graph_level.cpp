// GRM on sets of graphs: every graph is a G and its own domain. V_i^D lies inside the graph, h_i is
// the mean of mu over it, and a graph's logits are the mean over its nodes; all equations are those
// of the node level (model.cpp). This file draws batches, takes steps and averages over samples.
#include <torch/types.h>

#include <algorithm>
#include <functional>

#include "grm/core/error.h"
#include "grm/methods/graph/batches.h"
#include "grm/methods/grm/model.h"
#include "grm/methods/table.h"
#include "grm/nn/losses.h"

namespace grm {
namespace {

constexpr int64_t kEvaluationGraphs = 128;  // graphs per evaluation batch

class GraphGrm final : public Method {
 public:
  GraphGrm(const GrmOptions& options, const TrainView& view, const Rng& rng)
      : options_(options),
        view_(view),
        rng_(rng),
        set_(rng),
        model_(set_, options, view.features, view.classes, view.edge_features),
        optimiser_(set_, options.lr, options.weight_decay, options.optimiser == "adamw") {
    if (view.training.size() != 1 || !view.training.front().graph.parts.defined()) {
      fail(ErrorKind::data,
           "grm at graph level trains on one set of graphs, but the task has {} training domains{}",
           view.training.size(), view.training.size() == 1 ? ", which is a single graph" : "");
    }
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const Domain& domain = view_.training.front();
    const std::vector<torch::Tensor> batches = graph_level::epoch_batches(
        domain.labels.loss, options_.batch, rng_.stream("batches", epoch));
    const char* names[5] = {"total", "supervision", "latent_kl", "edge_kl", "invariance"};
    double sums[5] = {};
    for (size_t step = 0; step < batches.size(); ++step) {
      nn::Pass pass = nn::Pass::train(rng_.stream("dropout", epoch, step));
      const PreparedBatch g = model_.prepare(domain.graph, batches[step], /*for_loss=*/true);
      torch::Tensor eps;
      if (options_.stochastic()) {
        eps = torch::empty({g.batch.rows(), options_.latent}, torch::kFloat32);
        rng_.stream("latent", epoch, step).fill_normal(eps.data_ptr<float>(), eps.numel());
      }
      const torch::Tensor y = domain.labels.y.index_select(0, batches[step]);
      optimiser_.zero_grad();
      const GrmTerms terms = model_.losses(g, eps, view_.loss, y, pass);
      const torch::Tensor total = terms.total(options_);
      total.backward();
      optimiser_.step();
      const torch::Tensor values[5] = {total, terms.supervision, terms.latent_kl, terms.edge_kl,
                                       terms.invariance};
      for (int k = 0; k < 5; ++k) sums[k] += values[k].item<double>();
    }
    std::vector<LossTerm> means;
    for (int k = 0; k < 5; ++k) {
      means.push_back({names[k], sums[k] / static_cast<double>(batches.size())});
    }
    return means;
  }

  torch::Tensor logits(const Graph& set, const torch::Tensor& items) override {
    if (items.numel() == 0) return torch::empty({0, view_.classes}, torch::kFloat32);
    const bool average = passes() > 1;
    const torch::Tensor mean =
        by_chunks(set, items, [&](const PreparedBatch& g, const torch::Tensor& z, nn::Pass& pass) {
          const torch::Tensor logits = model_.classify(g, z, model_.generate(g, z), pass);
          return average ? nn::class_probabilities(logits) : logits;
        });
    return average ? torch::log(torch::clamp_min(mean, 1e-30)) : mean;
  }

  /// The generated weight of every observed edge.
  torch::Tensor edge_scores(const Graph& set, const torch::Tensor& items) override {
    if (items.numel() == 0) return torch::empty({0}, torch::kFloat32);
    return by_chunks(set, items, [&](const PreparedBatch& g, const torch::Tensor& z, nn::Pass&) {
      return model_.observed_weights(g, z);
    });
  }

  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }

 private:
  using OfSample =
      std::function<torch::Tensor(const PreparedBatch&, const torch::Tensor& z, nn::Pass&)>;

  int64_t passes() const {
    return options_.stochastic() ? std::max<int64_t>(options_.samples, 1) : 1;
  }

  // What `of` gives for the graphs `items`, averaged over S seeded samples of z (z = mu where S is
  // 0), some graphs at a time.
  torch::Tensor by_chunks(const Graph& set, const torch::Tensor& items, const OfSample& of) {
    const at::NoGradGuard no_grad;
    nn::Pass pass = nn::Pass::evaluate();
    const bool noisy = options_.stochastic() && options_.samples > 0;
    std::vector<torch::Tensor> parts;
    for (int64_t begin = 0; begin < items.numel(); begin += kEvaluationGraphs) {
      const torch::Tensor ids = items.slice(0, begin, begin + kEvaluationGraphs);
      const PreparedBatch g = model_.prepare(set, ids, /*for_loss=*/false);
      const Posterior q = model_.posterior(model_.encode_domain(*g.own, pass), g, pass);
      torch::Tensor sum;
      for (int64_t s = 0; s < passes(); ++s) {
        const torch::Tensor eps = noisy ? noise(g.batch, ids, s) : torch::Tensor();
        const torch::Tensor value = of(g, GrmModel::sample(q, eps), pass);
        sum = sum.defined() ? sum.add_(value) : value;
      }
      parts.push_back(passes() > 1 ? sum.div_(static_cast<double>(passes())) : sum);
    }
    return torch::cat(parts);
  }

  // Noise for a prediction belongs to the graph and the sample, so a graph's logits do not depend
  // on which graphs it is evaluated with.
  torch::Tensor noise(const GraphBatch& batch, const torch::Tensor& ids, int64_t sample) const {
    torch::Tensor eps = torch::empty({batch.rows(), options_.latent}, torch::kFloat32);
    const torch::Tensor wanted = ids.contiguous();
    const int64_t* first = batch.node_offsets.data_ptr<int64_t>();
    for (int64_t b = 0; b < batch.graphs; ++b) {
      const auto id = static_cast<uint64_t>(wanted.data_ptr<int64_t>()[b]);
      rng_.stream("evaluate", static_cast<uint64_t>(sample), id)
          .fill_normal(eps.data_ptr<float>() + first[b] * options_.latent,
                       (first[b + 1] - first[b]) * options_.latent);
    }
    return eps;
  }

  GrmOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  GrmModel model_;
  nn::Adam optimiser_;
};

class GraphGrmRecipe final : public MethodRecipe {
 public:
  void declare(OptionList& list) override { options_.declare_graph_level(list); }
  std::unique_ptr<Method> build(const TrainView& view, const Rng& rng) const override {
    options_.check();
    return std::make_unique<GraphGrm>(options_, view, rng);
  }

 private:
  GrmOptions options_ = graph_level_options();
};

}  // namespace

std::unique_ptr<MethodRecipe> make_graph_grm() {
  return std::make_unique<GraphGrmRecipe>();
}

}  // namespace grm
