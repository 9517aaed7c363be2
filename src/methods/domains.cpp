#include "methods/domains.h"

#include <torch/types.h>

#include <cmath>

#include "graph/edge_data.h"
#include "grm/core/error.h"
#include "methods/domains_frozen.h"
#include "methods/editors.h"
#include "methods/eerm.h"

namespace grm {

void DomainOptions::declare(OptionList& list) {
  list.choice("domains", domains,
              "where the training domains come from; auto: the training graphs if there are "
              "several, else eerm_frozen, copies edited by EERM");
  list.add("views", views, {1, 1000}, "edited copies per training graph");
  list.add("edits", edits, {0, 10000}, "flipped pairs per node in an edited copy");
  list.add("include_original", include_original, "the unedited graph is a domain too");
  list.add("eerm_epochs", eerm_epochs, {1, 1e6}, "eerm_frozen: epochs of the EERM run");
  list.add("eerm_lr", eerm_lr, {0, 10}, "eerm_frozen: learning rate of its classifier");
  list.add("eerm_weight_decay", eerm_weight_decay, {0, 10}, "eerm_frozen: its weight decay");
  list.add("eerm_beta", eerm_beta, {0, 1e6}, "eerm_frozen: weight of its mean loss");
  list.add("eerm_beta_ramp", eerm_beta_ramp, "eerm_frozen: that weight grows to its tenfold");
  list.add("eerm_inner_steps", eerm_inner_steps, {0, 1000}, "eerm_frozen: editor steps per epoch");
  list.add("editor_lr", editor_lr, {0, 0.1}, "learning rate of the graph editors");
  list.add("editor_memory_mib", editor_memory_mib, {0, 1e6},
           "editors above this size are kept implicitly, with the same law");
}

DomainSource DomainOptions::source(size_t training_graphs) const {
  if (domains != DomainSource::automatic) return domains;
  return training_graphs > 1 ? DomainSource::natural : DomainSource::eerm_frozen;
}

double DomainOptions::copies(size_t training_graphs) const {
  if (source(training_graphs) == DomainSource::natural) return 1.0;
  return static_cast<double>(views + (include_original ? 1 : 0));
}

Held DomainOptions::held(const nn::BackboneOptions& backbone, const RunShape& given) const {
  const DomainSource from = source(given.training.size());
  // Edited copies are made of whole graphs.
  const RunShape run =
      from == DomainSource::natural ? on_samples(given, nn::hops(backbone)) : given;
  Held all;
  for (const DomainShape& g : run.training) {
    all.add(nn::backbone_cost(backbone, g, run.classes), copies(run.training.size()));
    if (from == DomainSource::natural) continue;
    all.topology += static_cast<double>(views) * edited_graph_bytes(backbone.conv, g, edits);
  }
  if (from == DomainSource::eerm_frozen || from == DomainSource::eerm_online) {
    EditorOptions editors;
    editors.views = views;
    editors.edits = edits;
    editors.memory_mib = editor_memory_mib;
    const auto steps = static_cast<double>(eerm_epochs * eerm_inner_steps);
    const Held before = eerm_held(backbone, editors, run, DomainUpdate::mean, steps);
    all.kept = std::max(all.kept, before.kept);
    all.besides += before.besides;
  }
  return all;
}

std::vector<Saving> DomainOptions::savings() const {
  return {smaller("editor_memory_mib", editor_memory_mib, 0), smaller("views", views, 1)};
}

struct DomainProvider::State {
  DomainOptions options;
  nn::BackboneOptions backbone;
  TrainView view;
  Rng rng;
  DomainSource kind;  // not automatic
  std::vector<Domain> domains;
  std::map<std::string, torch::Tensor> frozen;
  std::vector<std::unique_ptr<GraphEditors>> editors;  // eerm_online
  std::vector<std::vector<torch::Tensor>> drawn;       // eerm_online: by graph and view
  int64_t epoch = 0;                                   // eerm_online: of `domains`
  int64_t learnt = 0;                                  // eerm_online: epoch of the last feedback

  State(const DomainOptions& domain_options, const nn::BackboneOptions& backbone_options,
        const TrainView& train_view, const Rng& run)
      : options(domain_options), backbone(backbone_options), view(train_view), rng(run) {
    kind = options.source(view.training.size());
    if (kind == DomainSource::natural) return;
    for (const Domain& domain : view.training) {
      if (options.edits > domain.graph.nodes()) {
        fail(ErrorKind::config, "method.edits is {}, but the training graph '{}' has {} nodes",
             options.edits, domain.name, domain.graph.nodes());
      }
    }
    if (options.edits == 0) kind = DomainSource::random;  // no editor has anything to choose
    if (kind != DomainSource::eerm_online) return;
    const EditorOptions editor{EditorLaw::as_published, EditorInit::uniform_once,
                               options.views,           options.edits,
                               options.editor_lr,       options.editor_memory_mib};
    for (size_t d = 0; d < view.training.size(); ++d) {
      editors.push_back(
          std::make_unique<GraphEditors>(editor, view.training[d].graph.nodes(), rng, d));
    }
  }

