// Generative Risk Minimization (Wang et al., TMLR 2025).
//
//   G -> Q(Z|G) -> z -> (xhat, ehat) -> classifier     generator g and classifier f
//   L = L_s + alpha (KL_z + KL_e) + beta L_d           supervision, regularisation, invariance
//
// Ours: generated nodes (`presence`), p_i = sigmoid(w_p . z_i + b_p), p_j ehat_ij in messages from
// j, and L gains gamma KL_p, KL_p = mean_i KL(Bernoulli(p_i) || Bernoulli(theta_p)).
//
// The equations are in generator.h / encoder.cpp / decoder.cpp (Eq. 4 to 6), losses.cpp (L_r, L_d)
// and model.cpp (how they are put together); this file draws batches and takes steps.
#include <torch/types.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "core/stages.h"
#include "graph/random.h"
#include "grm/graph/device.h"
#include "methods/grm/cost.h"
#include "methods/grm/device_epoch.h"
#include "methods/grm/device_predictions.h"
#include "methods/grm/generated.h"
#include "methods/grm/model.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm {
namespace {

constexpr int64_t kExplainedNodes = 200;  // at most, of one explanation (whole)

class Grm final : public Method {
 public:
  Grm(const GrmOptions& options, const TrainView& view, const Rng& rng)
      : options_(options),
        view_(view),
        rng_(rng),
        set_(rng),
        model_(set_, options, view.features, view.classes),
        optimiser_(set_, options.lr, options.weight_decay, options.optimiser == Optimiser::adamw),
        on_device_(DeviceEpoch::possible(options, set_.device())) {
    const bool local = std::any_of(
        view.training.begin(), view.training.end(),
        [&](const Domain& domain) { return uses_local_influence(options, domain.graph.nodes()); });
    if (on_device_ && !local) {
      device_epoch_ =
          std::make_unique<DeviceEpoch>(options_, view_, rng_, model_, optimiser_, set_.device());
    }
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const int64_t steps = options_.epoch(shapes_of(view_.training)).steps;
    if (device_epoch_) return train_epoch_on_device(epoch, steps);
    std::vector<torch::Tensor> values;  // the terms of each step and domain, read at the end
    for (int64_t step = 0; step < steps; ++step) {
      optimiser_.zero_grad();
      for (size_t d = 0; d < view_.training.size(); ++d) {
        const GrmTerms terms = domain_losses(epoch, step, steps, d);
        const torch::Tensor total = terms.total(options_, options_.gamma(epoch));
        const double share = 1.0 / static_cast<double>(view_.training.size());
        const Stage stage("backward");
        (total * share).backward();
        for (const torch::Tensor& value : terms.values(total)) values.push_back(value);
      }
      optimiser_.step();
    }
    std::vector<double> sums(term_names(options_).size());
    const double share = 1.0 / static_cast<double>(view_.training.size());
    const std::vector<double> read = read_scalars(values);
    for (size_t k = 0; k < read.size(); ++k) {
      sums[k % sums.size()] += read[k] * share / static_cast<double>(steps);
    }
    return named_terms(options_, sums);
  }

  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override {
    return by_batches(graph, nodes, [](const torch::Tensor& sampled) {
      return sampled.size(0) == 1 ? sampled : nn::log_mean(sampled).unsqueeze(0);
    })[0];
  }

  torch::Tensor sampled_probabilities(const Graph& graph, const torch::Tensor& nodes) override {
    if (evaluation_samples() <= 1) return {};
    return by_batches(graph, nodes, [](const torch::Tensor& sampled) { return sampled; });
  }

  void forget_graphs() override {
    kept_.clear();
    kept_rows_ = 0;
    passing_ = {};
    predictions_.forget();
    model_.forget_graphs();
  }

  /// All generated pairs of the item's ego-net; under scope = whole those around it.
  std::optional<GeneratedGraph> generated(const Graph& graph, int64_t item) override {
    const at::NoGradGuard no_grad;
    nn::Pass pass = nn::Pass::evaluate();
    const bool whole = options_.scope == Scope::whole;
    const torch::Tensor target = torch::full({1}, item, torch::kInt64);
    const PreparedBatch g =
        model_.prepare(whole ? whole_batch(graph.edges) : evaluation_ego(*graph.edges, target));
    const DomainEncoding domain = model_.encode_domain(graph, pass);
    const Posterior q = model_.posterior(domain, g, pass);
    GeneratedSamples samples(model_.domain_representation(graph, domain, g, q, pass));
    for (int64_t s = 0; s < std::max<int64_t>(evaluation_samples(), 1); ++s) {
      const torch::Tensor z = GrmModel::sample(q, evaluation_noise(s, 0, g.batch.rows()));
      samples.add(model_.generate(g, z), model_.generated_nodes(z), z);
    }
    const GeneratedGraph all = samples.graph(g.batch.nodes, whole ? item : 0, options_);
    return whole ? two_hops(all, kExplainedNodes) : all;
  }

  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }

