// MARIO: contrastive pre-training that drops what views share only inside a cluster, and a linear
// head on top.
//
// One iteration per training graph and epoch:
// 1. Two views: feature columns are zeroed with probability pf_v, stored edges dropped with pe_v.
// 2. Prototypes C (rows of unit length) and projector, encoder fixed, `prototype_steps` steps of a
//    new Adam each:  z_v = unit(projector(encoder(view_v))),  s_v = z_v C^T,  q_v = Sinkhorn(s_v),
//      L_C = -(1/2) mean_i sum_k [ q1_ik log softmax(s2_i/tau)_k + q2_ik log softmax(s1_i/tau)_k ].
// 3. Encoder, the others fixed: with clusters y_v = argmax_k q_v,
//      L = mean_i ( l_i - gamma ccl_i ),
//    l_i InfoNCE between the views and ccl_i its counterpart inside the cluster (contrast.h).
//    With `ad_aug` the first view's features become x + delta, delta ~ U(-1e-3, 1e-3): three passes
//    of L/3, delta += 1e-3 sign(dL/ddelta) after the first two, one step with the summed gradient.
// Before each evaluation a fresh head h -> C is trained for `head_epochs` full-batch Adam steps on
// the training labels, with the encoder in evaluation mode on the graphs as they are.
//
// Deviations from the authors' code: the whole graph instead of random-walk mini-batches, with the
// contrast in tiles; where nodes are drawn (contrast_nodes), the drawn ones play the mini-batch:
// projector, prototypes and contrast see them, while the encoder runs on the whole graph. Width 128
// instead of 300. The perturbation is drawn on all columns, also on those that the view zeroes, as
// there.
#include "methods/mario.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "core/stages.h"
#include "graph/edge_data.h"
#include "graph/random.h"
#include "grm/graph/device.h"
#include "methods/backbone_method.h"
#include "methods/contrast.h"
#include "methods/frozen.h"
#include "nn/data_propagation.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"
#include "nn/recorded_step.h"
#include "ops/sparse.h"

namespace grm {
namespace {

constexpr double kStepSize = 1e-3;  // of the adversarial perturbation, and its first range
constexpr int64_t kPlaces = 2 + 2 * kMarioPasses;  // encoder passes of an iteration

class Mario final : public Method {
 public:
  Mario(const MarioOptions& options, const TrainView& view, const Rng& rng)
      : options_(options),
        view_(view),
        rng_(rng),
        set_(rng),
        encoder_(set_, "encoder", options, view.features),
        projector_(set_, "projector", options.hidden),
        prototypes_(set_.glorot("prototypes", options.prototypes, options.hidden)),
        head_(set_, "head", options.hidden, view.classes),
        plain_(options.conv, set_.dtype(), set_.device()),
        weighted_(options.conv, set_.dtype(), set_.device()),
        steps_(set_.device(), !options.own_encoder()),
        optimiser_(set_.with_prefix("encoder."), options.lr, 0.0, false) {
    normalise_prototypes();
    tell_unread_edges(view, "mario", true, options.own_encoder());
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    for (size_t g = 0; g < view_.training.size(); ++g) {
      optimiser_.set_lr(lr_at(epoch, g));
      steps_.run({epoch, 0}, [this, g](nn::Step& step) { iterate(step, g); },
                 {static_cast<int64_t>(g)});
    }
    std::vector<LossTerm> terms = {
        {"total", 0.0}, {"contrast", 0.0}, {"conditional", 0.0}, {"prototype", 0.0}};
    const double share = 1.0 / static_cast<double>(view_.training.size());
    for (const std::vector<double>& read : steps_.read()) {
      const double contrast = read[0], conditional = read[1];
      terms[0].value += share * (contrast - options_.gamma * conditional);
      terms[1].value += share * contrast;
      terms[2].value += share * conditional;
      terms[3].value += share * read[2];
    }
    return terms;
  }

  void prepare_evaluation(int64_t epoch) override {
    const auto head = set_.with_prefix("head.");
    const float bound = 1.0f / std::sqrt(static_cast<float>(options_.hidden));
    std::vector<torch::Tensor> rows, labels;
    {
      const at::NoGradGuard no_grad;
      for (size_t k = 0; k < head.size(); ++k) {
        fill_uniform(rng_.stream("head", epoch, k), head[k].second, -bound, bound);
      }
      for (const Domain& domain : view_.training) {
        rows.push_back(select_rows(hidden(domain.graph), domain.labels.loss));
        labels.push_back(domain.labels.y.index_select(0, domain.labels.loss));
      }
    }
    const torch::Tensor h = torch::cat(rows), y = to_place_of(torch::cat(labels), h);
    nn::Adam optimiser(head, options_.head_lr, 0.0, false);
    for (int64_t step = 0; step < options_.head_epochs; ++step) {
      optimiser.zero_grad();
      nn::supervised_loss(view_.loss, head_.forward(h), y).backward();
      optimiser.step();
    }
    optimiser.zero_grad();
  }

  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override {
    const nn::Evaluating evaluating;
    return head_.forward(select_rows(hidden(graph), nodes));
  }

  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }

