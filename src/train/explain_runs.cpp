#include "grm/train/explain_runs.h"
#include "core/text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "grm/core/error.h"
#include "grm/train/predict.h"
#include "train/explained_domains.h"

namespace grm {
namespace {

// Another run says something about stability only if it differs in the seed alone.
void check_alike(const Model& first, const Model& other) {
  const ModelAbout &a = first.about(), &b = other.about();
  const auto differ = [&](const char* what, const std::string& x, const std::string& y) {
    if (x == y) return;
    fail(ErrorKind::config,
         "--seeds {}: its {} is {}, that of {} is {}; runs that are compared differ in the seed "
         "alone",
         other.path(), what, y, first.path(), x);
  };
  differ("dataset", a.dataset, b.dataset);
  differ("method", a.method, b.method);
  differ("number of features", std::to_string(a.features), std::to_string(b.features));
  differ("number of classes", std::to_string(a.classes), std::to_string(b.classes));
  // The seed is the first line of a configuration.
  const auto options = [](const std::string& text) { return text.substr(text.find('\n') + 1); };
  if (options(a.config) != options(b.config)) {
    fail(ErrorKind::config, "--seeds {}: its options are not those of {}; compare config.toml",
         other.path(), first.path());
  }
}

}  // namespace

const Domain& find_domain(const std::vector<Domain>& domains, const std::string& domain,
                          const std::string& item) {
  ensure(!domains.empty(), "find_domain: no domains");
  if (domain.empty()) {
    for (const Domain& d : domains) {
      if (std::count(d.item_names.begin(), d.item_names.end(), item) > 0) return d;
    }
    return domains.front();
  }
  std::vector<std::string> names;
  for (const Domain& d : domains) {
    if (d.name == domain) return d;
    if (std::count(names.begin(), names.end(), d.name) == 0) names.push_back(d.name);
  }
  fail(ErrorKind::config, "--domain {}: not a domain of the data{}; it has {}", domain,
       did_you_mean(domain, names), joined(names));
}

int64_t find_item(const Domain& domain, const std::string& item) {
  const std::vector<std::string>& names = domain.item_names;
  const auto named = std::find(names.begin(), names.end(), item);
  if (named != names.end()) return named - names.begin();
  const std::string kind = to_string(domain.graph.level());
  const int64_t items = domain.graph.items();
  int64_t index = -1;
  const auto [end, code] = std::from_chars(item.data(), item.data() + item.size(), index);
  const bool number = code == std::errc() && end == item.data() + item.size();
  if (number && index >= 0 && index < items) return index;
  if (!names.empty()) {
    fail(ErrorKind::config, "--item {}: no {} of {} is called that{}; or give its index, 0 .. {}",
         item, kind, domain.name, did_you_mean(item, names), items - 1);
  }
  fail(ErrorKind::config, "--item {}: the {}s of {} are 0 .. {}", item, kind, domain.name,
       items - 1);
}

namespace {

// Agreement of runs on what all of them have: ego-nets drawn under different seeds may hold
// different neighbours.
template <class Key>
Stability over_seeds(const std::vector<std::map<Key, double>>& weights, int64_t top) {
  std::vector<std::vector<double>> common(weights.size());
  for (const auto& entry : weights.front()) {
    const auto has = [&](const auto& of) { return of.count(entry.first) > 0; };
    if (!std::all_of(weights.begin(), weights.end(), has)) continue;
    for (size_t k = 0; k < weights.size(); ++k) common[k].push_back(weights[k].at(entry.first));
  }
  return stability_of("seeds", common, top);
}

}  // namespace

Stability agreement(const std::vector<ItemExplanation>& runs, int64_t top) {
  if (runs.size() == 1) return stability_of("samples", runs.front().samples, top);
  std::vector<std::map<std::pair<int64_t, int64_t>, double>> weights;
  for (const ItemExplanation& run : runs) {
    weights.emplace_back();
    for (const ExplainedEdge& edge : run.edges) {
      const int64_t a = run.nodes[edge.source].id, b = run.nodes[edge.target].id;
      weights.back()[std::minmax(a, b)] = edge.weight;
    }
  }
  return over_seeds(weights, top);
}

Stability presence_agreement(const std::vector<ItemExplanation>& runs, int64_t top) {
  if (!runs.front().generates_nodes()) return {};
  if (runs.size() == 1) return stability_of("samples", runs.front().presence_samples, top);
  std::vector<std::map<int64_t, double>> presences;
  for (const ItemExplanation& run : runs) {
    presences.emplace_back();
    for (const ExplainedNode& node : run.nodes) presences.back()[node.id] = node.presence;
  }
  return over_seeds(presences, top);
}

namespace {

// One item by each model, the first of which is that of request.run.
ExplainedRuns explain_item_by(const std::vector<Model*>& models,
                              const std::vector<std::string>& paths,
                              const std::vector<Domain>& domains, const ExplainRequest& request) {
  if (domains.empty()) fail(ErrorKind::data, "{}: no domain to explain", request.data);
  const Domain& domain = find_domain(domains, request.domain, request.item);
  const int64_t item = find_item(domain, request.item);
  ExplainedRuns all;
  for (size_t k = 0; k < models.size(); ++k) {
    const ModelAbout& about = models[k]->about();
    Method& method = models[k]->method();
    const bool own = has_own_explanation(method, domain.graph, item);
    const ExplainBy by = request.by.value_or(own ? ExplainBy::own : ExplainBy::removal);
    all.runs.push_back(
        explain_item(method, about.method, domain, item, models[k]->temperature(), by));
    ItemExplanation& e = all.runs.back();
    e.run = paths[k];
    e.dataset = request.data.empty() ? about.dataset : request.data;
    e.preset = about.preset;
    e.seed = about.seed;
    for (int64_t c = 0; c < models[k]->classes(); ++c) e.labels.push_back(models[k]->label(c));
  }
  all.stability = agreement(all.runs, request.top);
  all.presence_stability = presence_agreement(all.runs, request.top);
  return all;
}

}  // namespace

ExplainedRuns explain_with(Model& model, const std::vector<Domain>& domains,
                           const ExplainRequest& request) {
  return explain_item_by({&model}, {request.run}, domains, request);
}

ExplainedRuns explain_runs(const ExplainRequest& request, const DataContext& context) {
  std::vector<std::string> paths = {request.run};
  paths.insert(paths.end(), request.seeds.begin(), request.seeds.end());
  std::vector<Model> models;
  std::set<int64_t> seeds;
  for (const std::string& path : paths) {
    models.push_back(load(path));
    if (models.size() > 1) check_alike(models.front(), models.back());
    if (!seeds.insert(models.back().about().seed).second) {
      fail(ErrorKind::config, "--seeds {}: its seed {} is that of another run given", path,
           models.back().about().seed);
    }
  }
  const std::vector<Domain> domains =
      explained_domains(models.front(), request.data, context).domains;
  std::vector<Model*> each;
  for (Model& model : models) each.push_back(&model);
  return explain_item_by(each, paths, domains, request);
}

}  // namespace grm
