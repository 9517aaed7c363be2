#pragma once

#include <optional>

#include "grm/methods/cost.h"
#include "nn/backbone.h"

// Costs of node-level methods are put together from passes of a backbone over graphs.
namespace grm {

/// What a step holds: how many passes wait for their backward pass at a time, and what else.
struct Held {
  double kept = 0, passing = 0;  // activations
  double topology = 0;           // copies of graphs and their operators
  double besides = 0;            // on the host, all through the run
  /// `times` passes that wait together.
  void add(const PassCost& pass, double times = 1.0);
  /// What waits together with what is held already.
  void together(const Held& other);
  /// What comes after it, in a step of its own.
  void in_turn(const Held& other);
};

/// The run as its steps see it: with train.batch, samples in the place of the training graphs, of
/// sizes as one draw finds them. Otherwise the run as it is.
RunShape on_samples(const RunShape& run, std::optional<int64_t> hops);

/// One pass over every training graph, one graph after the other.
Held one_after_the_other(const nn::BackboneOptions& options, const RunShape& run);

/// The parts of a method whose model is a backbone, or `models` of them. `besides` names what is
/// held on the host.
MemoryUses backbone_memory(const nn::BackboneOptions& options, const RunShape& run,
                           const Held& held, const std::string& besides = "", double models = 1.0);

/// `passes` passes over every training graph.
WorkCount backbone_work(const nn::BackboneOptions& options, const RunShape& run,
                        double passes = 1.0);

/// Heads, hidden width and layers of a backbone, after the savings of the method itself.
std::vector<Saving> backbone_savings(const nn::BackboneOptions& options,
                                     std::vector<Saving> own = {});

}  // namespace grm
