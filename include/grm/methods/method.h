#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grm/core/options.h"
#include "grm/core/rng.h"
#include "grm/data/task.h"
#include "grm/methods/cost.h"
#include "grm/nn/adam.h"
#include "grm/nn/parameters.h"

namespace grm {

struct LossTerm {
  std::string name;
  double value;
};

/// What a method generates in the place of the graph around one item: weights on ordered pairs of
/// nodes, under S samples of its latent variable.
struct GeneratedGraph {
  torch::Tensor nodes;           // [k] int64: ids in the domain graph
  int64_t centre = -1;           // row of the classified node; -1: all of the graph is classified
  torch::Tensor source, target;  // [p] int64: rows of `nodes`
  torch::Tensor samples;         // [S, p] double: the weights under each sample
  torch::Tensor weight, spread;  // [p] double: their mean and standard deviation
  torch::Tensor distance;        // [k] double: || z - h || of each node, mean over the samples
  double prior = 0.0;            // the weight of a pair of which nothing is known
  torch::Tensor presence;        // [S, k] double: how much of each node there is under each sample;
                                 // undefined: the method keeps every node
  double presence_prior = 0.0;   // that of a node of which nothing is known
};

/// A model in training. Epochs, evaluation, selection, checkpoints and logging are the trainer's;
/// whatever a method loops over inside an epoch is its own.
class Method {
 public:
  virtual ~Method() = default;

  /// One epoch (1, 2, ...). All randomness must come from streams named by the epoch, so that
  /// epoch k is the same whether or not the program was restarted before it.
  /// Returns the terms of the loss, averaged over the epoch, "total" first.
  virtual std::vector<LossTerm> train_epoch(int64_t epoch) = 0;

  /// Called before the model is evaluated after an epoch. A method that trains its last layer
  /// separately does it here.
  virtual void prepare_evaluation(int64_t /*epoch*/) {}

  /// Logits [k, classes] of `nodes` (int64 [k]) of a graph, in evaluation mode. Softmax over them
  /// gives the class probabilities. Repeatable: the same model gives the same bits.
  virtual torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) = 0;

  /// Class probabilities [S, k, classes] under each of the S samples that logits() takes the mean
  /// of: nn::log_mean of them is logits(), bit for bit. Undefined for a method that draws nothing
  /// or takes one sample.
  virtual torch::Tensor sampled_probabilities(const Graph& /*graph*/,
                                              const torch::Tensor& /*items*/) {
    return {};
  }

  /// Lets go of what was derived from graphs seen so far and is kept for the next time.
  virtual void forget_graphs() {}

  /// Scores of the edges of some graphs of a set, [edges of those graphs] in the order of
  /// pick_graphs: higher for what the prediction rests on. Undefined if the method has none.
  virtual torch::Tensor edge_scores(const Graph& /*set*/, const torch::Tensor& /*items*/) {
    return {};
  }

  /// The graph that the prediction of one item (a node, or a graph of a set) rests on, drawn as
  /// logits() draws it for this item alone. Nothing if the method generates no graph.
  virtual std::optional<GeneratedGraph> generated(const Graph& /*graph*/, int64_t /*item*/) {
    return std::nullopt;
  }

  /// The model: what is saved, loaded and needed to predict.
  virtual nn::ParameterSet& parameters() = 0;
  virtual std::vector<nn::Adam*> optimisers() = 0;

  /// What else an epoch leaves for the next one (weights of domains, editors of graphs). It is
  /// part of a checkpoint, not of the model.
  virtual std::map<std::string, torch::Tensor> training_state() const { return {}; }
  virtual void restore_training_state(const std::map<std::string, torch::Tensor>& /*state*/) {}
};

/// What a method tells of itself beside its options. The struct of its options derives from this
/// and hides what it knows better.
struct MethodOptions {
  /// Error(config) for values that contradict each other.
  void check() const {}
  /// One full-batch step, unless a method says otherwise.
  EpochShape epoch(const std::vector<DomainShape>& training) const;
  /// What a run holds at its peak beside program and data, meant to be right within a factor of
  /// two. Nothing: nobody knows, so nothing is refused for it.
  std::optional<MemoryUses> memory(const RunShape& /*run*/) const { return std::nullopt; }
  /// The operations of an epoch, where there is a formula for the options.
  std::optional<WorkCount> work(const RunShape& /*run*/) const { return std::nullopt; }
  /// What can be made smaller to save memory; what changes a result least comes first.
  std::vector<Saving> savings(const RunShape& /*run*/) const { return {}; }
  /// Why a step cannot be cut into shards (Sharding), as the end of a sentence; empty where it can.
  std::string undivided() const {
    return "it takes its steps on whole training domains, so there is no batch to cut";
  }
  /// Whether it trains on samples of graphs where train.batch asks for them.
  bool takes_batches() const { return false; }
  /// Whether such a step can be cut into shards, which undivided() does not speak of.
  bool cuts_samples() const { return false; }
  /// Whether its samples and predictions may be of a graph in parts (graph/parted.h).
  bool reads_parts() const { return false; }
};

