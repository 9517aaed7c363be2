#include <algorithm>

#include "grm/core/error.h"
#include "grm/data/dataset.h"
#include "grm/methods/grm/options.h"
#include "grm/methods/table.h"
#include "suggestions.h"

namespace grm {
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
      {"erm",
       {"graph"},
       "Empirical risk minimisation on whole graphs, with DIR's predictor as backbone",
       {{"dir-backbone",
         "DIR's predictor for the dataset, fed with the raw features; Adam 1e-3, batches of 32",
         {{"train.epochs", "400"}, {"train.patience", "25"}}}},
       make_graph_erm},
      {"trivial",
       {"graph"},
       "Logistic regression on the size of a graph or the mean of its node features",
       {{"size",
         "Numbers of nodes and edges",
         {{"reads", "size"}, {"train.epochs", "200"}, {"train.eval_every", "200"}}},
        {"mean-features",
         "The mean of the node features, without the edges",
         {{"reads", "mean_features"}, {"train.epochs", "200"}, {"train.eval_every", "200"}}}},
       make_trivial},
      {"dir",
       {"graph"},
       "DIR: the prediction from a rationale is stable when the rest of the graph is exchanged",
       {{"official",
         "The authors' setting for the dataset (sst2-tree: transferred from Graph-SST2)",
         {{"train.epochs", "400"}, {"train.patience", "15"}}}},
       make_dir},
      {"gil",
       {"graph"},
       "GIL: environments from the variant subgraph, gradients of their risks made equal",
       {{"suggested",
         "DIR's backbone and share for the dataset, 3 environments, lambda 1e-3; our choice",
         {{"train.epochs", "400"}, {"train.patience", "25"}}}},
       make_gil},
      {"ciga",
       {"graph"},
       "CIGA: causal subgraphs of one class are drawn together, the rest keeps what is left",
       {{"v1",
         "Contrast alone, beta = 0; official on SP-Motif, else suggested values of the dataset",
         {{"beta", "0"}, {"train.epochs", "400"}, {"train.patience", "25"}}},
        {"v2",
         "Contrast and hinge; official on SP-Motif, else suggested values of the dataset",
         {{"beta", "2"}, {"train.epochs", "400"}, {"train.patience", "25"}}}},
       make_ciga},
      {"gala",
       {"graph"},
       "GALA: CIGA's contrast with pairs and copies chosen by an environment assistant",
       {{"two-piece",
         "The authors' run on two-piece graphs {0.7, 0.9}, or values of the dataset",
         {{"train.epochs", "400"}, {"train.patience", "25"}}}},
       make_gala},
      {"grm",
       {"node"},
       "Generative Risk Minimization: generates the invariant subgraph it classifies",
       grm_presets(),
       make_grm},
      {"grm",
       {"graph"},
       "Generative Risk Minimization on whole graphs, each its own domain",
       grm_graph_presets(),
       make_graph_grm},
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

const MethodEntry& find_method(const std::string& name, const std::string& level) {
  std::vector<std::string> known;
  const MethodEntry* other = nullptr;
  for (const MethodEntry& entry : methods()) {
    const bool fits =
        std::find(entry.levels.begin(), entry.levels.end(), level) != entry.levels.end();
    if (entry.name == name && fits) return entry;
    if (entry.name == name) other = &entry;
    if (fits) known.push_back(entry.name);
  }
  if (other) {
    fail(ErrorKind::config,
         "the method '{}' is for {} level, but the dataset is {} level; 'grm "
         "methods' lists them",
         name, other->levels.front(), level);
  }
  fail(ErrorKind::config, "'{}' is not a method{}; 'grm methods' lists them", name,
       did_you_mean(name, known));
}

namespace {

// Without a dataset: the level that has a method of this name.
std::string any_level(const std::string& name) {
  for (const MethodEntry& entry : methods()) {
    if (entry.name == name) return entry.levels.front();
  }
  return "node";
}

}  // namespace

MethodChoice::MethodChoice(const std::string& name, const std::string& preset,
                           const std::string& dataset)
    : entry_(find_method(name, dataset.empty() ? any_level(name) : find_dataset(dataset).level)),
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
  const bool domains = std::any_of(declared.begin(), declared.end(),
                                   [](const Option& option) { return option.key == "domains"; });
  for (const auto& [key, value] : suggested_values(dataset, name, preset_, domains)) {
    apply(key, value);
  }
}

}  // namespace grm
