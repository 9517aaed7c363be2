// EERM: Explore-to-Extrapolate Risk Minimisation (Wu et al., ICLR 2022). K editors of the training
// graph (editors.h) look for edits that make the classifier's losses differ; the classifier
// minimises the differences.
//
//   L_k         = l(f(X, A^k), y)          A^k: A with s pairs into every node flipped by editor k
//   classifier:   min Var(L_1..L_K) + beta_e Mean(L_1..L_K)      Var with divisor K - 1
//   editors:      max E[Var(L_1..L_K)]     by REINFORCE: reward Var, one step of AdamW
//   beta_e      = beta
//               = beta (1 + 9 e / E)       with beta_ramp: e epochs before this one, E = ramp_epochs
//
// mode = as_published: per epoch T times { K views, their losses, editor step }, then K fresh views
// and one classifier step.
// mode = as_coded, the released code: T times { K views, losses, editor step }, the classifier step
// on the first of them, before the editors'; the transposed law of editors.h; editor_init as there:
// redrawn in every epoch (so that editors never influence the classifier), or zero at the start.
// mode = random: no editors, s uniformly random flips per node and view, one classifier step.
//
// All passes are in training mode, so every one of them moves the running statistics of batch
// normalisation. Several training graphs: one after the other with editors and a step each
// (update = per_domain), or L_k = mean over graphs of the loss of view k (update = mean).
// Not copied: on Elliptic the released code reshapes the losses in the wrong order, so that its L_k
// mixes views and snapshots; and its editors outlive a run.
#include "methods/eerm.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm {

void EermOptions::declare(OptionList& list) {
  backbone.declare(list);
  optimiser.declare(list);
  list.choice("mode", mode,
              "EERM as its paper describes it, as its released code does it, or with uniformly "
              "random edits in place of editors");
  list.add("views", views, {1, 1000}, "edited views K per training graph");
  list.add("edits", edits, {0, 10000}, "flipped pairs per node and view");
  list.add("beta", beta, {0, 1e6}, "weight of the mean loss beside the variance");
  list.add("beta_ramp", beta_ramp, "beta grows to its tenfold over ramp_epochs");
  list.add("ramp_epochs", ramp_epochs, {1, 1e6}, "epochs of the ramp");
  list.add("inner_steps", inner_steps, {0, 1000}, "editor steps T per epoch");
  list.add("editor_lr", editor_lr, {0, 0.1}, "learning rate of the editors");
  list.choice("editor_init", editor_init, "initial parameters of the editors");
  list.add("editor_memory_mib", editor_memory_mib, {0, 1e6},
           "editors above this size are kept implicitly, with the same law");
  list.choice("update", update, {DomainUpdate::mean, DomainUpdate::per_domain},
              "one step on the mean over training domains or one step per training domain");
}

EditorOptions EermOptions::editors() const {
  return {mode, editor_init, views, edits, editor_lr, editor_memory_mib};
}

double edited_graph_bytes(nn::Conv conv, const GraphShape& g, int64_t edits) {
  const double edges = g.edges + g.nodes * static_cast<double>(edits);
  return cost::adjacency(edges, g.nodes, g.nodes) + cost::convolution(conv, g.nodes, edges);
}

Held eerm_held(const nn::BackboneOptions& backbone, const EditorOptions& editors,
               const RunShape& run, DomainUpdate update, double editor_steps) {
  const auto views = static_cast<double>(editors.views);
  Held all;
  for (const DomainShape& g : run.training) {
    Held one;
    one.add(nn::backbone_cost(backbone, g, run.classes), views);
    if (editors.edits > 0) {
      one.topology = views * edited_graph_bytes(backbone.conv, g, editors.edits);
      if (editor_steps >= 0) one.besides = editor_bytes(editors, g.nodes, editor_steps);
    }
    update == DomainUpdate::per_domain ? all.in_turn(one) : all.together(one);
  }
  return all;
}

std::optional<MemoryUses> EermOptions::memory(const RunShape& run) const {
  const double steps = run.epochs * static_cast<double>(std::max<int64_t>(1, inner_steps));
  const Held held =
      eerm_held(backbone, editors(), run, update, mode == EditorLaw::random ? -1 : steps);
  return backbone_memory(backbone, run, held, "editors");
}