/// A method ready to be set and built, whatever it is.
class MethodRecipe {
 public:
  virtual ~MethodRecipe() = default;
  virtual void declare(OptionList& list) = 0;
  virtual std::unique_ptr<Method> build(const TrainView& view, const Rng& rng) const = 0;
  virtual void check() const = 0;
  virtual EpochShape epoch(const std::vector<DomainShape>& training) const = 0;
  virtual std::optional<MemoryUses> memory(const RunShape& run) const = 0;
  virtual std::optional<WorkCount> work(const RunShape& run) const = 0;
  virtual std::vector<Saving> savings(const RunShape& run) const = 0;
  virtual std::string undivided() const = 0;
  virtual bool takes_batches() const = 0;
  virtual bool cuts_samples() const = 0;
  virtual bool reads_parts() const = 0;
};

/// The recipe of a method from its options and its class: Options derives from MethodOptions and
/// has declare(OptionList&), M is built from (options, view, rng).
template <class Options, class M>
class SimpleRecipe final : public MethodRecipe {
 public:
  void declare(OptionList& list) override { options_.declare(list); }
  std::unique_ptr<Method> build(const TrainView& view, const Rng& rng) const override {
    check();
    return std::make_unique<M>(options_, view, rng);
  }
  void check() const override { options_.check(); }
  EpochShape epoch(const std::vector<DomainShape>& training) const override {
    return options_.epoch(training);
  }
  std::optional<MemoryUses> memory(const RunShape& run) const override {
    return options_.memory(run);
  }
  std::optional<WorkCount> work(const RunShape& run) const override { return options_.work(run); }
  std::vector<Saving> savings(const RunShape& run) const override { return options_.savings(run); }
  std::string undivided() const override { return options_.undivided(); }
  bool takes_batches() const override { return options_.takes_batches(); }
  bool cuts_samples() const override { return options_.cuts_samples(); }
  bool reads_parts() const override { return options_.reads_parts(); }

 private:
  Options options_;
};

/// Option values in the order in which they are set; "train.x" is an option of the training loop.
using PresetValues = std::vector<std::pair<std::string, std::string>>;

/// A named set of option values.
struct Preset {
  std::string name;
  std::string summary = {};
  PresetValues values = {};
};

struct MethodEntry {
  std::string name;
  Level level;
  std::string summary;
  std::unique_ptr<MethodRecipe> (*make)();
  std::vector<Preset> presets = {};  // from presets.toml; the first one is the default
};

/// The one table of methods.
const std::vector<MethodEntry>& methods();
/// A method may have one entry per level (erm, grm). Error(config) with a suggestion.
const MethodEntry& find_method(const std::string& name, Level level = Level::node);

/// A method chosen by name and preset with its options, ready to be set and built. Values come
/// from the declared defaults, then the preset, then what is suggested for the dataset. A value:
/// a copy has options of its own.
class MethodChoice {
 public:
  explicit MethodChoice(const std::string& name, const std::string& preset = "",
                        const std::string& dataset = "");
  MethodChoice(const MethodChoice& other);
  MethodChoice(MethodChoice&&) = default;
  MethodChoice& operator=(const MethodChoice& other) { return *this = MethodChoice(other); }
  MethodChoice& operator=(MethodChoice&&) = default;
  const MethodEntry& entry() const { return *entry_; }
  const std::string& preset() const { return preset_; }
  OptionList& options() { return options_; }
  const OptionList& options() const { return options_; }
  const MethodRecipe& recipe() const { return *recipe_; }
  /// Options of the training loop that preset and dataset ask for.
  const PresetValues& train_values() const { return train_values_; }
  std::unique_ptr<Method> build(const TrainView& view, const Rng& rng) const {
    return recipe_->build(view, rng);
  }

 private:
  explicit MethodChoice(const MethodEntry& entry);

  const MethodEntry* entry_;
  std::string preset_;
  std::unique_ptr<MethodRecipe> recipe_;
  OptionList options_;  // of the recipe, which stays where it is when a choice is moved
  PresetValues train_values_;
};

}  // namespace grm
