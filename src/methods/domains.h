#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grm/methods/method.h"
#include "methods/backbone_cost.h"
#include "methods/backbone_method.h"

namespace grm {

enum class DomainSource { automatic, natural, eerm_frozen, eerm_online, random };
GRM_WORDS(DomainSource, "auto", "natural", "eerm_frozen", "eerm_online", "random")

/// Where the training domains of a method that needs several of them come from.
struct DomainOptions {
  DomainSource domains = DomainSource::automatic;
  int64_t views = 3;             // K edited graphs per training graph
  int64_t edits = 1;             // s flips per node and view
  bool include_original = true;  // the unedited graph is a domain too
  int64_t eerm_epochs = 200;     // eerm_frozen: epochs of the EERM run whose editors are kept
  double eerm_lr = 0.01;         // eerm_frozen: learning rate of that run's classifier
  double eerm_beta = 1.0;        // eerm_frozen: weight of its mean loss
  double editor_lr = 0.005;      // eerm_frozen, eerm_online
  bool eerm_beta_ramp = false;   // eerm_frozen: its beta grows to the tenfold
  int64_t eerm_inner_steps = 1;  // eerm_frozen: its editor steps per epoch
  double eerm_weight_decay = 1e-3;
  int64_t editor_memory_mib = 512;
  void declare(OptionList& list);
  /// Where they come from with this many training graphs; never automatic.
  DomainSource source(size_t training_graphs) const;
  /// Domains made of each training graph.
  double copies(size_t training_graphs) const;
  /// A pass over all of them in one step, and the editors that make them.
  Held held(const nn::BackboneOptions& backbone, const RunShape& run) const;
  /// Smaller editors and fewer views, in the order of all savings.
  std::vector<Saving> savings() const;
};

/// The options of a method on one backbone that wants several domains.
struct ByDomainsOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser{Optimiser::adam, 1e-4, 0.0};
  DomainOptions domains;

  std::optional<MemoryUses> memory(const RunShape& run) const {
    return backbone_memory(backbone, on_samples(run, nn::hops(backbone)),
                           domains.held(backbone, run), "editors");
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    return backbone_savings(backbone, domains.savings());
  }
  bool takes_batches() const { return nn::hops(backbone).has_value(); }
  bool reads_parts() const { return takes_batches() && domains.domains == DomainSource::natural; }
};

/// Training domains from a TrainView (specification of the node baselines, section 0):
///   natural      the training graphs;
///   eerm_frozen  EERM is trained once, with the run's own seed; the editors of its epoch with the
///                best validation score draw one graph each, and these stay (in the disk cache
///                too: methods with the same seed, backbone and options share one EERM run);
///   eerm_online  editors are trained beside the method, rewarded by the variance of its domain
///                losses, and redraw the graphs in every epoch;
///   random       K graphs with s uniformly random flips per node, drawn once;
///   auto         natural for several training graphs, else eerm_frozen.
/// Edited domains share features and labels with their graph; only the edges differ.
class DomainProvider {
 public:
  DomainProvider(const DomainOptions& options, const nn::BackboneOptions& backbone,
                 const TrainView& view, const Rng& rng);
  ~DomainProvider();

  /// The domains of an epoch. The first call may take long: it is where eerm_frozen trains.
  const std::vector<Domain>& domains(int64_t epoch);
  /// Tells the method's loss on each of those domains; eerm_online learns from the first one told
  /// in an epoch.
  void feedback(int64_t epoch, const std::vector<double>& losses);

  std::map<std::string, torch::Tensor> training_state() const;
  void restore_training_state(const std::map<std::string, torch::Tensor>& state);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace grm
