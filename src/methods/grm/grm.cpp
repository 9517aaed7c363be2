// Generative Risk Minimization (Wang et al., TMLR 2025).
//
//   G -> Q(Z|G) -> z -> (xhat, ehat) -> classifier     generator g and classifier f
//   L = L_s + alpha (KL_z + KL_e) + beta L_d           supervision, regularisation, invariance
//
// Ours: generated nodes (`presence`), p_i = sigmoid(w_p . z_i + b_p), p_j ehat_ij in messages from
// j, and L gains gamma KL_p, KL_p = mean_i KL(Bernoulli(p_i) || Bernoulli(theta_p)).
//
// The equations are in generator.h / encoder.cpp / decoder.cpp (Eq. 4 to 6), losses.cpp (L_r, L_d)
// and model.cpp (how they are put together), the draws of target nodes in targets.cpp; this file
// makes batches of them and takes steps.
#include <torch/types.h>

#include <algorithm>
#include <functional>

#include "core/stages.h"
#include "core/stop.h"
#include "graph/device_nets.h"
#include "graph/random.h"
#include "grm/graph/device.h"
#include "methods/backbone_method.h"
#include "methods/device_predictions.h"
#include "methods/grm/cost.h"
#include "methods/grm/generated.h"
#include "methods/grm/kept_batches.h"
#include "methods/grm/model.h"
#include "methods/grm/targets.h"
#include "methods/layer_wise.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm {
namespace {

constexpr int64_t kExplainedNodes = 200;  // at most, of one explanation (whole)

class Grm final : public Method {
 public:
  Grm(const GrmOptions& options, const TrainView& view, const Rng& rng)
      : options_(options.with(view.sampling)),
        view_(view),
        rng_(rng),
        set_(rng),
        model_(set_, options_, view.features, view.classes),
        targets_(options_, view_, rng_),
        optimiser_(set_, options.lr, options.weight_decay, options.optimiser == Optimiser::adamw),
        on_device_(draws_on_device(options_, set_.device())),
        draws_targets_there_(on_device_ && !any_local(options_, view) &&
                             target_of(view.loss.kind) == Target::classes),
        steps_(set_, view.sharding,
               !options.own_network() && (options_.scope == Scope::whole || draws_targets_there_)) {
    const bool own = options.own_encoder();  // it gets all that edges carry
    tell_unread_edges(view, "grm, which generates weights of its own,", own, own);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const int64_t steps = options_.epoch(shapes_of(view_.training)).steps;
    for (int64_t at = 0; at < steps; ++at) {
      steps_.run(
          {epoch, at}, [&](nn::Step& step) { train_step(step, steps); },
          targets_.counts(at, steps));
    }
    std::vector<double> sums(term_names(options_).size());
    const double share = 1.0 / static_cast<double>(view_.training.size());
    for (const std::vector<double>& values : steps_.read()) {
      for (size_t k = 0; k < values.size(); ++k) {
        sums[k % sums.size()] += values[k] * share / static_cast<double>(steps);
      }
    }
    return named_terms(options_, sums);
  }

  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override {
    return by_batches(graph, nodes, [this](const torch::Tensor& sampled) {
      return sampled.size(0) == 1 ? sampled
                                  : nn::logits_of_samples(view_.loss.kind, sampled).unsqueeze(0);
    })[0];
  }

  torch::Tensor sampled_probabilities(const Graph& graph, const torch::Tensor& nodes) override {
    if (evaluation_samples() <= 1) return {};
    return by_batches(graph, nodes, [](const torch::Tensor& sampled) { return sampled; });
  }