// The editors' steps need losses alone, which are at least a third of a pass.
std::optional<WorkCount> EermOptions::work(const RunShape& run) const {
  const bool explores = mode != EditorLaw::random && edits > 0;
  const double trials = explores ? static_cast<double>(inner_steps) / 3 : 0;
  return backbone_work(backbone, run, static_cast<double>(views) * (1 + trials));
}

std::vector<Saving> EermOptions::savings(const RunShape& /*run*/) const {
  return backbone_savings(backbone, {smaller("editor_memory_mib", editor_memory_mib, 0),
                                     saving("update", "per_domain"), smaller("views", views, 1)});
}

ViewRisk view_risk(const std::vector<double>& losses, double beta) {
  const auto count = static_cast<double>(losses.size());
  ViewRisk risk;
  for (const double loss : losses) risk.mean += loss / count;
  for (const double loss : losses) {
    const double off = loss - risk.mean;
    if (losses.size() > 1) risk.variance += off * off / (count - 1);
    risk.weights.push_back((losses.size() > 1 ? 2 * off / (count - 1) : 0.0) + beta / count);
  }
  return risk;
}

Eerm::Eerm(const EermOptions& options, const TrainView& view, const Rng& rng)
    : BackboneMethod(options.backbone, options.optimiser, view, rng), options_(options) {
  for (size_t d = 0; d < view_.training.size(); ++d) {
    const Domain& domain = view_.training[d];
    if (options.edits > domain.graph.nodes()) {
      fail(ErrorKind::config, "method.edits is {}, but the training graph '{}' has {} nodes",
           options.edits, domain.name, domain.graph.nodes());
    }
    if (options.mode == EditorLaw::random || options.edits == 0) continue;
    editors_.push_back(
        std::make_unique<GraphEditors>(options.editors(), domain.graph.nodes(), rng, d));
  }
}

double Eerm::beta_at(int64_t epoch) const {
  if (!options_.beta_ramp) return options_.beta;
  const double done = static_cast<double>(epoch - 1) / static_cast<double>(options_.ramp_epochs);
  return options_.beta * (1.0 + 9.0 * std::min(done, 1.0));
}

std::vector<LossTerm> Eerm::train_epoch(int64_t epoch) {
  for (const auto& editors : editors_) editors->begin_epoch(epoch);
  std::vector<Span> spans;
  if (options_.update == DomainUpdate::mean) {
    spans.push_back({0, view_.training.size()});
  } else {
    for (size_t d = 0; d < view_.training.size(); ++d) spans.push_back({d, d + 1});
  }
  const auto share = 1.0 / static_cast<double>(spans.size());
  double mean = 0.0, variance = 0.0;
  for (const Span& span : spans) {
    ViewRisk risk;
    if (editors_.empty() || options_.mode == EditorLaw::as_published) {
      for (int64_t m = 0; m < options_.inner_steps; ++m) explore(span, epoch, m);
      risk = classifier_step(span, fresh_views(span, epoch), epoch);
    } else {
      const int64_t number = epoch * std::max<int64_t>(options_.inner_steps, 1);
      const Flips flips = trial(span, number);
      risk = classifier_step(span, flips, epoch);
      if (options_.inner_steps > 0) learn(span, flips, number, risk.variance);
      for (int64_t m = 1; m < options_.inner_steps; ++m) explore(span, epoch, m);
    }
    mean += share * risk.mean;
    variance += share * risk.variance;
  }
  return {{"total", variance + beta_at(epoch) * mean}, {"mean_loss", mean}, {"variance", variance}};
}

Eerm::Flips Eerm::trial(const Span& span, int64_t number) {
  Flips flips;
  for (size_t d = span.begin; d < span.end; ++d) flips.push_back(editors_[d]->trial(number));
  return flips;
}

