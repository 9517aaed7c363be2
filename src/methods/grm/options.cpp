#include "methods/grm/options.h"

#include <algorithm>

#include "grm/core/error.h"
#include "methods/graph/batches.h"

namespace grm {
namespace {

constexpr int64_t kAllNeighbours = 10000;  // the most that method.fanout may ask for

}  // namespace

void GrmOptions::declare(OptionList& list) {
  list.choice("scope", scope,
              "what is classified: the ego-net of each target node (paper), or the whole domain "
              "graph at once");
  list.add("fanout", fanout, {0, 10000},
           "neighbours drawn per hop for an ego-net, without replacement");
  list.add("batch", batch, {1, 1e9}, "target nodes per training domain and optimiser step (ego)");
  list.add("steps", steps, {0, 1e6},
           "optimiser steps per epoch (ego); 0: as many as visit every labelled node once");
  list.choice("encoder_input", encoder_input,
              "node and domain representations concatenated (paper, settings), the features "
              "(paper, Eq. 4), or the features minus their domain mean");
  declare_encoder(list, {EncoderKind::gcn2, EncoderKind::gcn1, EncoderKind::mlp,
                         EncoderKind::linear, EncoderKind::own});
  declare_decoder(list);
  declare_presence(list);
  list.choice("readout", readout,
              "an ego-net's logits: those of its target node, or the mean over its nodes");
  declare_losses(list);
  list.choice("influence", influence,
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

void GraphGrmOptions::declare(OptionList& list) {
  list.add("batch", batch, {1, 1e9}, "graphs per optimiser step");
  list.choice("encoder_input", encoder_input, {EncoderReads::concat, EncoderReads::raw},
              "node and domain representations concatenated (paper, settings), or the features "
              "(paper, Eq. 4)");
  declare_encoder(list, {EncoderKind::gcn2, EncoderKind::gcn1, EncoderKind::mlp,
                         EncoderKind::linear, EncoderKind::gin, EncoderKind::own});
  list.add("gin_layers", gin_layers, {1, 64}, "encoder = gin: layers");
  list.add("gin_hidden", gin_hidden, {1, 65536}, "encoder = gin: width of its layers");
  list.add("gin_virtual_node", gin_virtual_node, "encoder = gin: a virtual node for each graph");
  declare_decoder(list);
  declare_presence(list);
  list.choice("pooling", pooling,
              "how the node logits o_i become a graph's, with presence p_i o_i; weighted: sum p_i "
              "o_i / sum p_i (needs presence)")
      .came_later();
  declare_losses(list);
  declare_influence(list);
  declare_optimiser(list);
}

void GrmOptions::declare_encoder(OptionList& list, const std::vector<EncoderKind>& kinds) {
  list.choice(
      "encoder", encoder, kinds,
      std::count(kinds.begin(), kinds.end(), EncoderKind::gin) > 0
          ? "two propagating layers (paper), one, none, a single linear map, a GIN that reads edge "
            "features, or a network that is handed over, as Python does, of width method.hidden"
          : "two propagating layers (paper), one, none, a single linear map, or a network that "
            "is handed over, as Python does, of width method.hidden");
  list.add("encoder_norm", encoder_norm, "batch normalisation before the encoder's ReLU");
  list.add("log_sigma_bias", log_sigma_bias, {-10, 4},
           "added to log sigma; -3 starts almost deterministic");
}

void GrmOptions::declare_decoder(OptionList& list) {
  list.add("latent", latent, {1, 65536}, "width d_z of the latent variable");
  list.add("decoder_width", decoder_width, {0, 1e6},
           "width of the generated node features; 0: that of the input features (literal)");
  list.add("edge_width", edge_width, {1, 65536}, "width of the edge decoder f_e");
  list.choice("edge_support", edge_support,
              "generate edges over all ordered pairs of G (paper), or over observed pairs and "
              "self-pairs");
  list.choice(
          "classifier", classifier,
          "what reads the generated graph: two graph convolutions (paper), or a network that is "
          "handed over, as Python does, for rows of width method.decoder_width")
      .came_later();
  list.choice("conv", conv, {nn::Conv::kipf, nn::Conv::sum},
              "graph convolution of every GNN: self-loops and symmetric normalisation, or the "
              "plain sum of the published code");
  list.add("hidden", hidden, {1, 65536}, "hidden width of the classifier and of the input GCNs");
  list.add("dropout", dropout, {0, 0.99}, "dropout after the first layer of each GCN");
  list.add("input_dropout", input_dropout, {0, 0.99},
           "share of the input features dropped while training")
      .came_later();
  list.add("batch_norm", batch_norm,
           "batch normalisation in classifier, input GCNs and GIN (the encoder's: encoder_norm)")
      .came_later();
  list.choice("skip", skip,
              "what a node's logits get besides the classifier's (paper: nothing): a linear map of "
              "its own z, past the generated graph");
}

void GrmOptions::declare_presence(OptionList& list) {
  list.choice("presence", presence,
              "generated nodes: none (paper), or a gate p_i in (0, 1) on all that node i says")
      .came_later("presence");
  list.add("presence_weight", presence_weight, {0, 1e6},
           "weight gamma of the KL of the presences, beside alpha")
      .came_later("presence");
  list.add("presence_prior", presence_prior, {1e-6, 1 - 1e-6},
           "prior probability theta_p that a node is present")
      .came_later("presence");
  list.add("presence_warm_up", presence_warm_up, {0, 1e7},
           "epochs in which gamma grows from 0 to its value")
      .came_later("presence");
}

void GrmOptions::declare_losses(OptionList& list) {
  list.add("alpha", alpha, {0, 1e6}, "weight of the regularisation loss L_r");
  list.add("beta", beta, {0, 1e6}, "weight of the invariance loss L_d");
  list.add("theta", theta, {1e-6, 1 - 1e-6}, "prior probability of a generated edge");
  list.choice("pair_reduction", pair_reduction,
              "edge KL of a graph: mean over its pairs, or their sum (literal)");
  list.choice("latent_reduction", latent_reduction, {Reduction::sum, Reduction::mean},
              "latent KL of a node: sum over dimensions (paper), or their mean");
  list.choice("domain_encoding", domain_encoding,
              "h_i from one encoder pass over the domain graph, or from a pass over the subgraph "
              "induced by each V_i^D");
  list.choice("ablation", ablation,
              "train without the regularisation loss, the invariance loss, the sampling, or the "
              "presence of nodes");
}

void GrmOptions::declare_influence(OptionList& list) {
  list.add("influence_length", influence_length, {0, 20}, "L*, largest mean path length");
  list.add("influence_paths", influence_paths, {0, 1e9}, "P*, smallest geometric mean of paths");
}

void GrmOptions::declare_optimiser(OptionList& list) {
  list.choice("optimiser", optimiser, {Optimiser::adam, Optimiser::adamw},
              "Adam (paper) or AdamW (published code)");
  list.add("lr", lr, {0, 10}, "learning rate");
  list.add("weight_decay", weight_decay, {0, 10}, "weight decay");
  list.add("samples", samples, {0, 10000},
           "seeded passes averaged when predicting; 0: one pass with z = mu");
}

void GrmOptions::check() const {
  if (scope == Scope::whole && edge_support == EdgeSupport::all) {
    fail(ErrorKind::config,
         "method.scope = whole needs method.edge_support = observed: all pairs of a domain graph "
         "would be n^2 generated edges");
  }
  if (influence == InfluenceSearch::local && (concat() || scope == Scope::whole)) {
    fail(ErrorKind::config,
         "method.influence = local needs method.scope = ego and method.encoder_input = raw or "
         "centred: concatenated inputs and scope = whole read the whole domain graph in each step");
  }
  if (own_encoder() && influence == InfluenceSearch::local) {
    fail(ErrorKind::config,
         "method.encoder = own reads whole domain graphs, method.influence = local parts of them; "
         "use influence = sampled");
  }
  if (encoder == EncoderKind::gin && domain_encoding == DomainPass::exact) {
    fail(ErrorKind::config,
         "method.encoder = gin encodes whole graphs; method.domain_encoding = exact needs an "
         "encoder of one or two layers (gcn2, gcn1)");
  }
  if (pooling == nn::Pooling::weighted && presence == Presence::none) {
    fail(ErrorKind::config,
         "method.pooling = weighted weighs nodes by their presence; set method.presence = gate");
  }
  if (fanout.empty() && scope == Scope::ego) {
    fail(ErrorKind::config, "method.fanout is empty; give one number per hop, as in [20, 0]");
  }
}

GrmOptions GrmOptions::with(const Sampling& sampling) const {
  GrmOptions own = *this;
  if (!sampling.on()) return own;
  own.scope = Scope::ego;
  own.batch = sampling.batch;
  own.steps = 0;
  if (!sampling.fanout.empty()) {
    own.fanout = sampling.fanout;
    std::replace(own.fanout.begin(), own.fanout.end(), int64_t{0}, kAllNeighbours);
  } else if (scope == Scope::whole) {
    own.fanout.assign(2, kAllNeighbours);  // as far as the classifier looks
  }
  if (scope == Scope::whole) {
    own.influence = InfluenceSearch::automatic;  // local on large graphs
    // Ego-nets show a node many times, and V_i^D is searched around each of them.
    if (invariance_nodes == 0) own.invariance_nodes = 1;
  }
  own.check();
  return own;
}

double GrmOptions::gamma(int64_t epoch) const {
  if (!gates() || ablation == Ablation::regularisation) return 0.0;
  if (epoch > presence_warm_up) return presence_weight;
  return presence_weight * static_cast<double>(epoch - 1) / static_cast<double>(presence_warm_up);
}

nn::GraphEncoderOptions GrmOptions::gin() const {
  nn::GraphEncoderOptions gin;
  gin.layers = gin_layers;
  gin.hidden = gin_hidden;
  gin.dropout = dropout;
  gin.virtual_node = gin_virtual_node;
  gin.batch_norm = batch_norm;
  return gin;
}

EpochShape GrmOptions::epoch(const std::vector<DomainShape>& training) const {
  EpochShape epoch;
  if (scope == Scope::ego && steps > 0) epoch.steps = steps;
  if (scope == Scope::ego && steps == 0) {
    int64_t largest = 1;
    for (const DomainShape& g : training) largest = std::max(largest, g.counted.numel());
    epoch.steps = (largest + batch - 1) / batch;
  }
  for (const DomainShape& g : training) epoch.targets += targets(g, epoch.steps);
  return epoch;
}

double GrmOptions::targets(const DomainShape& g, int64_t epoch_steps) const {
  const int64_t all = g.counted.numel();
  const bool visits_all = scope == Scope::whole || steps == 0;
  return static_cast<double>(visits_all ? all : epoch_steps * std::min(batch, all));
}

GraphGrmOptions::GraphGrmOptions() {
  batch = 32;
  readout = Readout::mean;
}

EpochShape GraphGrmOptions::epoch(const std::vector<DomainShape>& training) const {
  return graph_level::epoch_of_batches(training, batch);
}

}  // namespace grm
