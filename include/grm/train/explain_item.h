#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "grm/core/words.h"
#include "grm/data/task.h"
#include "grm/methods/method.h"

// Why one node or graph was classified as it was: the graph that the method generated in its place,
// beside the observed one. The two directions of a pair are one edge with the mean of their
// weights.
namespace grm {

/// What became of a pair of nodes. The line between heavy and light is the mean weight of the
/// explanation's edges: in a normalised convolution only relative weights count, and scores of
/// methods other than GRM have no scale of their own. Weights that do not differ are all at the
/// mean.
enum class EdgeFate {
  kept,      // observed, weight at or above the mean
  weakened,  // observed, below
  created,   // not observed, at or above
  absent,    // not observed, below
};
std::string to_string(EdgeFate fate);  // "kept", "weakened", "new", "absent"

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// A generated node belongs to the kept subgraph if its presence is at least this.
constexpr double kKeptPresence = 0.5;

struct ExplainedNode {
  int64_t id = 0;              // in the domain graph; in a set of graphs: counted inside its graph
  std::string name;            // as the user calls it; the id where there are no names
  double distance = kUnknown;  // || z - h ||, mean over the samples
  double self_weight = kUnknown;      // of the generated pair with itself
  double presence = kUnknown;         // p_i, mean over the samples; unknown: every node is there
  double presence_spread = kUnknown;  // standard deviation over the samples

  bool kept() const { return !(presence < kKeptPresence); }
};

/// A pair of two different nodes, by their rows in ItemExplanation::nodes, source < target.
struct ExplainedEdge {
  int64_t source = 0, target = 0;
  double weight = 0.0;
  double spread = 0.0;                     // standard deviation over the samples
  bool forward = false, backward = false;  // observed source -> target, target -> source
  int truth = -1;                          // makes the label: 1, does not: 0, unknown: -1
  EdgeFate fate = EdgeFate::absent;
  bool clear = true;  // whether it is further from the mean weight than twice its spread

  bool observed() const { return forward || backward; }
};

/// Where the weights come from: from the method itself (a generated graph, or scores of its own), or
/// from leaving out one edge after the other, which every method allows.
enum class ExplainBy { own, removal };
GRM_WORDS(ExplainBy, "own", "removal")

struct ItemExplanation {
  std::string run, dataset, method, preset;  // where it comes from; filled in by explain_runs
  int64_t seed = 0;
  Level level = Level::node;
  std::string domain;
  int64_t item = 0;
  std::string name;                 // of the item
  std::vector<std::string> labels;  // names of the classes
  std::vector<double> probabilities;
  int64_t predicted = 0;
  int64_t label = -1;  // the true class, -1: unknown

  bool generated = false;  // false: scores of observed edges alone
  ExplainBy by = ExplainBy::own;
  int64_t centre = -1;  // row of the classified node; -1: a graph is classified
  double prior = kUnknown;
  double threshold = 0.0;        // the mean weight
  double low = 0.0, high = 0.0;  // the smallest and the largest weight
  double noise = 0.0;            // the mean spread of the weights over the samples
  bool differ = true;  // whether the weights span more than twice the noise: else nothing is to be
                       // read from which is heavier
  std::vector<ExplainedNode> nodes;
  std::vector<ExplainedEdge> edges;                   // by source, then target
  std::vector<std::vector<double>> samples;           // [S][edges]: weights under each sample
  double presence_prior = kUnknown;                   // of a node; unknown: nodes are not generated
  std::vector<std::vector<double>> presence_samples;  // [S][nodes], where nodes are generated
  int64_t count(EdgeFate fate) const;
  /// The kept subgraph of generated nodes: how many nodes, and edges (observed or new) among them.
  bool generates_nodes() const { return !presence_samples.empty(); }
  bool in_kept_subgraph(const ExplainedEdge& edge) const;
  int64_t kept_nodes() const;
  int64_t kept_edges() const;
  int64_t unclear() const;  // edges that the samples do not tell from the mean
};

/// "The weights do not differ: ..." with the numbers; "" where they do.
std::string no_difference(const ItemExplanation& e);

/// By its own: Error(config) if the method has no explanations, naming those that have; `name` is
/// its name. By removal: the weight of an observed edge is what the log-odds of the predicted class
/// lose without it (edge_removal.h). The logits are divided by the temperature.
ItemExplanation explain_item(Method& method, const std::string& name, const Domain& domain,
                             int64_t item, double temperature = 1.0, ExplainBy by = ExplainBy::own);

/// Whether the method explains such an item by itself.
bool has_own_explanation(Method& method, const Graph& graph, int64_t item);

}  // namespace grm