Eerm::Flips Eerm::fresh_views(const Span& span, int64_t epoch) {
  Flips flips;
  for (size_t d = span.begin; d < span.end; ++d) {
    flips.emplace_back();
    for (int64_t k = 0; k < options_.views; ++k) {
      const Stream draws = rng_.stream("eerm-views", epoch, d * options_.views + k);
      flips.back().push_back(
          editors_.empty() ? random_flips(view_.training[d].graph.nodes(), options_.edits, draws)
                           : editors_[d]->draw(k, draws));
    }
  }
  return flips;
}

// The loss of each view, averaged over the domains of the span.
std::vector<torch::Tensor> Eerm::losses(const Span& span, const Flips& flips, int64_t epoch,
                                        int64_t phase) {
  std::vector<torch::Tensor> result;
  SharedProducts shared;
  const size_t views = static_cast<size_t>(options_.views), count = span.end - span.begin;
  for (size_t k = 0; k < views; ++k) {
    torch::Tensor loss;
    for (size_t d = span.begin; d < span.end; ++d) {
      const Domain& domain = view_.training[d];
      AdjacencyPtr edges;
      if (options_.edits > 0) edges = flipped(*domain.graph.edges, flips[d - span.begin][k]);
      const uint64_t place = (static_cast<size_t>(phase) * view_.training.size() + d) * views + k;
      const torch::Tensor one =
          loss_of(domain, forward(domain, epoch, place, edges, {}, &shared).logits);
      loss = loss.defined() ? loss + one : one;
    }
    result.push_back(count > 1 ? loss / static_cast<double>(count) : loss);
  }
  return result;
}

// One trial of the editors and their step on its reward; the classifier is only asked.
void Eerm::explore(const Span& span, int64_t epoch, int64_t m) {
  if (editors_.empty()) return;
  const int64_t number = epoch * options_.inner_steps + m;
  const Flips flips = trial(span, number);
  std::vector<double> values;
  {
    const at::NoGradGuard no_grad;
    values = read_scalars(losses(span, flips, epoch, 1 + m));
  }
  learn(span, flips, number, view_risk(values, 0.0).variance);
}

void Eerm::learn(const Span& span, const Flips& flips, int64_t number, double reward) {
  // A loss that is not finite ends the run after this epoch; editors must not see it before.
  if (!std::isfinite(reward)) return;
  const bool last = (number + 1) % options_.inner_steps == 0;
  if (options_.editor_init == EditorInit::uniform_each_epoch && last &&
      options_.mode == EditorLaw::as_coded) {
    return;  // these editors are never drawn from again
  }
  for (size_t d = span.begin; d < span.end; ++d) {
    editors_[d]->step(number, flips[d - span.begin], reward);
  }
}

ViewRisk Eerm::classifier_step(const Span& span, const Flips& flips, int64_t epoch) {
  const std::vector<torch::Tensor> by_view = losses(span, flips, epoch, 0);
  const ViewRisk risk = view_risk(read_scalars(by_view), beta_at(epoch));
  torch::Tensor objective;
  for (size_t k = 0; k < by_view.size(); ++k) {
    const torch::Tensor term = by_view[k] * risk.weights[k];
    objective = k == 0 ? term : objective + term;
  }
  optimiser_.zero_grad();
  const Stage stage("backward");
  objective.backward();
  optimiser_.step();
  return risk;
}

std::map<std::string, torch::Tensor> Eerm::training_state() const {
  std::map<std::string, torch::Tensor> state;
  for (size_t d = 0; d < editors_.size(); ++d) {
    for (const auto& [name, tensor] : editors_[d]->state()) {
      state["editors" + std::to_string(d) + "." + name] = tensor;
    }
  }
  return state;
}

void Eerm::restore_training_state(const std::map<std::string, torch::Tensor>& state) {
  for (size_t d = 0; d < editors_.size(); ++d) {
    const std::string prefix = "editors" + std::to_string(d) + ".";
    std::map<std::string, torch::Tensor> own;
    for (const auto& [name, tensor] : state) {
      if (name.rfind(prefix, 0) == 0) own[name.substr(prefix.size())] = tensor;
    }
    editors_[d]->restore(own);
  }
}

std::unique_ptr<MethodRecipe> make_eerm() {
  return std::make_unique<SimpleRecipe<EermOptions, Eerm>>();
}

}  // namespace grm