 private:
  std::vector<LossTerm> train_epoch_on_device(int64_t epoch, int64_t steps) {
    const auto targets_of = [&](int64_t step, size_t index) {
      return targets(view_.training[index], epoch, step, steps, index);
    };
    return named_terms(options_, device_epoch_->run(epoch, steps, targets_of));
  }

  // Target nodes of one step: a fresh draw of `batch` nodes, or, when an epoch visits every node,
  // the step's share of one permutation.
  torch::Tensor targets(const Domain& domain, int64_t epoch, int64_t step, int64_t steps,
                        size_t index) const {
    const Stage stage("sample");
    const torch::Tensor& all = domain.labels.loss;
    const int64_t n = all.numel();
    const bool visit_all = options_.steps == 0;
    Stream draws = visit_all ? rng_.stream("targets", epoch, index)
                             : rng_.stream("targets", epoch * 1000003 + step, index);
    std::vector<int64_t> chosen = draws.choose(n, visit_all ? n : options_.batch);
    if (visit_all) {
      const int64_t share = (n + steps - 1) / steps;
      const int64_t begin = std::min(n, step * share), end = std::min(n, begin + share);
      chosen = std::vector<int64_t>(chosen.begin() + begin, chosen.begin() + end);
      if (chosen.empty()) chosen.push_back(0);
    }
    return all.index_select(0, torch::tensor(chosen, torch::kInt64));
  }

  GrmTerms domain_losses(int64_t epoch, int64_t step, int64_t steps, size_t index) {
    const Domain& domain = view_.training[index];
    const Graph& graph = domain.graph;
    const uint64_t place = static_cast<uint64_t>(step) * view_.training.size() + index;
    nn::Pass pass = nn::Pass::train(rng_.stream("dropout", epoch, place));
    GraphBatch batch;
    torch::Tensor items, y;
    if (options_.scope == Scope::whole) {
      batch = whole_batch(graph.edges);
      items = domain.labels.loss;
      y = domain.labels.y.index_select(0, items);
    } else {
      const torch::Tensor chosen = targets(domain, epoch, step, steps, index);
      batch =
          ego_batch(*graph.edges, chosen, options_.fanout, rng_.stream("neighbours", epoch, place));
      y = domain.labels.y.index_select(0, chosen);
    }
    PreparedBatch g = model_.prepare(std::move(batch));
    model_.choose_invariance_rows(graph, g, rng_.stream("invariance", epoch, place));
    torch::Tensor eps;
    if (options_.stochastic()) eps = noise(rng_.stream("latent", epoch, place), g.batch.rows());
    return model_.losses(graph, g, eps, view_.loss, items, y, pass);
  }

  torch::Tensor noise(const Stream& stream, int64_t rows) const {
    const Stage stage("sample");
    torch::Tensor eps =
        torch::empty({rows, options_.latent}, torch::dtype(torch::kFloat32).device(set_.device()));
    fill_normal(stream, eps);
    return eps;
  }

  // What `of_samples` makes of the predictions for the given nodes, [S, nodes, C] -> [.., nodes,
  // C].
  torch::Tensor by_batches(const Graph& graph, const torch::Tensor& nodes,
                           const std::function<torch::Tensor(const torch::Tensor&)>& of_samples) {
    const at::NoGradGuard no_grad;
    if (!on_device_ || !all_kept(graph.edges, nodes)) {
      return of_samples(sampled_in_batches(graph, nodes));
    }
    return of_samples(
        predictions_.get(graph, nodes, [&] { return sampled_in_batches(graph, nodes); }));
  }