  torch::Tensor flips(size_t d, int64_t k) const {
    if (kind == DomainSource::eerm_frozen)
      return frozen.at("flips" + std::to_string(d))[k].contiguous();
    if (kind == DomainSource::eerm_online) return drawn[d][k];
    return random_flips(view.training[d].graph.nodes(), options.edits,
                        rng.stream("random-domains", d, static_cast<uint64_t>(k)));
  }

  void build() {
    domains.clear();
    for (size_t d = 0; d < view.training.size(); ++d) {
      const Domain& domain = view.training[d];
      if (options.include_original) domains.push_back(domain);
      for (int64_t k = 0; k < options.views; ++k) {
        Domain copy = domain;
        copy.name = copy.group = copy.graph.name = fmt::format("{}/view{}", domain.name, k + 1);
        copy.graph.edges = flipped(*domain.graph.edges, flips(d, k));
        const EdgeData data = edge_data(domain.graph, copy.graph.edges);
        copy.graph.edge_weights = data.weights;
        copy.graph.edge_x = data.x;
        domains.push_back(std::move(copy));
      }
    }
  }
};

DomainProvider::DomainProvider(const DomainOptions& options, const nn::BackboneOptions& backbone,
                               const TrainView& view, const Rng& rng)
    : state_(std::make_unique<State>(options, backbone, view, rng)) {}

DomainProvider::~DomainProvider() = default;

const std::vector<Domain>& DomainProvider::domains(int64_t epoch) {
  State& s = *state_;
  if (s.kind == DomainSource::natural) return s.view.training;
  if (s.kind == DomainSource::eerm_online && s.epoch != epoch) {
    s.drawn.clear();
    for (const auto& editors : s.editors) s.drawn.push_back(editors->trial(epoch));
    s.epoch = epoch;
    s.build();
  }
  if (s.domains.empty()) {
    if (s.kind == DomainSource::eerm_frozen && s.frozen.empty()) {
      s.frozen = frozen_flips(s.options, s.backbone, s.view, s.rng);
    }
    s.build();
  }
  return s.domains;
}

void DomainProvider::feedback(int64_t epoch, const std::vector<double>& losses) {
  State& s = *state_;
  if (s.kind != DomainSource::eerm_online || s.learnt == epoch) return;
  ensure(s.epoch == epoch && losses.size() == s.domains.size(),
         "domains: feedback must be about the domains of its epoch");
  s.learnt = epoch;
  const size_t per_graph = losses.size() / s.editors.size();
  for (size_t d = 0; d < s.editors.size(); ++d) {
    const auto begin = losses.begin() + static_cast<std::ptrdiff_t>(d * per_graph);
    const double reward =
        view_risk({begin, begin + static_cast<std::ptrdiff_t>(per_graph)}, 0.0).variance;
    if (std::isfinite(reward)) s.editors[d]->step(epoch, s.drawn[d], reward);
  }
}

std::map<std::string, torch::Tensor> DomainProvider::training_state() const {
  std::map<std::string, torch::Tensor> state = state_->frozen;
  for (size_t d = 0; d < state_->editors.size(); ++d) {
    for (const auto& [name, tensor] : state_->editors[d]->state()) {
      state["editors" + std::to_string(d) + "." + name] = tensor;
    }
  }
  return state;
}

void DomainProvider::restore_training_state(const std::map<std::string, torch::Tensor>& state) {
  State& s = *state_;
  s.domains.clear();
  s.epoch = s.learnt = 0;
  if (s.kind == DomainSource::eerm_frozen && !state.empty()) {
    check_flips(state, s.options, s.view);
    s.frozen = state;
  }
  for (size_t d = 0; d < s.editors.size(); ++d) {
    const std::string prefix = "editors" + std::to_string(d) + ".";
    std::map<std::string, torch::Tensor> own;
    for (const auto& [name, tensor] : state) {
      if (name.rfind(prefix, 0) == 0) own[name.substr(prefix.size())] = tensor;
    }
    s.editors[d]->restore(own);
  }
}

}  // namespace grm
