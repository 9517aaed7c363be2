// GRM on sets of graphs: every graph is a G and its own domain. V_i^D lies inside the graph, h_i is
// the mean of mu over it, and a graph's logits are pooled from those of its nodes (`pooling`; paper:
// their mean; with generated nodes o_i counts as p_i o_i); all equations are those of the node level
// (model.cpp). This file draws batches, takes steps and averages over samples.
#include <torch/types.h>

#include <algorithm>
#include <functional>

#include "core/stages.h"
#include "core/stop.h"
#include "graph/random.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/device_predictions.h"
#include "methods/graph/batches.h"
#include "methods/grm/cost.h"
#include "methods/grm/generated.h"
#include "methods/grm/model.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"
#include "nn/recorded_step.h"

namespace grm {
namespace {

class GraphGrm final : public Method {
 public:
  GraphGrm(const GrmOptions& options, const TrainView& view, const Rng& rng)
      : options_(options),
        view_(view),
        rng_(rng),
        set_(rng),
        model_(set_, options, view.features, view.classes, view.edge_features),
        optimiser_(set_, options.lr, options.weight_decay, options.optimiser == Optimiser::adamw) {
    if (view.training.empty()) return;  // built to predict
    if (view.training.size() != 1 || view.training.front().graph.level() == Level::node) {
      fail(ErrorKind::data,
           "grm at graph level trains on one set of graphs, but the task has {} training domains{}",
           view.training.size(), view.training.size() == 1 ? ", which is a single graph" : "");
    }
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    const Domain& domain = view_.training.front();
    batches_ = graph_level::epoch_batches(domain.labels.loss, options_.batch,
                                          rng_.stream("batches", epoch));
    const PaddedSet* padded = model_.padded(domain.graph);
    if (!steps_) steps_.emplace(set_, view_.sharding, padded != nullptr);
    for (size_t k = 0; k < batches_.size(); ++k) {
      const int64_t room = padded ? padded->rooms.room_of(batches_[k]) : 0;
      steps_->run({epoch, static_cast<int64_t>(k)},
                  [&](nn::Step& step) { train_step(step, padded, room); },
                  {batches_[k].numel(), room});
    }
    std::vector<double> sums(term_names(options_).size());
    for (const std::vector<double>& values : steps_->read()) {
      for (size_t k = 0; k < values.size(); ++k) sums[k] += values[k];
    }
    for (double& sum : sums) sum /= static_cast<double>(batches_.size());
    return named_terms(options_, sums);
  }

  torch::Tensor logits(const Graph& set, const torch::Tensor& items) override {
    if (items.numel() == 0) return torch::empty({0, view_.classes}, torch::kFloat32);
    const auto predict = [&] {
      return by_chunks(
          set, items,
          [&](const PreparedBatch& g, const torch::Tensor& z, nn::Pass& pass) {
            return classify(g, z, pass);
          },
          [this](const torch::Tensor& each) {
            return each.size(0) > 1 ? nn::logits_of_samples(view_.loss.kind, each) : each[0];
          });
    };
    const nn::Evaluating evaluating;
    if (!set_.device().is_cuda() || options_.own_network() || nn::InputGradient::wanted()) {
      return predict();
    }
    return predictions_.get(set, items, set_.device(), predict);
  }

  torch::Tensor sampled_probabilities(const Graph& set, const torch::Tensor& items) override {
    if (passes() == 1) return {};
    if (items.numel() == 0) return torch::empty({passes(), 0, view_.classes}, torch::kFloat32);
    return by_chunks(
        set, items,
        [&](const PreparedBatch& g, const torch::Tensor& z, nn::Pass& pass) {
          return classify(g, z, pass);
        },
        [](const torch::Tensor& each) { return each; }, 1);
  }

  void forget_graphs() override {
    steps_.reset();  // what is recorded reads what the model keeps
    predictions_.forget();
    model_.forget_graphs();
  }

  /// The generated weight of every observed edge; p_i p_j where nodes are generated.
  torch::Tensor edge_scores(const Graph& set, const torch::Tensor& items) override {
    if (items.numel() == 0) return torch::empty({0}, torch::kFloat32);
    return by_chunks(
        set, items,
        [&](const PreparedBatch& g, const torch::Tensor& z, nn::Pass&) {
          return model_.observed_scores(g, z);
        },
        [](const torch::Tensor& each) {
          torch::Tensor sum = each[0];
          for (int64_t s = 1; s < each.size(0); ++s) sum = sum + each[s];
          return each.size(0) > 1 ? sum / static_cast<double>(each.size(0)) : sum;
        });
  }

