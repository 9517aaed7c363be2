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
#include "methods/editor_column.h"

namespace grm {

Eerm::Eerm(const EermOptions& options, const TrainView& view, const Rng& rng)
    : BackboneMethod(options.backbone, options.optimiser, view, rng),
      options_(options),
      on_gpu_(lives_on_gpu()),
      host_steps_(set_.device(), /*recordable=*/false) {
  for (size_t d = 0; d < view_.training.size(); ++d) {
    const Domain& domain = view_.training[d];
    if (options.edits > domain.graph.nodes()) {
      fail(ErrorKind::config, "method.edits is {}, but the training graph '{}' has {} nodes",
           options.edits, domain.name, domain.graph.nodes());
    }
    if (options.mode == EditorLaw::random || options.edits == 0) continue;
    if (on_gpu_) {
      device_editors_.push_back(std::make_unique<DeviceEditors>(
          options.editors(), domain.graph.nodes(), rng, d, set_.device()));
    } else {
      editors_.push_back(
          std::make_unique<GraphEditors>(options.editors(), domain.graph.nodes(), rng, d));
    }
  }
}

// Whether a GPU draws the flips and edits the graphs.
bool Eerm::lives_on_gpu() const {
  if (!recordable_ || options_.backbone.backbone != nn::BackboneKind::gcn) return false;
  if (options_.edits == 0) return true;
  for (const Domain& domain : view_.training) {
    if (domain.graph.edge_weights.defined()) return false;
  }
  return options_.mode == EditorLaw::random || DeviceEditors::fit(options_.editors());
}

double Eerm::beta_at(int64_t epoch) const {
  if (!options_.beta_ramp) return options_.beta;
  const double done = static_cast<double>(epoch - 1) / static_cast<double>(options_.ramp_epochs);
  return options_.beta * (1.0 + 9.0 * std::min(done, 1.0));
}

// Trials are numbered through all epochs.
int64_t Eerm::number_of(int64_t epoch, int64_t m) const {
  return epoch * std::max<int64_t>(options_.inner_steps, 1) + m;
}

std::vector<LossTerm> Eerm::train_epoch(int64_t epoch) {
  for (const auto& editors : editors_) editors->begin_epoch(epoch);
  std::vector<Span> spans;
  if (options_.update == DomainUpdate::mean) {
    spans.push_back({0, view_.training.size()});
  } else {
    for (size_t d = 0; d < view_.training.size(); ++d) spans.push_back({d, d + 1});
  }
  nn::StepRecorder& steps = on_gpu_ ? steps_ : host_steps_;
  for (const Span& span : spans) {
    steps.run(
        {epoch, 0}, [this, span](nn::Step& step) { train_span(step, span); }, prepare(span, epoch));
  }
  const auto share = 1.0 / static_cast<double>(spans.size());
  double mean = 0.0, variance = 0.0;
  size_t at = 0;
  for (const std::vector<double>& read : steps.read()) {
    mean += share * read[0];
    variance += share * read[1];
    const Span& span = spans[at++];
    for (size_t d = span.begin; d < span.end && !device_editors_.empty(); ++d) {
      for (int64_t m = 0; m < options_.inner_steps; ++m) {
        device_editors_[d]->note(number_of(epoch, m), read[2 + static_cast<size_t>(m)]);
      }
    }
  }
  return {{"total", variance + beta_at(epoch) * mean}, {"mean_loss", mean}, {"variance", variance}};
}

// What steps of one shape have in common; on a GPU also what must be there before one.
std::vector<int64_t> Eerm::prepare(const Span& span, int64_t epoch) {
  std::vector<int64_t> shape = {static_cast<int64_t>(span.begin)};
  edited_.resize(view_.training.size());
  for (size_t d = span.begin; on_gpu_ && d < span.end; ++d) {
    if (!edited_[d] && options_.edits > 0) {
      edited_[d] = std::make_unique<EditedGraph>(
          options_.backbone.conv, view_.training[d].graph.edges, set_.dtype(), set_.device());
    }
    if (device_editors_.empty()) continue;
    const bool anew = options_.editor_init == EditorInit::uniform_each_epoch;
    shape.push_back(device_editors_[d]->prepare((anew ? 1 : epoch) * options_.inner_steps));
  }
  return shape;
}

// The editors' steps and one of the classifier; reports mean and variance of the losses, then the
// editors' rewards.
void Eerm::train_span(nn::Step& step, const Span& span) {
  std::vector<torch::Tensor> report;
  const bool edited = !editors_.empty() || !device_editors_.empty();
  if (!edited || options_.mode == EditorLaw::as_published) {
    if (edited) start_editors(step, span);
    for (int64_t m = 0; edited && m < options_.inner_steps; ++m) {
      report.push_back(explore(step, span, m));
    }
    const ViewRiskThere risk = classifier_step(step, span, fresh_views(step, span));
    report.insert(report.begin(), {risk.mean, risk.variance});
  } else {
    const Flips flips = trial(step, span, 0);
    const ViewRiskThere risk = classifier_step(step, span, flips);
    if (options_.inner_steps > 0) learn(step, span, flips, 0, risk.variance);
    for (int64_t m = 1; m < options_.inner_steps; ++m) explore(step, span, m);
    report = {risk.mean, risk.variance};
  }
  step.report(report);
}

// Editors on the host begin an epoch by themselves.
void Eerm::start_editors(nn::Step& step, const Span& span) {
  if (!on_gpu_ || options_.editor_init != EditorInit::uniform_each_epoch) return;
  for (size_t d = span.begin; d < span.end; ++d) {
    device_editors_[d]->start([&](int64_t k) {
      return step.stream([streams = device_editors_[d]->streams(), k](const nn::When& when) {
        return streams.initial(k, when.epoch);
      });
    });
  }
}

Eerm::Flips Eerm::trial(nn::Step& step, const Span& span, int64_t m) {
  Flips flips;
  for (size_t d = span.begin; d < span.end; ++d) {
    if (!on_gpu_) {
      flips.push_back(editors_[d]->trial(number_of(step.when().epoch, m)));
      continue;
    }
    flips.emplace_back();
    for (int64_t k = 0; k < options_.views; ++k) {
      const Stream draws =
          step.stream([this, streams = device_editors_[d]->streams(), k, m](const nn::When& when) {
            return streams.trial(k, number_of(when.epoch, m));
          });
      flips.back().push_back(device_editors_[d]->draw(k, draws));
    }
  }
  return flips;
}

Eerm::Flips Eerm::fresh_views(nn::Step& step, const Span& span) {
  Flips flips;
  for (size_t d = span.begin; d < span.end; ++d) {
    flips.emplace_back();
    const int64_t nodes = view_.training[d].graph.nodes();
    for (int64_t k = 0; k < options_.views && options_.edits > 0; ++k) {
      const nn::Step::StreamOf of = [this, place = d * options_.views + k](const nn::When& when) {
        return rng_.stream("eerm-views", static_cast<uint64_t>(when.epoch), place);
      };
      torch::Tensor drawn;
      if (!device_editors_.empty()) {
        drawn = device_editors_[d]->draw(k, step.stream(of));
      } else if (!editors_.empty()) {
        drawn = editors_[d]->draw(k, of(step.when()));
      } else if (on_gpu_) {
        drawn = step.indices([of, nodes, edits = options_.edits](const nn::When& when) {
          return random_flips(nodes, edits, of(when)).to(torch::kInt64).reshape({-1});
        });
        drawn = drawn.to(torch::kInt32).view({nodes, options_.edits});
      } else {
        drawn = random_flips(nodes, options_.edits, of(step.when()));
      }
      flips.back().push_back(drawn);
    }
  }
  return flips;
}

// The loss of each view, averaged over the domains of the span.
std::vector<torch::Tensor> Eerm::losses(nn::Step& step, const Span& span, const Flips& flips,
                                        int64_t phase) {
  std::vector<torch::Tensor> result;
  SharedProducts shared;
  const size_t views = static_cast<size_t>(options_.views), count = span.end - span.begin;
  for (size_t k = 0; k < views; ++k) {
    torch::Tensor loss;
    for (size_t d = span.begin; d < span.end; ++d) {
      const Domain& domain = view_.training[d];
      const uint64_t place = (static_cast<size_t>(phase) * view_.training.size() + d) * views + k;
      torch::Tensor logits;
      if (on_gpu_ && options_.edits > 0) {
        nn::BackboneInput input{domain.graph.edges, domain.graph.x, {}, shared.of(domain.graph)};
        input.propagation = edited_[d]->flipped(flips[d - span.begin][k]);
        logits = forward(step, place, input).logits;
      } else {
        AdjacencyPtr edges;
        if (options_.edits > 0) edges = flipped(*domain.graph.edges, flips[d - span.begin][k]);
        logits = forward(step, domain, place, edges, {}, &shared).logits;
      }
      const torch::Tensor one = loss_of(domain, logits);
      loss = loss.defined() ? loss + one : one;
    }
    result.push_back(count > 1 ? loss / static_cast<double>(count) : loss);
  }
  return result;
}

// One trial of the editors and their step on its reward, which is returned; the classifier is only
// asked.
torch::Tensor Eerm::explore(nn::Step& step, const Span& span, int64_t m) {
  const Flips flips = trial(step, span, m);
  torch::Tensor reward;
  {
    const at::NoGradGuard no_grad;
    const std::vector<torch::Tensor> by_view = losses(step, span, flips, 1 + m);
    reward = view_risk(by_view, torch::zeros_like(by_view[0], torch::kFloat64)).variance;
  }
  learn(step, span, flips, m, reward);
  return reward;
}

void Eerm::learn(nn::Step& step, const Span& span, const Flips& flips, int64_t m,
                 const torch::Tensor& reward) {
  if (on_gpu_) {
    const bool anew = options_.editor_init == EditorInit::uniform_each_epoch;
    const auto numbers = [this, m, anew](const nn::When& when) {
      const int64_t before = anew ? 0 : (when.epoch - 1) * options_.inner_steps;
      return editor_step(options_.editor_lr, before + m + 1);
    };
    const torch::Tensor size =
        step.number([numbers](const nn::When& when) { return numbers(when).step_size; });
    const torch::Tensor scale =
        step.number([numbers](const nn::When& when) { return numbers(when).second_scale; });
    for (size_t d = span.begin; d < span.end; ++d) {
      device_editors_[d]->step(flips[d - span.begin], reward, size, scale);
    }
    return;
  }
  // A loss that is not finite ends the run after this epoch; editors must not see it before.
  const double value = reward.item<double>();
  if (!std::isfinite(value)) return;
  if (options_.editor_init == EditorInit::uniform_each_epoch && m + 1 == options_.inner_steps &&
      options_.mode == EditorLaw::as_coded) {
    return;  // these editors are never drawn from again
  }
  for (size_t d = span.begin; d < span.end; ++d) {
    editors_[d]->step(number_of(step.when().epoch, m), flips[d - span.begin], value);
  }
}

ViewRiskThere Eerm::classifier_step(nn::Step& step, const Span& span, const Flips& flips) {
  const std::vector<torch::Tensor> by_view = losses(step, span, flips, 0);
  const torch::Tensor beta =
      step.number([this](const nn::When& when) { return beta_at(when.epoch); });
  const ViewRiskThere risk = view_risk(by_view, beta);
  torch::Tensor objective;
  for (size_t k = 0; k < by_view.size(); ++k) {
    const torch::Tensor term = by_view[k] * risk.weights[k].to(by_view[k].scalar_type());
    objective = k == 0 ? term : objective + term;
  }
  optimiser_.zero_grad();
  const Stage stage("backward");
  objective.backward();
  step.take(optimiser_);
  return risk;
}

std::map<std::string, torch::Tensor> Eerm::training_state() const {
  std::map<std::string, torch::Tensor> state;
  for (size_t d = 0; d < view_.training.size(); ++d) {
    std::map<std::string, torch::Tensor> own;
    if (!editors_.empty()) own = editors_[d]->state();
    if (!device_editors_.empty()) own = device_editors_[d]->state();
    for (const auto& [name, tensor] : own) {
      state["editors" + std::to_string(d) + "." + name] = tensor;
    }
  }
  return state;
}

void Eerm::restore_training_state(const std::map<std::string, torch::Tensor>& state) {
  for (size_t d = 0; d < view_.training.size(); ++d) {
    const std::string prefix = "editors" + std::to_string(d) + ".";
    std::map<std::string, torch::Tensor> own;
    for (const auto& [name, tensor] : state) {
      if (name.rfind(prefix, 0) == 0) own[name.substr(prefix.size())] = tensor;
    }
    if (!editors_.empty()) editors_[d]->restore(own);
    if (!device_editors_.empty()) device_editors_[d]->restore(own);
  }
}

std::unique_ptr<MethodRecipe> make_eerm() {
  return std::make_unique<SimpleRecipe<EermOptions, Eerm>>();
}

}  // namespace grm
