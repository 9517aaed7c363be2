#include "grm/methods/grm/options.h"

#include <algorithm>

#include "grm/core/error.h"

namespace grm {

void GrmOptions::declare(OptionList& list) {
  list.choice("scope", scope, {"ego", "whole"},
              "what is classified: the ego-net of each target node (paper), or the whole domain "
              "graph at once");
  list.add("fanout", fanout, {0, 10000},
           "neighbours drawn per hop for an ego-net, without replacement");
  list.add("batch", batch, {1, 1e9}, "target nodes per training domain and optimiser step (ego)");
  list.add("steps", steps, {0, 1e6},
           "optimiser steps per epoch (ego); 0: as many as visit every labelled node once");
  list.choice("encoder_input", encoder_input, {"concat", "raw", "centred"},
              "node and domain representations concatenated (paper, settings), the features "
              "(paper, Eq. 4), or the features minus their domain mean");
  declare_encoder(list, {"gcn2", "gcn1", "mlp", "linear"});
  declare_decoder(list);
  list.choice("readout", readout, {"centre", "mean"},
              "an ego-net's logits: those of its target node, or the mean over its nodes");
  declare_losses(list);
  list.choice("influence", influence, {"auto", "exact", "sampled", "local"},
              "V_i^D: all of it, a sample of it, a sample of what lies within two hops (found in "
              "each step: for graphs that no step may touch as a whole), or by itself exact where "
              "it fits the budget and local above 100,000 nodes");
  declare_influence(list);
  list.add("influence_members", influence_members, {1, 1e6}, "sampled: members kept per node");
  list.add("influence_neighbours", influence_neighbours, {1, 1e6},
           "sampled: neighbours that estimate the two means");
  list.add("invariance_nodes", invariance_nodes, {0, 10000},
           "nodes of each ego-net that enter L_d, drawn anew in each step; 0: all of them");
  list.add("influence_budget_mib", influence_budget_mib, {1, 1e9},
           "memory that exact sets of one graph may take under influence = auto");
  declare_optimiser(list);
}

void GrmOptions::declare_graph_level(OptionList& list) {
  list.add("batch", batch, {1, 1e9}, "graphs per optimiser step");
  list.choice("encoder_input", encoder_input, {"concat", "raw"},
              "node and domain representations concatenated (paper, settings), or the features "
              "(paper, Eq. 4)");
  declare_encoder(list, {"gcn2", "gcn1", "mlp", "linear", "gin"});
  list.add("gin_layers", gin_layers, {1, 64}, "encoder = gin: layers");
  list.add("gin_hidden", gin_hidden, {1, 65536}, "encoder = gin: width of its layers");
  list.add("gin_virtual_node", gin_virtual_node, "encoder = gin: a virtual node for each graph");
  declare_decoder(list);
  declare_losses(list);
  declare_influence(list);
  declare_optimiser(list);
}

void GrmOptions::declare_encoder(OptionList& list, const std::vector<std::string>& kinds) {
  list.choice("encoder", encoder, kinds,
              kinds.back() == "gin"
                  ? "two propagating layers (paper), one, none, a single linear map, or a GIN that "
                    "reads edge features"
                  : "two propagating layers (paper), one, none, or a single linear map");
  list.add("encoder_norm", encoder_norm, "batch normalisation before the encoder's ReLU");
  list.add("log_sigma_bias", log_sigma_bias, {-10, 4},
           "added to log sigma; -3 starts almost deterministic");
}

void GrmOptions::declare_decoder(OptionList& list) {
  list.add("latent", latent, {1, 65536}, "width d_z of the latent variable");
  list.add("decoder_width", decoder_width, {0, 1e6},
           "width of the generated node features; 0: that of the input features (literal)");
  list.add("edge_width", edge_width, {1, 65536}, "width of the edge decoder f_e");
  list.choice("edge_support", edge_support, {"all", "observed"},
              "generate edges over all ordered pairs of G (paper), or over observed pairs and "
              "self-pairs");
  list.choice("conv", conv, {"kipf", "sum"},
              "graph convolution of every GNN: self-loops and symmetric normalisation, or the "
              "plain sum of the published code");
  list.add("hidden", hidden, {1, 65536}, "hidden width of the classifier and of the input GCNs");
  list.add("dropout", dropout, {0, 0.99}, "dropout after the first layer of each GCN");
  list.choice("skip", skip, {"none", "latent"},
              "what a node's logits get besides the classifier's (paper: nothing): a linear map of "
              "its own z, past the generated graph");
}

void GrmOptions::declare_losses(OptionList& list) {
  list.add("alpha", alpha, {0, 1e6}, "weight of the regularisation loss L_r");
  list.add("beta", beta, {0, 1e6}, "weight of the invariance loss L_d");
  list.add("theta", theta, {1e-6, 1 - 1e-6}, "prior probability of a generated edge");
  list.choice("pair_reduction", pair_reduction, {"mean", "sum"},
              "edge KL of a graph: mean over its pairs, or their sum (literal)");
  list.choice("latent_reduction", latent_reduction, {"sum", "mean"},
              "latent KL of a node: sum over dimensions (paper), or their mean");
  list.choice("domain_encoding", domain_encoding, {"pooled", "exact"},
              "h_i from one encoder pass over the domain graph, or from a pass over the subgraph "
              "induced by each V_i^D");
  list.choice("ablation", ablation, {"none", "R", "I", "V"},
              "train without the regularisation loss, the invariance loss, or the sampling");
}

void GrmOptions::declare_influence(OptionList& list) {
  list.add("influence_length", influence_length, {0, 20}, "L*, largest mean path length");
  list.add("influence_paths", influence_paths, {0, 1e9}, "P*, smallest geometric mean of paths");
}

void GrmOptions::declare_optimiser(OptionList& list) {
  list.choice("optimiser", optimiser, {"adam", "adamw"}, "Adam (paper) or AdamW (published code)");
  list.add("lr", lr, {0, 10}, "learning rate");
  list.add("weight_decay", weight_decay, {0, 10}, "weight decay");
  list.add("samples", samples, {0, 10000},
           "seeded passes averaged when predicting; 0: one pass with z = mu");
}

void GrmOptions::check() const {
  if (scope == "whole" && edge_support == "all") {
    fail(ErrorKind::config,
         "method.scope = whole needs method.edge_support = observed: all pairs of a domain graph "
         "would be n^2 generated edges");
  }
  if (influence == "local" && (concat() || scope == "whole")) {
    fail(ErrorKind::config,
         "method.influence = local needs method.scope = ego and method.encoder_input = raw or "
         "centred: concatenated inputs and scope = whole read the whole domain graph in each step");
  }
  if (encoder == "gin" && domain_encoding == "exact") {
    fail(ErrorKind::config,
         "method.encoder = gin encodes whole graphs; method.domain_encoding = exact needs an "
         "encoder of one or two layers (gcn2, gcn1)");
  }
  if (fanout.empty() && scope == "ego") {
    fail(ErrorKind::config, "method.fanout is empty; give one number per hop, as in [20, 0]");
  }
}

GrmOptions graph_level_options() {
  GrmOptions options;
  options.batch = 32;
  options.readout = "mean";
  return options;
}

namespace {

// A preset with some values changed or added.
Preset refined(Preset preset, const char* name, const char* summary,
               const std::vector<std::pair<std::string, std::string>>& changes) {
  preset.name = name;
  preset.summary = summary;
  for (const auto& [key, value] : changes) {
    const auto same = std::find_if(preset.values.begin(), preset.values.end(),
                                   [&, k = key](const auto& old) { return old.first == k; });
    if (same == preset.values.end()) {
      preset.values.emplace_back(key, value);
    } else {
      same->second = value;
    }
  }
  return preset;
}

}  // namespace

std::vector<Preset> grm_graph_presets() {
  const Preset gin = {
      "gin",
      "Ours: a GIN encodes raw node and edge features, weights are generated on observed edges",
      {{"encoder_input", "raw"},
       {"encoder", "gin"},
       {"log_sigma_bias", "-3"},
       {"edge_support", "observed"},
       {"latent_reduction", "mean"},
       {"beta", "0.01"},
       {"lr", "0.001"},
       {"weight_decay", "0"},
       {"train.epochs", "400"},
       {"train.patience", "25"}}};
  return {
      {"paper",
       "Settings of the paper: concatenated inputs, 2-layer GCN encoder, all pairs of each graph",
       {{"train.epochs", "400"}, {"train.patience", "25"}}},
      {"paper-raw",
       "The paper's Eq. 4: the encoder reads the features themselves",
       {{"encoder_input", "raw"},
        {"lr", "0.001"},
        {"train.epochs", "400"},
        {"train.patience", "25"}}},
      gin,
      refined(gin, "best",
              "`gin` with half the latent width and a skip from z to the logits, as `best` at node "
              "level",
              {{"latent", "64"}, {"skip", "latent"}}),
  };
}

std::vector<Preset> grm_presets() {
  const Preset centred = {"centred",
                          "Domain-centred features, linear encoder, whole graph, observed edges",
                          {{"encoder_input", "centred"},
                           {"encoder", "linear"},
                           {"log_sigma_bias", "-3"},
                           {"scope", "whole"},
                           {"edge_support", "observed"},
                           {"latent_reduction", "mean"},
                           {"beta", "0.01"},
                           {"lr", "0.003"},
                           {"train.eval_every", "5"}}};
  return {
      {"paper",
       "Settings of the paper: concatenated inputs, 2-layer GCN encoder, ego-nets, all pairs",
       {{"train.eval_every", "10"}}},
      {"paper-raw",
       "The paper's Eq. 4: the encoder reads the features themselves",
       {{"encoder_input", "raw"}, {"lr", "0.001"}, {"train.eval_every", "10"}}},
      centred,
      refined(centred, "best",
              "Centred, with half the latent width and a skip from z to the logits; our choice, by "
              "validation",
              {{"latent", "64"},
               {"skip", "latent"},
               {"influence", "sampled"},
               {"train.eval_every", "2"}}),
  };
}

}  // namespace grm
