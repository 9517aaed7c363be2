#include "methods/over_domains.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/shared_graph.h"
#include "ops/sparse.h"

namespace grm {
namespace {

using torch::Tensor;

// The rows of a domain's labelled nodes.
Tensor labelled_rows(const Tensor& rows, const Labels& labels) {
  return labels.loss.numel() == rows.size(0) ? rows : ops::gather_rows(rows, labels.loss);
}

}  // namespace

RunShape OverDomainsOptions::passes(const RunShape& run) const {
  RunShape distinct = run;
  if (domains.source(run.training.size()) != DomainSource::natural) return distinct;
  distinct.training.clear();
  for (const DomainShape& g : run.training) {
    const bool seen = std::any_of(distinct.training.begin(), distinct.training.end(),
                                  [&](const DomainShape& d) { return d.edges_of == g.edges_of; });
    if (!seen) distinct.training.push_back(g);
  }
  return distinct;
}

OverDomains::OverDomains(const OverDomainsOptions& options, const Make& make, const TrainView& view,
                         const Rng& rng)
    : BackboneMethod(options.backbone, options.optimiser, view, rng),
      provider_(options.domains, options.backbone, view, rng) {
  if (view.training.empty()) return;
  const double copies = options.domains.copies(view.training.size());
  objective_ =
      make({view.loss, static_cast<int64_t>(copies) * static_cast<int64_t>(view.training.size()),
            /*steps=*/1, [this] { return hidden_width(); }, options.optimiser, rng});
}

int64_t OverDomains::hidden_width() {
  const nn::Evaluating evaluating;
  const Graph& graph = view_.training.front().graph;
  nn::Pass pass = nn::Pass::evaluate();
  const nn::BackboneInput input{graph.edges,        graph.x,     {}, nullptr,
                                graph.edge_weights, graph.edge_x};
  const Tensor hidden = backbone_->forward(input, pass).hidden;
  if (!hidden.defined()) {
    fail(ErrorKind::config,
         "the method compares what the last layer sees, but a backbone of one layer, or a network "
         "of your own that gives logits alone, has no hidden rows; set method.layers to 2 or more, "
         "let the network give (hidden, logits), or choose another method, such as vrex");
  }
  return hidden.size(1);
}

void OverDomains::keep_labels(const std::vector<Domain>& domains) {
  if (y_.defined()) return;
  std::vector<Tensor> y, environment;
  blocks_ = {0};
  for (size_t g = 0; g < domains.size(); ++g) {
    const Labels& labels = domains[g].labels;
    y.push_back(labels.y.index_select(0, labels.loss));
    environment.push_back(torch::full_like(labels.loss, static_cast<int64_t>(g)));
    unlabelled_.push_back(unlabelled_nodes(domains, g));
    blocks_.push_back(blocks_.back() + labels.loss.numel());
  }
  y_ = on_device(torch::cat(y), set_.device());
  environment_ = on_device(torch::cat(environment), set_.device());
  objective_->begin(domains, unlabelled_, set_.device());
}

EnvironmentItems OverDomains::items_of(nn::Step& step, const std::vector<Domain>& domains) {
  SharedProducts shared;
  std::vector<nn::BackboneOutput> outputs;
  std::vector<Tensor> logits, hidden, unlabelled;
  for (size_t g = 0; g < domains.size(); ++g) {
    size_t first = 0;
    while (first < g && !same_graph(domains[first].graph, domains[g].graph)) ++first;
    outputs.push_back(first < g ? outputs[first]
                                : forward(step, domains[g], g, nullptr, {}, &shared));
    logits.push_back(labelled_rows(outputs[g].logits, domains[g].labels));
    if (objective_->reads_hidden()) {
      hidden.push_back(labelled_rows(outputs[g].hidden, domains[g].labels));
    }
    if (objective_->reads_unlabelled()) {
      unlabelled.push_back(first < g ? unlabelled[first]
                                     : ops::gather_rows(outputs[g].hidden, unlabelled_[g]));
    }
  }
  return {torch::cat(logits), hidden.empty() ? Tensor() : torch::cat(hidden), y_,
          environment_,       static_cast<int64_t>(domains.size()),           blocks_,
          unlabelled};
}

// Reports the risks of the domains, then the objective and its parts.
void OverDomains::train_step(nn::Step& step, const std::vector<Domain>& domains) {
  const EnvironmentItems items = items_of(step, domains);
  const EnvironmentRisks risks = environment_risks(view_.loss, items);
  const Tensor risk = risks.each.mean();
  const ObjectiveLoss loss = objective_->loss(items, risks, risk, step);
  for (nn::Adam* optimiser : optimisers()) optimiser->zero_grad();
  const Stage stage("backward");
  loss.total.backward();
  for (nn::Adam* optimiser : optimisers()) step.take(*optimiser);
  std::vector<Tensor> values = risks.each.detach().unbind();
  for (const Tensor& term : {loss.total, risk, loss.part}) values.push_back(term);
  step.report(values);
}

std::vector<LossTerm> OverDomains::train_epoch(int64_t epoch) {
  const std::vector<Domain>& domains = provider_.domains(epoch);
  keep_labels(domains);
  steps_.run({epoch, 0}, [this, &domains](nn::Step& step) { train_step(step, domains); });
  std::vector<double> values = steps_.read().front();
  const double* terms = values.data() + domains.size();
  const std::vector<LossTerm> result = {
      {"total", terms[0]}, {"risk", terms[1]}, {objective_->part(), terms[2]}};
  values.resize(domains.size());
  provider_.feedback(epoch, values);
  return result;
}

std::vector<nn::Adam*> OverDomains::optimisers() {
  std::vector<nn::Adam*> all = {&optimiser_};
  if (objective_ && objective_->helper_optimiser()) all.push_back(objective_->helper_optimiser());
  return all;
}

std::map<std::string, Tensor> OverDomains::training_state() const {
  std::map<std::string, Tensor> state = provider_.training_state();
  if (objective_) add_helper_state(objective_->helper(), state);
  return state;
}

void OverDomains::restore_training_state(const std::map<std::string, Tensor>& state) {
  provider_.restore_training_state(
      restore_helper(objective_ ? objective_->helper() : nullptr, state));
}

}  // namespace grm