  void forget_graphs() override {
    kept_ = {};
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
  // Whether ego-nets can be drawn on a GPU.
  static bool draws_on_device(const GrmOptions& options, const torch::Device& device) {
    return device.is_cuda() && !options.own_classifier() && options.scope == Scope::ego &&
           DeviceNets::fit(options.fanout) && options.invariance_nodes == 0 &&
           options.influence != InfluenceSearch::local &&
           (options.local_encoder() || options.domain_encoding == DomainPass::pooled);
  }

  static bool any_local(const GrmOptions& options, const TrainView& view) {
    return std::any_of(view.training.begin(), view.training.end(), [&](const Domain& domain) {
      return uses_local_influence(options, domain.graph.nodes());
    });
  }

  void train_step(nn::Step& step, int64_t steps) {
    optimiser_.zero_grad();
    std::vector<torch::Tensor> values;  // the terms of each domain
    double counted = 0.0;
    const double of_domain = 1.0 / static_cast<double>(view_.training.size());
    torch::Tensor gamma;
    if (options_.gates()) {
      gamma = step.number([this](const nn::When& when) { return options_.gamma(when.epoch); });
    }
    for (size_t d = 0; d < view_.training.size(); ++d) {
      const double share = targets_.share_of_shard(step.when(), steps, d);
      counted += share * of_domain;
      if (share == 0.0) {  // the shard has no target here
        const torch::Tensor none =
            torch::zeros({}, torch::dtype(set_.dtype()).device(set_.device()));
        values.insert(values.end(), term_names(options_).size(), none);
        continue;
      }
      const GrmTerms terms = domain_losses(step, steps, d);
      const torch::Tensor total = terms.total(options_, gamma);
      const Stage stage("backward");
      (total * (of_domain * share)).backward();
      for (const torch::Tensor& value : terms.values(total, share)) values.push_back(value);
    }
    step.counts(counted);
    step.take(optimiser_);
    step.report(values);
  }

  GrmTerms domain_losses(nn::Step& step, int64_t steps, size_t index) {
    const Domain& domain = view_.training[index];
    const Graph& graph = domain.graph;
    const auto stream = [this, index](const char* name) {
      return [this, index, name](const nn::When& when) {
        const uint64_t place = when.place() * view_.training.size() + index;
        return rng_.stream(name, when.epoch, place);
      };
    };
    if (step.when().shards > 1) {
      const torch::Tensor chosen = targets_.of_step(step.when(), steps, index);
      view_.loss.known = nn::known_labels(view_.loss, domain.labels.y.index_select(0, chosen));
    }
    nn::Pass& pass = step.pass(stream("dropout"));
    PreparedBatch g;
    torch::Tensor items, y;
    if (options_.scope == Scope::whole) {
      g = model_.prepare(whole_batch(graph.edges));
      items = domain.labels.loss;
      y = domain.labels.y.index_select(0, items);
    } else if (draws_targets_there_) {
      const torch::Tensor drawn = step.indices([this, steps, index](const nn::When& when) {
        return targets_.with_labels(when, steps, index);
      });
      const int64_t count = drawn.numel() / 2;
      g = model_.prepare(DeviceNets(*graph.edges, drawn.narrow(0, 0, count), options_.fanout,
                                    step.stream(stream("neighbours"))));
      y = drawn.narrow(0, count, count);
    } else {
      const torch::Tensor chosen = targets_.of_shard(step.when(), steps, index);
      g = model_.prepare(
          ego_batch(*graph.edges, chosen, options_.fanout, stream("neighbours")(step.when())));
      model_.choose_invariance_rows(graph, g, stream("invariance")(step.when()));
      y = domain.labels.y.index_select(0, chosen);
    }
    torch::Tensor eps;
    if (options_.stochastic()) eps = noise(step.stream(stream("latent")), g.batch.rows());
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
    const nn::Evaluating evaluating;
    const bool recordable =
        !options_.own_network() && !nn::InputGradient::wanted() &&
        (options_.scope == Scope::whole ? set_.device().is_cuda()
                                        : on_device_ && all_kept(graph.edges, nodes));
    const auto sampled = [&] { return sampled_in_batches(graph, nodes); };
    return of_samples(recordable ? predictions_.get(graph, nodes, set_.device(), sampled)
                                 : sampled());
  }

  // predict() for the given nodes, some ego-nets at a time, put together along the nodes.
  torch::Tensor sampled_in_batches(const Graph& graph, const torch::Tensor& nodes) {
    nn::Pass pass = nn::Pass::evaluate();
    const bool by_rows = encodes_rows(graph);
    DomainEncoding domain;
    if (!by_rows) domain = model_.encode_domain(graph, pass);
    if (options_.scope == Scope::whole) {
      const PreparedBatch g = model_.prepare(whole_batch(graph.edges));
      const torch::Tensor sampled = predict(domain, g, 0, pass);
      return sampled.index_select(1, to_place_of(nodes, sampled));
    }
    std::vector<torch::Tensor> parts;
    for (int64_t begin = 0; begin < nodes.numel(); begin += kEvaluatedNets) {
      check_stop();
      const PreparedBatch& g = evaluation_batch(graph.edges, evaluation_nodes(nodes, begin));
      if (by_rows) domain = model_.encode_rows(graph, g.batch, pass);
      parts.push_back(predict(domain, g, begin / kEvaluatedNets, pass));
    }
    return torch::cat(parts, 1);
  }

  // Whether a prediction reads the rows of its ego-nets alone, and not the whole graph: the same
  // numbers, for graphs that no pass should go over.
  bool encodes_rows(const Graph& graph) const {
    return (view_.sampling.on() || needs_layer_wise(graph)) && !on_device_ &&
           options_.scope == Scope::ego && !options_.concat() && !options_.own_encoder() &&
           !nn::InputGradient::wanted();
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
      each.push_back(samples > 1 ? nn::output_means(view_.loss.kind, logits) : logits);
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
    if (const PreparedBatch* kept = kept_.find(edges, nodes)) return *kept;
    return kept_.add(edges, nodes,
                     on_device_
                         ? model_.prepare(DeviceNets(*edges, on_device(nodes, set_.device()),
                                                     options_.fanout, rng_.stream("evaluate-ego")))
                         : model_.prepare(evaluation_ego(*edges, nodes)));
  }
  bool all_kept(const AdjacencyPtr& edges, const torch::Tensor& nodes) const {
    for (int64_t begin = 0; begin < nodes.numel(); begin += kEvaluatedNets) {
      if (!kept_.find(edges, evaluation_nodes(nodes, begin))) return false;
    }
    return true;
  }

  GrmOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  GrmModel model_;
  const GrmTargets targets_;
  nn::Adam optimiser_;
  const bool on_device_;            // whether ego-nets are drawn on a GPU
  const bool draws_targets_there_;  // and those of training steps, too
  nn::StepRecorder steps_;
  DevicePredictions predictions_;
  KeptBatches kept_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_grm() {
  return std::make_unique<SimpleRecipe<GrmOptions, Grm>>();
}

}  // namespace grm
