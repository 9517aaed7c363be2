#include <fmt/ranges.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/data/dataset.h"
#include "methods/presets.h"

namespace grm {

// A row declares the function of the method's own file that makes its recipe.
#define GRM_MAKER(make)                          \
  [] {                                           \
    extern std::unique_ptr<MethodRecipe> make(); \
    return make();                               \
  }

const std::vector<MethodEntry>& methods() {
  static const std::vector<MethodEntry> table = [] {
    std::vector<MethodEntry> rows = {
        {"erm", Level::node, "Empirical risk minimisation on one of six backbones",
         GRM_MAKER(make_erm)},
        {"erm", Level::graph,
         "Empirical risk minimisation on whole graphs, with DIR's predictor as backbone",
         GRM_MAKER(make_graph_erm)},
        {"trivial", Level::graph,
         "Logistic regression on the size of a graph or the mean of its node features",
         GRM_MAKER(make_trivial)},
        {"dir", Level::graph,
         "DIR: the prediction from a rationale is stable when the rest of the graph is exchanged",
         GRM_MAKER(make_dir)},
        {"gil", Level::graph,
         "GIL: environments from the variant subgraph, gradients of their risks made equal",
         GRM_MAKER(make_gil)},
        {"ciga", Level::graph,
         "CIGA: causal subgraphs of one class are drawn together, the rest keeps what is left",
         GRM_MAKER(make_ciga)},
        {"gala", Level::graph,
         "GALA: CIGA's contrast with pairs and copies chosen by an environment assistant",
         GRM_MAKER(make_gala)},
        {"gsat", Level::graph, "GSAT: attention on edges is noisy, and pays for what it knows",
         GRM_MAKER(make_gsat)},
        {"leci", Level::graph,
         "LECI: the rest of a graph tells nothing of the label, the part nothing of the "
         "environment",
         GRM_MAKER(make_leci)},
        {"grm", Level::node,
         "Generative Risk Minimization: generates the invariant subgraph it classifies",
         GRM_MAKER(make_grm)},
        {"grm", Level::graph, "Generative Risk Minimization on whole graphs, each its own domain",
         GRM_MAKER(make_graph_grm)},
        {"drnn", Level::node,
         "Group DRO: training domains are weighted by how badly they are fitted",
         GRM_MAKER(make_drnn)},
        {"mmd", Level::node,
         "Maximum mean discrepancy: hidden features of all training domains are made alike",
         GRM_MAKER(make_mmd)},
        {"irm", Level::node,
         "IRM: one factor of the logits is best in all training domains at once",
         GRM_MAKER(make_irm)},
        {"irm", Level::graph,
         "IRM: one factor of the logits is best in all environments of a batch at once",
         GRM_MAKER(make_graph_irm)},
        {"vrex", Level::node, "V-REx: the risks of the training domains are made equal",
         GRM_MAKER(make_vrex)},
        {"vrex", Level::graph, "V-REx: the risks of the environments of a batch are made equal",
         GRM_MAKER(make_graph_vrex)},
        {"groupdro", Level::node,
         "Group DRO as GOOD has it: training domains are weighted by this step's losses alone",
         GRM_MAKER(make_groupdro)},
        {"groupdro", Level::graph,
         "Group DRO as GOOD has it: environments are weighted by their losses in a batch",
         GRM_MAKER(make_graph_groupdro)},
        {"coral", Level::node,
         "Deep CORAL: hidden features of all training domains have the same covariance",
         GRM_MAKER(make_coral)},
        {"coral", Level::graph,
         "Deep CORAL: rows of graphs have the same covariance in all environments",
         GRM_MAKER(make_graph_coral)},
        {"dann", Level::node,
         "DANN: an adversary finds nothing in hidden features that tells the training domain",
         GRM_MAKER(make_dann)},
        {"dann", Level::graph,
         "DANN: an adversary finds nothing in the row of a graph that tells its environment",
         GRM_MAKER(make_graph_dann)},
        {"mixup", Level::node, "Mixup: a two-branch GCN is trained on nodes in between two nodes",
         GRM_MAKER(make_mixup)},
        {"mixup", Level::graph, "Mixup: the head is trained on rows in between two graphs' rows",
         GRM_MAKER(make_graph_mixup)},
        {"srgnn", Level::node,
         "SRGNN: labelled nodes are weighted to look like those without a label",
         GRM_MAKER(make_srgnn)},
        {"arm", Level::node,
         "ARM-CML: a context of some unlabelled nodes of a graph adapts its prediction",
         GRM_MAKER(make_arm)},
        {"eerm", Level::node,
         "EERM: graph editors look for environments, risks are made equal over them",
         GRM_MAKER(make_eerm)},
        {"isgib", Level::node,
         "IS-GIB: individual and structural information bottlenecks on hidden features",
         GRM_MAKER(make_isgib)},
        {"lisa", Level::node,
         "LiSA: learned subgraphs that keep the label serve as training domains",
         GRM_MAKER(make_lisa)},
        {"mario", Level::node,
         "MARIO: contrastive pre-training with a penalty inside clusters, and a linear head",
         GRM_MAKER(make_mario)},
    };
    for (MethodEntry& row : rows) row.presets = presets_of(row.name, row.level);
    return rows;
  }();
  return table;
}

const MethodEntry& find_method(const std::string& name, Level level) {
  std::vector<std::string> known;
  const MethodEntry* other = nullptr;
  for (const MethodEntry& entry : methods()) {
    if (entry.name == name && entry.level == level) return entry;
    if (entry.name == name) other = &entry;
    if (entry.level == level) known.push_back(entry.name);
  }
  if (other) {
    fail(ErrorKind::config,
         "the method '{}' is for {} level, but the dataset is {} level; 'grm "
         "methods' lists them",
         name, to_string(other->level), to_string(level));
  }
  fail(ErrorKind::config, "'{}' is not a method{}; 'grm methods' lists them", name,
       did_you_mean(name, known));
}

namespace {

// Without a dataset: the level that has a method of this name.
Level any_level(const std::string& name) {
  for (const MethodEntry& entry : methods()) {
    if (entry.name == name) return entry.level;
  }
  return Level::node;
}

}  // namespace

MethodChoice::MethodChoice(const MethodEntry& entry) : entry_(&entry), recipe_(entry.make()) {
  recipe_->declare(options_);
}

MethodChoice::MethodChoice(const MethodChoice& other) : MethodChoice(other.entry()) {
  preset_ = other.preset_;
  train_values_ = other.train_values_;
  options_.take_values(other.options_);
}

MethodChoice::MethodChoice(const std::string& name, const std::string& preset,
                           const std::string& dataset)
    : MethodChoice(
          find_method(name, dataset.empty() ? any_level(name) : find_dataset(dataset).level)) {
  const std::vector<Preset>& presets = entry_->presets;
  preset_ = preset.empty() ? presets.front().name : preset;
  const auto chosen = std::find_if(presets.begin(), presets.end(),
                                   [this](const Preset& each) { return each.name == preset_; });
  if (chosen == presets.end()) {
    std::vector<std::string> known;
    for (const Preset& each : presets) known.push_back(each.name);
    fail(ErrorKind::config, "'{}' is not a preset of {}{}; it has: {}", preset_, name,
         did_you_mean(preset_, known), fmt::join(known, ", "));
  }
  static const std::string kTrain = "train.";
  for (const PresetValues& values :
       {chosen->values, suggested_values(dataset, name, preset_, options_)}) {
    for (const auto& [key, value] : values) {
      if (key.rfind(kTrain, 0) == 0) {
        train_values_.emplace_back(key.substr(kTrain.size()), value);
      } else {
        options_.set("method", key, value);
      }
    }
  }
}

}  // namespace grm
