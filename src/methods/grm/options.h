#pragma once

#include <string>
#include <vector>

#include "graph/influence.h"
#include "grm/core/options.h"
#include "methods/backbone_method.h"
#include "nn/graph_encoder.h"

namespace grm {

enum class Scope { ego, whole };
GRM_WORDS(Scope, "ego", "whole")
enum class EncoderReads { concat, raw, centred };
GRM_WORDS(EncoderReads, "concat", "raw", "centred")
enum class EncoderKind { gcn2, gcn1, mlp, linear, gin, own };
GRM_WORDS(EncoderKind, "gcn2", "gcn1", "mlp", "linear", "gin", "own")
/// Two layers of ours, or a network of the caller's.
enum class ClassifierKind { gcn, own };
GRM_WORDS(ClassifierKind, "gcn", "own")
enum class EdgeSupport { all, observed };
GRM_WORDS(EdgeSupport, "all", "observed")
enum class Readout { centre, mean };
GRM_WORDS(Readout, "centre", "mean")
enum class Skip { none, latent };
GRM_WORDS(Skip, "none", "latent")
enum class Reduction { mean, sum };
GRM_WORDS(Reduction, "mean", "sum")
enum class DomainPass { pooled, exact };
GRM_WORDS(DomainPass, "pooled", "exact")
/// Whether the generator decides about nodes, too: a gate p_i in (0, 1) for each.
enum class Presence { none, gate };
GRM_WORDS(Presence, "none", "gate")
/// What is left out: the regularisation loss, the invariance loss, the sampling, or the presence of
/// nodes.
enum class Ablation { none, regularisation, invariance, sampling, presence };
GRM_WORDS(Ablation, "none", "R", "I", "V", "P")
enum class InfluenceSearch { automatic, exact, sampled, local };
GRM_WORDS(InfluenceSearch, "auto", "exact", "sampled", "local")

/// Every choice of GRM that the paper states, leaves open, or that we add. Defaults: the paper.
struct GrmOptions : MethodOptions {
  // What is classified.
  Scope scope = Scope::ego;
  std::vector<int64_t> fanout = {20, 0};
  int64_t batch = 500;
  int64_t steps = 1;
  // Generator.
  EncoderReads encoder_input = EncoderReads::concat;
  EncoderKind encoder = EncoderKind::gcn2;
  bool encoder_norm = false;
  double log_sigma_bias = 0.0;
  int64_t gin_layers = 3;  // graph level: encoder = gin
  int64_t gin_hidden = 128;
  bool gin_virtual_node = false;
  int64_t latent = 128;
  int64_t decoder_width = 128;
  int64_t edge_width = 128;
  EdgeSupport edge_support = EdgeSupport::all;
  Presence presence = Presence::none;
  // Classifier.
  ClassifierKind classifier = ClassifierKind::gcn;
  nn::Conv conv = nn::Conv::kipf;
  int64_t hidden = 128;
  double dropout = 0.3;
  double input_dropout = 0.0;
  bool batch_norm = true;
  Readout readout = Readout::centre;
  Skip skip = Skip::none;
  nn::Pooling pooling = nn::Pooling::mean;  // graph level
  // Losses.
  double alpha = 1e-3;
  double beta = 0.1;
  double theta = 0.5;
  double presence_weight = 0.01;
  double presence_prior = 0.3;
  int64_t presence_warm_up = 0;
  Reduction pair_reduction = Reduction::mean;
  Reduction latent_reduction = Reduction::sum;
  DomainPass domain_encoding = DomainPass::pooled;
  Ablation ablation = Ablation::none;
  // Influential nodes.
  InfluenceSearch influence = InfluenceSearch::automatic;
  double influence_length = 3.0;
  double influence_paths = 1.5;
  int64_t influence_members = 64;
  int64_t influence_neighbours = 8;
  int64_t influence_budget_mib = 1024;
  int64_t invariance_nodes = 0;
  // Optimiser and inference.
  Optimiser optimiser = Optimiser::adam;
  double lr = 0.01;
  double weight_decay = 1e-3;
  int64_t samples = 5;

  void declare(OptionList& list);
  void check() const;
  EpochShape epoch(const std::vector<DomainShape>& training) const;
  std::string undivided() const {
    return scope == Scope::whole ? "with method.scope = whole a step sees whole domains, so there "
                                   "is no batch to cut"
                                 : "";
  }
  std::optional<MemoryUses> memory(const RunShape& run) const;
  std::optional<WorkCount> work(const RunShape& run) const;
  std::vector<Saving> savings(const RunShape& run) const;

  bool takes_batches() const { return true; }
  /// What train.batch and train.fanout ask for, in options of its own: ego-nets of that many targets,
  /// as many steps as visit every one of them.
  GrmOptions with(const Sampling& sampling) const;

  double effective_alpha() const { return ablation == Ablation::regularisation ? 0.0 : alpha; }
  double effective_beta() const { return ablation == Ablation::invariance ? 0.0 : beta; }
  bool stochastic() const { return ablation != Ablation::sampling; }
  /// Whether there are generated nodes.
  bool gates() const { return presence == Presence::gate && ablation != Ablation::presence; }
  /// The weight gamma of KL_p in an epoch (1, 2, ...): it grows from 0 while nodes warm up.
  double gamma(int64_t epoch) const;
  /// V_i^D is needed by the concatenated encoder input and by the invariance loss.
  bool concat() const { return encoder_input == EncoderReads::concat; }
  /// Whether any layer before the generated graph needs the operator of the observed edges.
  bool propagates() const {
    return concat() || encoder == EncoderKind::gcn2 || encoder == EncoderKind::gcn1;
  }
  /// Whether a node's posterior is the same in every G: no layer of the encoder propagates, or it
  /// is a network of the user's own, which reads the domain graph once.
  bool local_encoder() const {
    return encoder == EncoderKind::mlp || encoder == EncoderKind::linear || own_encoder();
  }
  bool own_encoder() const { return encoder == EncoderKind::own; }
  bool own_classifier() const { return classifier == ClassifierKind::own; }
  /// Steps and predictions with a network of the user's own are not recorded.
  bool own_network() const { return own_encoder() || own_classifier(); }

  /// The GIN before the heads of encoder = gin.
  nn::GraphEncoderOptions gin() const;

 protected:
  /// Target nodes of a domain in all steps of an epoch.
  double targets(const DomainShape& domain, int64_t steps) const;
  void declare_encoder(OptionList& list, const std::vector<EncoderKind>& kinds);
  void declare_decoder(OptionList& list);
  void declare_presence(OptionList& list);
  void declare_losses(OptionList& list);
  void declare_influence(OptionList& list);
  void declare_optimiser(OptionList& list);
};

/// On sets of graphs: batches of 32 graphs, the node logits are pooled to a graph's. What concerns
/// ego-nets and large domain graphs is left out.
struct GraphGrmOptions : GrmOptions {
  GraphGrmOptions();
  void declare(OptionList& list);
  EpochShape epoch(const std::vector<DomainShape>& training) const;
  std::optional<MemoryUses> memory(const RunShape& run) const;
  std::optional<WorkCount> work(const RunShape& run) const;
  std::vector<Saving> savings(const RunShape& run) const;
  bool takes_batches() const { return false; }
};

}  // namespace grm