 private:
  // What one iteration on one training graph draws.
  struct Iteration {
    nn::Step& step;
    size_t graph;
    const Features& x;
    MarioView views[2];
    torch::Tensor nodes;  // of the contrast; undefined: all
  };

  double lr_at(int64_t epoch, size_t g) const {
    const int64_t done =
        (epoch - 1) * static_cast<int64_t>(view_.training.size()) + static_cast<int64_t>(g);
    const bool dropped = options_.lr_drop > 0 && done >= options_.lr_drop;
    return options_.lr * (dropped ? 0.1 : 1.0);
  }

  // The stream of a step that is named by its epoch and a place in it.
  nn::Step::StreamOf stream_of(const char* name, uint64_t place) const {
    return [this, name, place](const nn::When& when) {
      return rng_.stream(name, static_cast<uint64_t>(when.epoch), place);
    };
  }

  // One iteration on one training graph; reports both parts of the contrast and the prototypes' loss.
  void iterate(nn::Step& step, size_t g) {
    const Iteration iteration = draw(step, g);
    const torch::Tensor prototype = prototype_phase(iteration);
    const ContrastTerms contrast = encoder_phase(iteration);
    step.report({contrast.contrast, contrast.conditional, prototype.to(torch::kFloat64)});
  }

  Iteration draw(nn::Step& step, size_t g) {
    const Graph& graph = view_.training[g].graph;
    const double columns[2] = {options_.pf1, options_.pf2}, edges[2] = {options_.pe1, options_.pe2};
    Iteration iteration{step, g, graph.x, {}, {}};
    for (size_t v = 0; v < 2; ++v) {
      const Stream draws = step.stream(stream_of("edges", 2 * g + v));
      if (options_.own_encoder()) {
        iteration.views[v].seen.edges = drop_edges(*graph.edges, edges[v], draws);
        const EdgeData data = edge_data(graph, iteration.views[v].seen.edges);
        iteration.views[v].seen.data_weights = data.weights;
        iteration.views[v].seen.edge_x = data.x;
      } else {
        iteration.views[v].operators = thinned(g, edges[v], draws);
      }
      iteration.views[v].columns = keep_columns(
          graph.x.width(), columns[v], step.stream(stream_of("columns", 2 * g + v)), set_.device());
    }
    const int64_t n = graph.nodes();
    const int64_t count = options_.contrasted(n);
    if (count < n) {
      iteration.nodes = step.indices([of = stream_of("contrast", g), n, count](const auto& when) {
        return torch::tensor(of(when).choose(n, count), torch::kInt64);
      });
    }
    return iteration;
  }

  // The operator of a graph without a share of its edges. On a GPU the pattern stays and dropped
  // edges weigh nothing, so that the host need not know how many are left.
  nn::Propagation thinned(size_t g, double share, const Stream& stream) {
    const Graph& graph = view_.training[g].graph;
    if (!set_.device().is_cuda()) {
      const AdjacencyPtr kept = drop_edges(*graph.edges, share, stream);
      return nn::make_propagation(options_.conv, kept, edge_data(graph, kept).weights, set_.dtype(),
                                  set_.device());
    }
    self_pairs_.resize(view_.training.size());
    if (!self_pairs_[g].defined()) self_pairs_[g] = self_pairs(*graph.edges);
    const torch::Tensor self = on_device(self_pairs_[g], set_.device());
    return weighted_.get(graph.edges, thinned_weights(self, graph.edge_weights, share,
                                                      options_.conv == nn::Conv::kipf, stream));
  }

  // Rows of the contrasted nodes; `place` tells the encoder passes of an iteration apart.
  torch::Tensor encode(const Iteration& it, int v, uint64_t place,
                       const torch::Tensor& delta = {}) {
    nn::Pass& pass = it.step.pass(stream_of("dropout", it.graph * kPlaces + place));
    const torch::Tensor h = encoder_.forward(it.x, it.views[v], delta, pass);
    return it.nodes.defined() ? ops::gather_rows(h, it.nodes) : h;
  }

