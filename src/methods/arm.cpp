// ARM-CML: adaptive risk minimisation by a contextual meta-learner (Zhang et al., 2021).
//
//   u_B = mean over the nodes i of a batch B of c(X, G)_i         the context, 3 channels
//   L   = mean over M batches of l(f([X | 1 u_B^T], G), y) on the nodes of B
//
// A batch is `support` labelled nodes of one training domain, whose labels the context does not
// see: the nodes that give the context are the nodes that are predicted. c and f are 2-layer GCNs,
// trained together; gradients flow through the context. Batches choose their domain uniformly. An
// epoch is ceil(n_train / (support M)) steps, at most `steps_cap`.
//
// Prediction needs no labels: `one_context` takes the context of `support` nodes of the given
// graph, the same ones at every call; `batched` (the authors') cuts the graph's nodes at random
// into batches with a context each.
//
// Differences from the authors' code: it predicts independent samples, here both networks run on
// the whole graph and the context is appended to every node's features. Nodes of a batch are drawn
// without replacement (all of them where there are fewer), theirs with replacement. Batches of one
// step that fall on one domain share one pass of the context net, which changes nothing but how
// often that net's normalisation statistics are updated. `one_context` is ours, after the GRM
// paper. With train.batch, a step's networks run on samples around the nodes of its batches. With an
// untrained context (its rows of the first weight 0) the method is ERM on batches.
#include "methods/arm.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/backbone_method.h"
#include "methods/domains.h"
#include "methods/draw.h"
#include "methods/layer_wise.h"
#include "methods/mini_batches.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm {
namespace {

enum class ArmInference { one_context, batched };
GRM_WORDS(ArmInference, "one_context", "batched")

struct ArmOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser{Optimiser::adam, 1e-4, 1e-4};
  int64_t channels = 3;
  int64_t support = 50;
  int64_t batches = 2;
  int64_t steps_cap = 20;
  ArmInference inference = ArmInference::one_context;
  DomainOptions domains;

  ArmOptions() { domains.domains = DomainSource::natural; }

  void declare(OptionList& list) {
    list.choice("backbone", backbone.backbone, {nn::BackboneKind::gcn, nn::BackboneKind::own},
                "the network that predicts: two gcn layers, or one that is handed over, as Python "
                "does, for the features and then the context")
        .came_later();
    list.choice("conv", backbone.conv,
                "how a layer gathers neighbours: plain sums, or self-loops and symmetric "
                "normalisation");
    list.add("hidden", backbone.hidden, {1, 65536}, "width of the hidden layers of both networks");
    list.add("dropout", backbone.dropout, {0, 0.99},
             "share of the hidden entries dropped while training");
    list.add("batch_norm", backbone.batch_norm,
             "whether the hidden layers are normalised over their rows");
    optimiser.declare(list);
    list.add("channels", channels, {1, 65536}, "width of the context");
    list.add("support", support, {1, 1e6}, "nodes of a batch, which share one context");
    list.add("batches", batches, {1, 1e6}, "batches of a step");
    list.add("steps_cap", steps_cap, {1, 1e6}, "largest number of steps of an epoch");
    list.choice("inference", inference,
                "predict a graph under the context of some of its nodes, or cut it into batches "
                "with a context each");
    domains.declare(list);
  }

  EpochShape epoch(const std::vector<DomainShape>& training) const {
    EpochShape epoch = MethodOptions::epoch(training);
    const int64_t nodes = static_cast<int64_t>(epoch.targets), per_step = support * batches;
    epoch.steps = std::clamp<int64_t>((nodes + per_step - 1) / per_step, 1, steps_cap);
    return epoch;
  }
  std::optional<MemoryUses> memory(const RunShape& given) const {
    const RunShape run = on_samples(given, ArmModel::kHops);
    Held held = domains.held(backbone, given);
    for (const DomainShape& g : run.training) {  // a context net and a batch's own pass besides
      held.add(nn::backbone_cost(backbone, g, run.classes), static_cast<double>(batches));
    }
    return backbone_memory(backbone, run, held, "editors", /*models=*/2);
  }
  // A step has the context net once and the prediction net for every batch, on the mean graph.
  std::optional<WorkCount> work(const RunShape& run) const {
    const double graphs = static_cast<double>(run.training.size());
    const double passes = static_cast<double>(epoch(run.training).steps * (1 + batches)) / graphs;
    return backbone_work(backbone, run, passes);
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    std::vector<Saving> all = domains.savings();
    all.push_back(smaller("hidden", backbone.hidden, 16));
    return all;
  }
  bool takes_batches() const { return true; }
  bool own() const { return backbone.backbone == nn::BackboneKind::own; }
  std::optional<int64_t> hops() const {
    return own() ? std::nullopt : std::optional<int64_t>(ArmModel::kHops);
  }
};

