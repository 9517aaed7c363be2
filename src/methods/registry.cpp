#include <algorithm>

#include "grm/core/error.h"
#include "grm/methods/grm/options.h"
#include "grm/methods/table.h"

namespace grm {
namespace {

// Values that the reference protocol (EERM's run scripts) or our measurements on validation give
// for one dataset. Applied after the preset and before the user's own.
struct Suggestion {
  const char* dataset;
  const char* method;
  const char* preset;  // "" for all presets
  const char* key;
  const char* value;
};

constexpr Suggestion kSuggestions[] = {
    {"cora", "erm", "", "lr", "0.001"},
    {"photo", "erm", "", "lr", "0.001"},
    {"cora-mix", "erm", "", "lr", "0.001"},
    {"fb100", "erm", "", "update", "per_domain"},
    {"elliptic", "erm", "", "weight_decay", "0"},
    {"arxiv", "erm", "", "weight_decay", "0"},
    {"arxiv", "erm", "", "train.epochs", "500"},
    {"arxiv", "grm", "", "batch", "1000"},
    {"elliptic", "grm", "", "batch", "100"},
    {"twitch", "grm", "centred", "lr", "0.01"},
    {"cora", "eerm", "", "lr", "0.005"},
    {"cora", "eerm", "", "views", "10"},
    {"cora", "eerm", "", "editor_lr", "0.001"},
    {"cora-mix", "eerm", "", "lr", "0.005"},
    {"cora-mix", "eerm", "", "views", "10"},
    {"cora-mix", "eerm", "", "editor_lr", "0.001"},
    {"photo", "eerm", "", "views", "5"},
    {"twitch", "eerm", "", "edits", "5"},
    {"twitch", "eerm", "", "beta", "3"},
    {"twitch", "eerm", "", "beta_ramp", "true"},
    {"twitch", "eerm", "", "editor_lr", "0.001"},
    {"twitch", "eerm", "as-coded", "editor_init", "zeros"},
    {"fb100", "eerm", "", "edits", "5"},
    {"fb100", "eerm", "", "update", "per_domain"},
    {"fb100", "eerm", "as-coded", "editor_init", "zeros"},
    {"elliptic", "eerm", "", "edits", "5"},
    {"elliptic", "eerm", "", "weight_decay", "0"},
    {"elliptic", "eerm", "as-coded", "editor_init", "zeros"},
    {"arxiv", "eerm", "", "lr", "0.005"},
    {"arxiv", "eerm", "", "weight_decay", "0"},
    {"arxiv", "eerm", "", "views", "5"},
    {"arxiv", "eerm", "", "inner_steps", "5"},
    {"arxiv", "eerm", "", "beta", "0.5"},
    {"arxiv", "eerm", "", "editor_lr", "0.01"},
    {"arxiv", "eerm", "", "train.epochs", "500"},
    {"fb100", "lisa", "", "train.epochs", "200"},
    {"fb100", "lisa", "", "train.warm_up", "30"},
    {"fb100", "lisa", "", "train.patience", "20"},
    {"arxiv", "lisa", "", "rho", "0.01"},
    {"arxiv", "lisa", "", "generator_lr", "0.005"},
    {"arxiv", "lisa", "", "dropout", "0"},
    {"elliptic", "lisa", "", "rho", "0.01"},
    {"elliptic", "lisa", "", "lr", "0.005"},
    {"elliptic", "lisa", "", "weight_decay", "0"},
    {"elliptic", "lisa", "", "lambda_kl", "0.01"},
    // MARIO's own setting for GOODTwitch, and no perturbation of FB-100: a dense matrix of its
    // 12,000 columns would be most of the work.
    {"twitch", "mario", "", "gamma", "0.2"},
    {"twitch", "mario", "", "prototype_lr", "0.001"},
    {"twitch", "mario", "", "pf1", "0.2"},
    {"twitch", "mario", "", "pf2", "0.3"},
    {"twitch", "mario", "", "pe1", "0.2"},
    {"twitch", "mario", "", "pe2", "0.3"},
    {"twitch", "mario", "", "last_relu", "false"},
    {"twitch", "mario", "", "head_lr", "0.1"},
    {"twitch", "mario", "", "head_epochs", "100"},
    {"twitch", "mario", "", "train.epochs", "200"},
    {"fb100", "mario", "", "gamma", "0.2"},
    {"fb100", "mario", "", "prototype_lr", "0.001"},
    {"fb100", "mario", "", "pf1", "0.2"},
    {"fb100", "mario", "", "pf2", "0.3"},
    {"fb100", "mario", "", "pe1", "0.2"},
    {"fb100", "mario", "", "pe2", "0.3"},
    {"fb100", "mario", "", "last_relu", "false"},
    {"fb100", "mario", "", "head_lr", "0.1"},
    {"fb100", "mario", "", "head_epochs", "100"},
    {"fb100", "mario", "", "train.epochs", "200"},
    {"elliptic", "mario", "", "gamma", "0.2"},
    {"elliptic", "mario", "", "prototype_lr", "0.001"},
    {"elliptic", "mario", "", "pf1", "0.2"},
    {"elliptic", "mario", "", "pf2", "0.3"},
    {"elliptic", "mario", "", "pe1", "0.2"},
    {"elliptic", "mario", "", "pe2", "0.3"},
    {"elliptic", "mario", "", "last_relu", "false"},
    {"elliptic", "mario", "", "head_lr", "0.1"},
    {"elliptic", "mario", "", "head_epochs", "100"},
    {"elliptic", "mario", "", "train.epochs", "200"},
    {"fb100", "mario", "", "ad_aug", "false"},
};

// The same for every method with training domains from a DomainProvider (it has the option
// `domains`): the settings of EERM, which edits the copies of a single training graph.
struct DomainSuggestion {
  const char* dataset;
  const char* key;
  const char* value;
};

constexpr DomainSuggestion kDomainSuggestions[] = {
    {"cora", "views", "10"},
    {"cora", "eerm_lr", "0.005"},
    {"cora", "editor_lr", "0.001"},
    {"cora-mix", "views", "10"},
    {"cora-mix", "eerm_lr", "0.005"},
    {"cora-mix", "editor_lr", "0.001"},
    {"photo", "views", "5"},
    {"twitch", "edits", "5"},
    {"twitch", "eerm_beta", "3"},
    {"twitch", "editor_lr", "0.001"},
    {"arxiv", "views", "5"},
    {"arxiv", "eerm_lr", "0.005"},
    {"arxiv", "eerm_beta", "0.5"},
    {"arxiv", "editor_lr", "0.01"},
    {"arxiv", "eerm_epochs", "500"},
    {"twitch", "eerm_beta_ramp", "true"},
    {"arxiv", "eerm_inner_steps", "5"},
    {"arxiv", "eerm_weight_decay", "0"},
};

}  // namespace

const std::vector<MethodEntry>& methods() {
  static const std::vector<MethodEntry> table = {
      {"erm",
       {"node"},
       "Empirical risk minimisation on one of six backbones",
       {{"kipf", "GCN with self-loops and symmetric normalisation, 2 layers of 128", {}},
        {"as-coded",
         "The sum convolution of the published code, hidden width 32",
         {{"conv", "sum"}, {"hidden", "32"}}}},
       make_erm},
      {"grm",
       {"node"},
       "Generative Risk Minimization: generates the invariant subgraph it classifies",
       grm_presets(),
       make_grm},
      {"drnn",
       {"node"},
       "Group DRO: training domains are weighted by how badly they are fitted",
       {{"paper",
         "Learning rate 1e-4, weights' step size 0.01, 2000 steps",
         {{"train.epochs", "2000"}, {"train.eval_every", "10"}}},
        {"fast",
         "Learning rate 0.01, 200 steps like the other methods; our choice",
         {{"lr", "0.01"}, {"train.epochs", "200"}}}},
       make_drnn},
      {"mmd",
       {"node"},
       "Maximum mean discrepancy: hidden features of all training domains are made alike",
       {{"paper",
         "Learning rate 1e-4, gamma 1, 50 support nodes, 2000 steps",
         {{"train.epochs", "2000"}, {"train.eval_every", "10"}}},
        {"fast",
         "Learning rate 0.01, 200 steps like the other methods; our choice",
         {{"lr", "0.01"}, {"train.epochs", "200"}}}},
       make_mmd},
      {"arm",
       {"node"},
       "ARM-CML: a context of some unlabelled nodes of a graph adapts its prediction",
       {{"paper",
         "Learning rate 1e-4, 3 context channels, 50 support nodes, up to 2000 steps",
         {{"train.epochs", "100"}}},
        {"fast",
         "Learning rate 0.01, up to 400 steps; our choice",
         {{"lr", "0.01"}, {"train.epochs", "20"}}}},
       make_arm},
      {"eerm",
       {"node"},
       "EERM: graph editors look for environments, risks are made equal over them",
       {{"as-published", "Editors drawn from their own law, persistent, trained first", {}},
        {"as-coded",
         "The released code: sum convolution, width 32, transposed law of the editors",
         {{"mode", "as_coded"},
          {"editor_init", "uniform_each_epoch"},
          {"conv", "sum"},
          {"hidden", "32"}}},
        {"random", "Uniformly random edits, no editors", {{"mode", "random"}}}},
       make_eerm},
      {"isgib",
       {"node"},
       "IS-GIB: individual and structural information bottlenecks on hidden features",
       {{"paper", "The authors' weights and learning rate on a 2-layer GCN, 200 steps", {}}},
       make_isgib},
      {"lisa",
       {"node"},
       "LiSA: learned subgraphs that keep the label serve as training domains",
       {{"paper",
         "The authors' setting for Twitch, 100 epochs with their early stop",
         {{"dropout", "0.5"},
          {"train.epochs", "100"},
          {"train.stop", "below_mean"},
          {"train.patience", "10"},
          {"train.warm_up", "20"}}}},
       make_lisa},
      {"mario",
       {"node"},
       "MARIO: contrastive pre-training with a penalty inside clusters, and a linear head",
       {{"paper",
         "The authors' setting for GOODCora (word, covariate), width 128, 150 epochs",
         {{"train.epochs", "150"}, {"train.eval_every", "10"}}}},
       make_mario},
  };
  return table;
}

const MethodEntry& find_method(const std::string& name) {
  std::vector<std::string> known;
  for (const MethodEntry& entry : methods()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  fail(ErrorKind::config, "'{}' is not a method{}; 'grm methods' lists them", name,
       did_you_mean(name, known));
}

MethodChoice::MethodChoice(const std::string& name, const std::string& preset,
                           const std::string& dataset)
    : entry_(find_method(name)),
      preset_(preset.empty() ? entry_.presets.front().name : preset),
      recipe_(entry_.make()) {
  recipe_->declare(options_);
  const Preset* chosen = nullptr;
  std::vector<std::string> known;
  for (const Preset& candidate : entry_.presets) {
    if (candidate.name == preset_) chosen = &candidate;
    known.push_back(candidate.name);
  }
  if (!chosen) {
    std::string names;
    for (const std::string& word : known) names += (names.empty() ? "" : ", ") + word;
    fail(ErrorKind::config, "'{}' is not a preset of {}{}; it has: {}", preset_, name,
         did_you_mean(preset_, known), names);
  }
  const auto apply = [&](const std::string& key, const std::string& value) {
    if (key.rfind("train.", 0) == 0) {
      train_values_.emplace_back(key.substr(6), value);
    } else {
      options_.set("method", key, value);
    }
  };
  for (const auto& [key, value] : chosen->values) apply(key, value);
  const std::vector<Option>& declared = options_.options();
  if (std::any_of(declared.begin(), declared.end(),
                  [](const Option& option) { return option.key == "domains"; })) {
    for (const DomainSuggestion& s : kDomainSuggestions) {
      if (dataset == s.dataset) apply(s.key, s.value);
    }
  }
  for (const Suggestion& s : kSuggestions) {
    if (dataset == s.dataset && name == s.method && (!*s.preset || preset_ == s.preset)) {
      apply(s.key, s.value);
    }
  }
}

}  // namespace grm