  torch::Tensor project(const torch::Tensor& h) {
    return projector_.forward(h, nn::Pass::train(Stream(0)));
  }

  torch::Tensor hidden(const Graph& graph) {
    nn::Pass pass = nn::Pass::evaluate();
    if (options_.own_encoder()) {
      return encoder_.forward(graph.x, {{}, {}, nn::input_of(graph)}, {}, pass);
    }
    return encoder_.forward(graph.x, {plain_.get(graph), {}, {}}, {}, pass);
  }

  void normalise_prototypes() {
    const at::NoGradGuard no_grad;
    prototypes_.copy_(unit_rows(prototypes_));
  }

  // The optimisers are new in every iteration, and so the numbers of their steps are always the same.
  torch::Tensor prototype_phase(const Iteration& it) {
    torch::Tensor h[2];
    {
      const at::NoGradGuard no_grad;
      for (int v = 0; v < 2; ++v) h[v] = encode(it, v, v);
    }
    nn::Adam prototypes(set_.with_prefix("prototypes"), options_.prototype_lr,
                        options_.prototype_decay, false);
    nn::Adam projector(set_.with_prefix("projector."), options_.prototype_lr, 0.0, false);
    torch::Tensor last = torch::zeros({}, prototypes_.options().requires_grad(false));
    for (int64_t step = 0; step < options_.prototype_steps; ++step) {
      normalise_prototypes();
      torch::Tensor s[2], q[2];
      for (int v = 0; v < 2; ++v) {
        s[v] = torch::mm(unit_rows(project(h[v])), prototypes_.t());
        q[v] = sinkhorn(s[v]);
      }
      const torch::Tensor loss = prototype_loss(s[0], s[1], q[0], q[1], options_.tau);
      prototypes.zero_grad();
      projector.zero_grad();
      const Stage stage("backward");
      loss.backward();
      prototypes.step();
      projector.step();
      last = loss.detach();
    }
    normalise_prototypes();
    return last;
  }

  torch::Tensor clusters(const torch::Tensor& z) const {
    const at::NoGradGuard no_grad;
    return sinkhorn(torch::mm(unit_rows(z), prototypes_.t())).argmax(1);
  }

  // Returns the terms averaged over the passes.
  ContrastTerms encoder_phase(const Iteration& it) {
    const Frozen projector(set_.with_prefix("projector."));
    const Frozen prototypes(set_.with_prefix("prototypes"));
    const int64_t passes = options_.ad_aug ? kMarioPasses : 1;
    torch::Tensor delta;
    if (options_.ad_aug) {
      delta = torch::empty({it.x.rows(), it.x.width()},
                           torch::dtype(torch::kFloat32).device(set_.device()));
      fill_uniform(it.step.stream(stream_of("delta", it.graph)), delta, -kStepSize, kStepSize);
    }
    optimiser_.zero_grad();
    ContrastTerms mean;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const bool perturb = pass + 1 < passes;
      if (delta.defined()) delta.set_requires_grad(perturb);
      const torch::Tensor z1 = project(encode(it, 0, 2 + 2 * pass, delta));
      const torch::Tensor z2 = project(encode(it, 1, 3 + 2 * pass));
      const ContrastTerms terms =
          contrast_loss(z1, z2, clusters(z1), clusters(z2), options_.tau, options_.gamma);
      const Stage stage("backward");
      (terms.loss / static_cast<double>(passes)).backward();
      const torch::Tensor contrast = terms.contrast / static_cast<double>(passes);
      const torch::Tensor conditional = terms.conditional / static_cast<double>(passes);
      mean.contrast = pass == 0 ? contrast : mean.contrast + contrast;
      mean.conditional = pass == 0 ? conditional : mean.conditional + conditional;
      if (perturb) {
        const at::NoGradGuard no_grad;
        delta.add_(delta.mutable_grad().sign_(), kStepSize);
        delta.mutable_grad().reset();
      }
    }
    it.step.take(optimiser_);
    return mean;
  }

  MarioOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  MarioEncoder encoder_;
  MarioProjector projector_;
  torch::Tensor prototypes_;  // [K_p, hidden], unit rows
  nn::Linear head_;
  nn::DataPropagation plain_;
  nn::WeightedPropagation weighted_;       // views on a GPU
  std::vector<torch::Tensor> self_pairs_;  // of the training graphs, where views need them
  nn::StepRecorder steps_;
  nn::Adam optimiser_;  // of the encoder alone
};

}  // namespace

std::unique_ptr<MethodRecipe> make_mario() {
  return std::make_unique<SimpleRecipe<MarioOptions, Mario>>();
}

}  // namespace grm