class Arm final : public Method {
 public:
  Arm(const ArmOptions& options, const TrainView& view, const Rng& rng)
      : options_(options),
        view_(view),
        rng_(rng),
        set_(rng),
        model_(set_, options.backbone, options.channels, view.features, view.classes),
        optimiser_(set_, options.optimiser.lr, options.optimiser.weight_decay,
                   options.optimiser.decoupled()),
        steps_(set_.device(), !view.sampling.on() && !options.own()),
        provider_(options.domains, ArmModel::two_layer_gcn(options.backbone), view, rng),
        batches_(view.sampling, rng, options.hops()) {
    tell_unread_edges(view, "arm", true, options.own());
    const int64_t targets = options.support * options.batches;
    if (batches_.on() && view.sampling.batch < targets) {
      fail(ErrorKind::config,
           "train.batch is {}, but a step of arm has method.batches = {} batches of method.support "
           "= "
           "{} nodes; use at least {}, or smaller ones",
           view.sampling.batch, options.batches, options.support, targets);
    }
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const std::vector<Domain>& domains = provider_.domains(epoch);
    const int64_t steps = options_.epoch(shapes_of(view_.training)).steps;
    std::vector<int64_t> of_batch;
    for (int64_t at = 0; at < steps; ++at) {
      const std::vector<int64_t> chosen = choose_domains(domains.size(), epoch, at);
      of_batch.insert(of_batch.end(), chosen.begin(), chosen.end());
      steps_.run(
          {epoch, at}, [&](nn::Step& step) { train_step(step, domains, chosen); }, chosen);
    }
    std::vector<double> sums(domains.size(), 0.0), counts(domains.size(), 0.0);
    double total = 0.0;
    size_t batch = 0;
    for (const std::vector<double>& losses : steps_.read()) {
      for (size_t m = 0; m + 1 < losses.size(); ++m, ++batch) {
        sums[of_batch[batch]] += losses[m];
        counts[of_batch[batch]] += 1.0;
      }
      total += losses.back();
    }
    total /= static_cast<double>(steps);
    // A domain that no batch of this epoch fell on is told the mean, which favours nothing.
    for (size_t d = 0; d < sums.size(); ++d) sums[d] = counts[d] > 0 ? sums[d] / counts[d] : total;
    provider_.feedback(epoch, sums);
    return {{"total", total}};
  }

  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override {
    const nn::Evaluating evaluating;
    nn::Pass pass = nn::Pass::evaluate();
    const int64_t n = graph.nodes();
    const bool one = options_.inference == ArmInference::one_context;
    torch::Tensor support;
    if (one) {
      support = torch::tensor(rng_.stream("inference").choose(n, std::min(n, options_.support)),
                              torch::kInt64);
    }
    if (one && !options_.own() && (batches_.on() || needs_layer_wise(graph)) &&
        !nn::InputGradient::wanted()) {
      return layer_wise_logits(graph, support, nodes);
    }
    const torch::Tensor rows = model_.context_rows(graph, pass);
    const torch::Tensor shared = model_.shared(graph);
    if (one) {
      const torch::Tensor context = ArmModel::context_of_batch(rows, support);
      return select_rows(model_.predict(graph, shared, context, pass), nodes);
    }
    const torch::Tensor order = draw_nodes(torch::arange(n), n, rng_.stream("inference"));
    std::vector<int64_t> ends;
    for (int64_t at = 0; at < n; at += options_.support) ends.push_back(at);
    ends.push_back(n);
    const torch::Tensor contexts =
        ops::segment_mean(torch::tensor(ends, torch::kInt64), select_rows(rows, order));
    torch::Tensor context_of = torch::empty({n}, torch::kInt64);
    context_of.index_copy_(0, order, torch::arange(n).floor_divide(options_.support));
    return model_.predict_each(graph, shared, contexts, context_of, nodes.contiguous());
  }

  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }
  std::map<std::string, torch::Tensor> training_state() const override {
    return provider_.training_state();
  }
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override {
    provider_.restore_training_state(state);
  }

 private:
  torch::Tensor layer_wise_logits(const Graph& graph, const torch::Tensor& support,
                                  const torch::Tensor& nodes) {
    const torch::Tensor rows =
        layer_wise(graph, support, ArmModel::kHops,
                   [&](int64_t l, const Graph& part) { return model_.context_layer(l, part); });
    const torch::Tensor context = rows.mean(0);
    return layer_wise(graph, nodes, ArmModel::kHops, [&](int64_t l, const Graph& part) {
      return model_.predict_layer(l, part, context);
    });
  }

  // What a step knows of a domain that batches fell on.
  struct Encoded {
    Domain sample;          // with train.batch: around the nodes of its batches
    torch::Tensor rows_of;  // and those nodes, ascending
    torch::Tensor context_rows, shared;
  };
  void take_sample(Encoded& encoded, const Domain& domain, int64_t which,
                   const std::vector<int64_t>& chosen, const nn::When& when) const {
    std::vector<torch::Tensor> nodes;
    for (int64_t m = 0; m < options_.batches; ++m) {
      if (chosen[m] != which) continue;
      nodes.push_back(
          draw_nodes(domain.labels.loss, options_.support, stream_of("support", m)(when)));
    }
    encoded.rows_of = std::get<0>(at::_unique(torch::cat(nodes), /*sorted=*/true));
    encoded.sample = batches_.around(domain, encoded.rows_of, when, static_cast<uint64_t>(which));
  }

  // The domain of each batch of a step.
  std::vector<int64_t> choose_domains(size_t domains, int64_t epoch, int64_t step) const {
    Stream choice = rng_.stream("domain", epoch, step);
    std::vector<int64_t> chosen;
    for (int64_t m = 0; m < options_.batches; ++m) {
      chosen.push_back(static_cast<int64_t>(choice.below(domains)));
    }
    return chosen;
  }

  // The stream of a batch: `name` and the batch's place in the epoch.
  nn::Step::StreamOf stream_of(const char* name, int64_t m) const {
    return [this, name, m](const nn::When& when) {
      const int64_t place = when.step * options_.batches + m;
      return rng_.stream(name, when.epoch, static_cast<uint64_t>(place));
    };
  }

  // One step on a batch of each chosen domain; reports their losses, then the mean.
  void train_step(nn::Step& step, const std::vector<Domain>& domains,
                  const std::vector<int64_t>& chosen) {
    std::map<int64_t, Encoded> encoded;
    std::vector<torch::Tensor> losses;
    torch::Tensor total;
    for (int64_t m = 0; m < options_.batches; ++m) {
      const Domain& whole = domains[chosen[m]];
      const auto [at, fresh] = encoded.try_emplace(chosen[m]);
      Encoded& here = at->second;
      if (fresh && batches_.on()) take_sample(here, whole, chosen[m], chosen, step.when());
      const Domain& domain = batches_.on() ? here.sample : whole;
      if (fresh) {
        nn::Pass& pass = step.pass(stream_of("context_dropout", m));
        here.context_rows = model_.context_rows(domain.graph, pass);
        here.shared = model_.shared(domain.graph);
      }
      const torch::Tensor counted = whole.labels.loss;
      torch::Tensor nodes =
          step.indices([this, counted, of = stream_of("support", m)](const nn::When& when) {
            return draw_nodes(counted, options_.support, of(when));
          });
      if (batches_.on()) nodes = torch::searchsorted(to_place_of(here.rows_of, nodes), nodes);
      const torch::Tensor context = ArmModel::context_of_batch(here.context_rows, nodes);
      nn::Pass& pass = step.pass(stream_of("dropout", m));
      const torch::Tensor logits = model_.predict(domain.graph, here.shared, context, pass);
      const torch::Tensor loss =
          nn::supervised_loss(view_.loss, ops::gather_rows(logits, nodes),
                              select_rows(to_place_of(domain.labels.y, nodes), nodes));
      losses.push_back(loss.detach());
      const torch::Tensor part = loss / static_cast<double>(options_.batches);
      total = total.defined() ? total + part : part;
    }
    optimiser_.zero_grad();
    const Stage stage("backward");
    total.backward();
    step.take(optimiser_);
    losses.push_back(total);
    step.report(losses);
  }

  ArmOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  ArmModel model_;
  nn::Adam optimiser_;
  nn::StepRecorder steps_;
  DomainProvider provider_;
  MiniBatches batches_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_arm() {
  return std::make_unique<SimpleRecipe<ArmOptions, Arm>>();
}

}  // namespace grm