  // predict() for the given nodes, some ego-nets at a time, put together along the nodes.
  torch::Tensor sampled_in_batches(const Graph& graph, const torch::Tensor& nodes) {
    nn::Pass pass = nn::Pass::evaluate();
    const DomainEncoding domain = model_.encode_domain(graph, pass);
    if (options_.scope == Scope::whole) {
      const PreparedBatch g = model_.prepare(whole_batch(graph.edges));
      const torch::Tensor sampled = predict(domain, g, 0, pass);
      return sampled.index_select(1, to_place_of(nodes, sampled));
    }
    std::vector<torch::Tensor> parts;
    for (int64_t begin = 0; begin < nodes.numel(); begin += kEvaluatedNets) {
      const PreparedBatch& g = evaluation_batch(graph.edges, evaluation_nodes(nodes, begin));
      parts.push_back(predict(domain, g, begin / kEvaluatedNets, pass));
    }
    return torch::cat(parts, 1);
  }

  static torch::Tensor evaluation_nodes(const torch::Tensor& nodes, int64_t begin) {
    return nodes.narrow(0, begin, std::min(kEvaluatedNets, nodes.numel() - begin));
  }

  // Class probabilities under S seeded samples of z, [S, rows, C] (Section 6 of the specification);
  // the logits [1, rows, C] where there is one pass only. The seeds depend on the run and the place
  // of the batch only.
  torch::Tensor predict(const DomainEncoding& domain, const PreparedBatch& g, int64_t place,
                        nn::Pass& pass) {
    const Posterior q = model_.posterior(domain, g, pass);
    const int64_t samples = evaluation_samples();
    std::vector<torch::Tensor> each;
    for (int64_t s = 0; s < std::max<int64_t>(samples, 1); ++s) {
      const torch::Tensor eps = evaluation_noise(s, place, g.batch.rows());
      const torch::Tensor z = GrmModel::sample(q, eps);
      const torch::Tensor logits = model_.classify(g, z, /*with_kl=*/false, pass).logits;
      each.push_back(samples > 1 ? nn::class_probabilities(logits) : logits);
    }
    return torch::stack(each);
  }

  int64_t evaluation_samples() const { return options_.stochastic() ? options_.samples : 0; }
  // Undefined where z = mu.
  torch::Tensor evaluation_noise(int64_t sample, int64_t place, int64_t rows) const {
    if (evaluation_samples() == 0) return {};
    return noise(rng_.stream("evaluate", sample, place), rows);
  }
  GraphBatch evaluation_ego(const Adjacency& edges, const torch::Tensor& nodes) const {
    return ego_batch(edges, nodes, options_.fanout, rng_.stream("evaluate-ego"));
  }

  // Ego-nets for evaluation are drawn once: the same in every epoch, and kept while they are few.
  const PreparedBatch& evaluation_batch(const AdjacencyPtr& edges, const torch::Tensor& nodes) {
    if (const PreparedBatch* kept = find_kept(edges, nodes)) return *kept;
    PreparedBatch g = on_device_
                          ? model_.prepare(DeviceNets(*edges, on_device(nodes, set_.device()),
                                                      options_.fanout, rng_.stream("evaluate-ego")))
                          : model_.prepare(evaluation_ego(*edges, nodes));
    if (kept_rows_ + g.batch.rows() > kKeptNetRows) {
      passing_ = std::move(g);
      return passing_;
    }
    kept_rows_ += g.batch.rows();
    kept_.push_back({edges, nodes, std::move(g)});
    return kept_.back().batch;
  }

  const PreparedBatch* find_kept(const AdjacencyPtr& edges, const torch::Tensor& nodes) const {
    for (const KeptBatch& kept : kept_) {
      if (kept.edges == edges && torch::equal(kept.nodes, nodes)) return &kept.batch;
    }
    return nullptr;
  }
  bool all_kept(const AdjacencyPtr& edges, const torch::Tensor& nodes) const {
    for (int64_t begin = 0; begin < nodes.numel(); begin += kEvaluatedNets) {
      if (!find_kept(edges, evaluation_nodes(nodes, begin))) return false;
    }
    return true;
  }

  struct KeptBatch {
    AdjacencyPtr edges;
    torch::Tensor nodes;
    PreparedBatch batch;
  };

  GrmOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  GrmModel model_;
  nn::Adam optimiser_;
  const bool on_device_;  // whether ego-nets are drawn on a GPU
  std::unique_ptr<DeviceEpoch> device_epoch_;
  DevicePredictions predictions_;
  std::deque<KeptBatch> kept_;  // a deque: references stay valid while it grows
  int64_t kept_rows_ = 0;
  PreparedBatch passing_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_grm() {
  return std::make_unique<SimpleRecipe<GrmOptions, Grm>>();
}

}  // namespace grm