  std::optional<GeneratedGraph> generated(const Graph& set, int64_t item) override {
    const at::NoGradGuard no_grad;
    nn::Pass pass = nn::Pass::evaluate();
    const torch::Tensor ids = torch::full({1}, item, torch::kInt64);
    const PreparedBatch g = model_.prepare(set, ids, /*for_loss=*/true);
    const DomainEncoding domain = model_.encode_domain(*g.own, pass);
    const Posterior q = model_.posterior(domain, g, pass);
    GeneratedSamples samples(model_.domain_representation(*g.own, domain, g, q, pass));
    for (int64_t s = 0; s < passes(); ++s) {
      const torch::Tensor z =
          GrmModel::sample(q, noisy() ? noise(g.batch, ids, s) : torch::Tensor());
      samples.add(model_.generate(g, z), model_.generated_nodes(z), z);
    }
    return samples.graph(g.batch.nodes, -1, options_);
  }

  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }

 private:
  // The graphs of a step, or of its shard.
  torch::Tensor drawn(const nn::When& when) const { return when.part_of(batches_[when.step]); }

  void train_step(nn::Step& step, const PaddedSet* padded, int64_t room) {
    const Domain& domain = view_.training.front();
    const auto stream = [this](const char* name) {
      return [this, name](const nn::When& when) {
        return rng_.stream(name, when.epoch, when.place());
      };
    };
    const torch::Tensor& all = batches_[step.when().step];
    const torch::Tensor now = drawn(step.when());
    const double share = step.when().share_of(all);
    step.counts(share);
    if (now.numel() == 0) return step.take(optimiser_);  // an empty shard
    if (step.when().shards > 1) {
      view_.loss.known = nn::known_labels(view_.loss, domain.labels.y.index_select(0, all));
    }
    const torch::Tensor ids = step.indices([this](const nn::When& when) { return drawn(when); });
    nn::Pass& pass = step.pass(stream("dropout"));
    const PreparedBatch g = padded ? model_.prepare_padded(domain.graph, ids, room)
                                   : model_.prepare(domain.graph, now, /*for_loss=*/true);
    torch::Tensor eps;
    if (options_.stochastic()) {
      eps = torch::empty({g.batch.rows(), options_.latent},
                         torch::dtype(torch::kFloat32).device(set_.device()));
      fill_normal(step.stream(stream("latent")), eps);
    }
    torch::Tensor gamma;
    if (options_.gates()) {
      gamma = step.number([this](const nn::When& when) { return options_.gamma(when.epoch); });
    }
    const torch::Tensor y = to_place_of(domain.labels.y, ids).index_select(0, ids);
    optimiser_.zero_grad();
    const GrmTerms terms = model_.losses(g, eps, view_.loss, y, pass);
    const torch::Tensor total = terms.total(options_, gamma);
    const Stage stage("backward");
    (share == 1.0 ? total : total * share).backward();
    step.take(optimiser_);
    step.report(terms.values(total, share));
  }

  using OfSample =
      std::function<torch::Tensor(const PreparedBatch&, const torch::Tensor& z, nn::Pass&)>;
  using OfSamples = std::function<torch::Tensor(const torch::Tensor& each)>;

  int64_t passes() const {
    return options_.stochastic() ? std::max<int64_t>(options_.samples, 1) : 1;
  }

  bool noisy() const { return options_.stochastic() && options_.samples > 0; }

  // Class probabilities of a batch under one sample; its logits where there is one pass only.
  torch::Tensor classify(const PreparedBatch& g, const torch::Tensor& z, nn::Pass& pass) {
    const torch::Tensor logits = model_.classify(g, z, /*with_kl=*/false, pass).logits;
    return passes() > 1 ? nn::output_means(view_.loss.kind, logits) : logits;
  }

  // What `of` gives for the graphs `items` under each of S seeded samples of z (z = mu where S is
  // 0), some graphs at a time: `of_samples` makes of [S, ...] what is put together along `dim`.
  torch::Tensor by_chunks(const Graph& set, const torch::Tensor& items, const OfSample& of,
                          const OfSamples& of_samples, int64_t dim = 0) {
    const nn::Evaluating evaluating;
    nn::Pass pass = nn::Pass::evaluate();
    std::vector<torch::Tensor> parts;
    for (int64_t begin = 0; begin < items.numel(); begin += kEvaluatedGraphs) {
      check_stop();
      const torch::Tensor ids = items.slice(0, begin, begin + kEvaluatedGraphs);
      const PreparedBatch g = model_.prepare(set, ids, /*for_loss=*/false);
      const Posterior q = model_.posterior(model_.encode_domain(*g.own, pass), g, pass);
      std::vector<torch::Tensor> each;
      for (int64_t s = 0; s < passes(); ++s) {
        const torch::Tensor eps = noisy() ? noise(g.batch, ids, s) : torch::Tensor();
        each.push_back(of(g, GrmModel::sample(q, eps), pass));
      }
      parts.push_back(of_samples(torch::stack(each)));
    }
    return torch::cat(parts, dim);
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
    return on_device(eps, set_.device());
  }

  GrmOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  GrmModel model_;
  nn::Adam optimiser_;
  std::optional<nn::StepRecorder> steps_;
  std::vector<torch::Tensor> batches_;  // of this epoch
  DevicePredictions predictions_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_graph_grm() {
  return std::make_unique<SimpleRecipe<GraphGrmOptions, GraphGrm>>();
}

}  // namespace grm
