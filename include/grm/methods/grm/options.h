#pragma once

#include <string>
#include <vector>

#include "grm/core/options.h"
#include "grm/graph/influence.h"
#include "grm/methods/method.h"

namespace grm {

/// Every choice of GRM that the paper states, leaves open, or that we add. Defaults: the paper.
struct GrmOptions {
  // What is classified.
  std::string scope = "ego";
  std::vector<int64_t> fanout = {20, 0};
  int64_t batch = 500;
  int64_t steps = 1;
  // Generator.
  std::string encoder_input = "concat";
  std::string encoder = "gcn2";
  bool encoder_norm = false;
  double log_sigma_bias = 0.0;
  int64_t gin_layers = 3;  // graph level: encoder = gin
  int64_t gin_hidden = 128;
  bool gin_virtual_node = false;
  int64_t latent = 128;
  int64_t decoder_width = 128;
  int64_t edge_width = 128;
  std::string edge_support = "all";
  // Classifier.
  std::string conv = "kipf";
  int64_t hidden = 128;
  double dropout = 0.3;
  std::string readout = "centre";
  std::string skip = "none";
  // Losses.
  double alpha = 1e-3;
  double beta = 0.1;
  double theta = 0.5;
  std::string pair_reduction = "mean";
  std::string latent_reduction = "sum";
  std::string domain_encoding = "pooled";
  std::string ablation = "none";
  // Influential nodes.
  std::string influence = "auto";
  double influence_length = 3.0;
  double influence_paths = 1.5;
  int64_t influence_members = 64;
  int64_t influence_neighbours = 8;
  int64_t influence_budget_mib = 1024;
  int64_t invariance_nodes = 0;
  // Optimiser and inference.
  std::string optimiser = "adam";
  double lr = 0.01;
  double weight_decay = 1e-3;
  int64_t samples = 5;

  void declare(OptionList& list);
  /// Graph level: what concerns ego-nets, large domain graphs and the readout is left out.
  void declare_graph_level(OptionList& list);
  /// Error(config) for combinations that contradict each other.
  void check() const;

  double effective_alpha() const { return ablation == "R" ? 0.0 : alpha; }
  double effective_beta() const { return ablation == "I" ? 0.0 : beta; }
  bool stochastic() const { return ablation != "V"; }
  /// V_i^D is needed by the concatenated encoder input and by the invariance loss.
  bool concat() const { return encoder_input == "concat"; }
  /// Whether any layer before the generated graph needs the operator of the observed edges.
  bool propagates() const { return concat() || encoder == "gcn2" || encoder == "gcn1"; }

 private:
  void declare_encoder(OptionList& list, const std::vector<std::string>& kinds);
  void declare_decoder(OptionList& list);
  void declare_losses(OptionList& list);
  void declare_influence(OptionList& list);
  void declare_optimiser(OptionList& list);
};

/// Defaults at graph level: batches of 32 graphs, the mean of the node logits is a graph's.
GrmOptions graph_level_options();

/// Presets of the registry, the paper's first.
std::vector<Preset> grm_presets();
std::vector<Preset> grm_graph_presets();

}  // namespace grm
