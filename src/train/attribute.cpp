#include "train/attribute.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"
#include "grm/train/explain_runs.h"
#include "nn/input_gradient.h"
#include "train/edge_removal.h"
#include "train/explained_domains.h"
#include "train/feature_groups.h"
#include "train/metrics.h"

namespace grm {
namespace {

constexpr int64_t kItemsPerPass = 1024;  // whose gradients are held at once

// What the answers are compared with: labels, or without any the model's own classes.
struct Measure {
  MetricKind metric = MetricKind::accuracy;
  torch::Tensor items, y;
  std::string name;
};

torch::Tensor logits_of(const AskedMethod& model, const Graph& graph, const torch::Tensor& items) {
  const torch::Tensor logits = model.method.logits(graph, items).detach().cpu();
  model.method.forget_graphs();
  return model.about.target_scale.restored(logits);
}

// Points by which a measure is worse than `base`.
double lost(const AskedMethod& model, const Measure& measure, double base,
            const torch::Tensor& logits) {
  const double now = score(model.about.loss, measure.metric, logits, measure.y);
  return smaller_is_better(measure.metric) ? now - base : base - now;
}

// What is followed by the gradient, for each item: the log-odds of the predicted class or of the
// answers to all questions, or the numbers that are predicted.
torch::Tensor strength(LossKind loss, const torch::Tensor& logits) {
  switch (target_of(loss)) {
    case Target::classes:
      return log_odds(logits, predicted_class(logits.detach()));
    case Target::multi_label:
      return logits.abs().sum(1);  // a logit is the log-odds of yes, and less so of no
    case Target::regression:
      return logits.sum(1);
  }
  throw InternalError("strength: unknown target");
}

Measure measure_of(const AskedMethod& model, const Domain& domain) {
  Measure m;
  m.items = domain.labels.y.defined() ? domain.labels.evaluate : torch::Tensor();
  const bool labelled = m.items.defined() && m.items.numel() > 0;
  if (labelled) {
    m.metric = model.about.metric;
    m.y = domain.labels.y.index_select(0, m.items);
    m.name = to_string(m.metric);
    const bool one_class = m.y.dim() == 1 && m.y.eq(m.y[0]).all().item<bool>();
    if (m.metric != MetricKind::roc_auc || !one_class) return m;
    m.metric = MetricKind::accuracy;  // ROC-AUC of one class is undefined
    m.name = to_string(m.metric);
    return m;
  }
  m.items = torch::arange(domain.graph.items(), torch::kInt64);
  const torch::Tensor answers = logits_of(model, domain.graph, m.items);
  m.name = "agreement";
  switch (target_of(model.about.loss)) {
    case Target::classes:
      m.y = predicted_class(answers);
      break;
    case Target::multi_label:
      m.metric = MetricKind::micro_f1;
      m.y = answers.gt(0).to(torch::kFloat32);
      break;
    case Target::regression:
      m.metric = MetricKind::rmse;
      m.y = answers;
      break;
  }
  return m;
}

// The features as leaves of a gradient: dense columns as they are, of sparse ones the numbers.
Features as_leaves(const Features& x) {
  Features leaves = x;
  leaves.copies = Features::no_copies();
  if (x.sparse) {
    leaves.sparse_values =
        (x.sparse_values.defined() ? x.sparse_values.clone() : torch::ones({x.sparse->nnz()}))
            .requires_grad_();
  }
  if (x.dense.defined()) leaves.dense = x.dense.clone().requires_grad_();
  return leaves;
}

// Sum over nodes of |gradient times number|, by column: [width] double.
torch::Tensor column_scores(const Features& x) {
  torch::Tensor scores = torch::zeros({x.width()}, torch::kFloat64);
  if (x.sparse && x.sparse_values.grad().defined()) {
    const torch::Tensor each =
        (x.sparse_values.grad() * x.sparse_values.detach()).abs().to(torch::kFloat64);
    scores.narrow(0, 0, x.sparse_width())
        .index_add_(0, x.sparse->in.indices.to(torch::kInt64), each);
  }
  if (x.dense.defined() && x.dense.grad().defined()) {
    const torch::Tensor values = x.dense.detach();
    scores.narrow(0, x.sparse_width(), x.dense.size(1)) +=
        (x.dense.grad() * (values - values.mean(0, /*keepdim=*/true)))
            .abs()
            .to(torch::kFloat64)
            .sum(0);
  }
  return scores;
}

// Scores of all columns, or nothing if the logits do not depend on them by a gradient.
torch::Tensor gradient_scores(const AskedMethod& model, const Graph& graph,
                              const torch::Tensor& items,
                              const std::function<void(int64_t, int64_t)>& progress) {
  torch::Tensor sum = torch::zeros({graph.x.width()}, torch::kFloat64);
  for (int64_t begin = 0; begin < items.numel(); begin += kItemsPerPass) {
    const torch::Tensor some = items.slice(0, begin, begin + kItemsPerPass);
    Graph followed = graph;
    followed.x = as_leaves(graph.x);
    {
      const nn::InputGradient wanted;
      const at::AutoGradMode grad(true);
      const torch::Tensor logits = model.method.logits(followed, some);
      if (!logits.requires_grad()) return {};
      strength(model.about.loss, logits.cpu()).sum().backward();
    }
    for (const auto& [name, parameter] : model.method.parameters().parameters()) {
      if (parameter.grad().defined()) parameter.mutable_grad() = torch::Tensor();
    }
    const bool reached = (followed.x.sparse && followed.x.sparse_values.grad().defined()) ||
                         (followed.x.dense.defined() && followed.x.dense.grad().defined());
    if (!reached) return {};
    sum += column_scores(followed.x);
    model.method.forget_graphs();
    if (progress) progress(std::min(begin + kItemsPerPass, items.numel()), items.numel());
  }
  return sum / static_cast<double>(std::max<int64_t>(1, items.numel()));
}

std::vector<FeatureScore> scores_by_group(const std::vector<FeatureGroup>& groups,
                                          const torch::Tensor& columns) {
  std::vector<FeatureScore> scores;
  for (const FeatureGroup& group : groups) {
    FeatureScore score{group.name, static_cast<int64_t>(group.columns.size())};
    for (const int64_t j : group.columns) score.score += columns.data_ptr<double>()[j];
    scores.push_back(score);
  }
  return scores;
}

torch::Tensor permutation(int64_t rows, int64_t seed, uint64_t group, uint64_t repeat) {
  Stream draws = Rng(static_cast<uint64_t>(seed)).stream("permute", group, repeat);
  return torch::tensor(draws.choose(rows, rows), torch::kInt64);
}

void permute_groups(const AskedMethod& model, const Domain& domain, const Measure& measure,
                    const std::vector<FeatureGroup>& groups, const std::vector<size_t>& which,
                    const AttributeOptions& options, DomainAttribution& into,
                    const std::function<void(int64_t, int64_t)>& progress) {
  const auto passes = static_cast<int64_t>(which.size()) * options.repeats;
  int64_t done = 0;
  for (const size_t g : which) {
    std::vector<double> losses;
    for (int64_t r = 0; r < options.repeats; ++r) {
      Graph mixed = domain.graph;
      mixed.x = permuted(domain.graph.x, groups[g],
                         permutation(mixed.nodes(), options.seed, g, static_cast<uint64_t>(r)));
      losses.push_back(lost(model, measure, into.base, logits_of(model, mixed, measure.items)));
      if (progress) progress(++done, passes);
    }
    FeatureScore found{groups[g].name, static_cast<int64_t>(groups[g].columns.size())};
    const auto count = static_cast<double>(losses.size());
    for (const double loss : losses) found.score += loss / count;
    for (const double loss : losses) {
      found.spread += (loss - found.score) * (loss - found.score) / count;
    }
    found.spread = std::sqrt(found.spread);
    into.features.push_back(found);
  }
}

}  // namespace

DomainAttribution attribute(const AskedMethod& model, const Domain& domain,
                            const AttributeOptions& options,
                            const std::function<void(int64_t, int64_t)>& progress) {
  const Graph& graph = domain.graph;
  const std::vector<FeatureGroup> groups =
      feature_groups(model.about.feature_names, graph.x.width(), options.single);
  const Measure measure = measure_of(model, domain);
  DomainAttribution found;
  found.domain = domain.name;
  found.items = measure.items.numel();
  found.measure = measure.name;
  const torch::Tensor base = logits_of(model, graph, measure.items);
  found.base = score(model.about.loss, measure.metric, base, measure.y);
  const bool few = static_cast<int64_t>(groups.size()) <= options.most;
  torch::Tensor gradients;
  if (options.by == AttributeBy::gradient || !few) {
    gradients = gradient_scores(model, graph, measure.items,
                                options.by == AttributeBy::gradient ? progress : nullptr);
  }
  if (options.by == AttributeBy::gradient) {
    if (!gradients.defined()) {
      fail(ErrorKind::config,
           "method {} with these options reads no feature that a gradient could be followed to; "
           "'--by permutation' shows what mixing the features does",
           model.about.method);
    }
    found.measure = "log-odds";
    found.base = strength(model.about.loss, base).mean().item<double>();
    found.features = scores_by_group(groups, gradients);
  } else {
    std::vector<size_t> which(groups.size());
    for (size_t g = 0; g < which.size(); ++g) which[g] = g;
    if (!few && gradients.defined()) {
      const std::vector<FeatureScore> first = scores_by_group(groups, gradients);
      std::stable_sort(which.begin(), which.end(),
                       [&](size_t a, size_t b) { return first[a].score > first[b].score; });
    }
    which.resize(std::min(which.size(), static_cast<size_t>(options.most)));
    found.left_out = static_cast<int64_t>(groups.size() - which.size());
    permute_groups(model, domain, measure, groups, which, options, found, progress);
  }
  std::stable_sort(found.features.begin(), found.features.end(),
                   [](const FeatureScore& a, const FeatureScore& b) { return a.score > b.score; });
  return found;
}

std::vector<Domain> domains_to_attribute(const Model& model, const std::string& data,
                                         const std::string& domain, const DataContext& context) {
  ExplainedDomains all = explained_domains(model, data, context);
  if (all.domains.empty()) fail(ErrorKind::data, "{}: no domain to look at", data);
  if (!domain.empty()) return {find_domain(all.domains, domain, "")};
  if (all.test > 0) all.domains.resize(all.test);
  return std::move(all.domains);
}

}  // namespace grm
