#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grm/core/options.h"
#include "grm/nn/cost.h"
#include "grm/nn/layers.h"

namespace grm::nn {

/// What a backbone runs on. `edge_weights` [nnz] (optional) is a mask of a method's: it reaches all
/// layers but the last, or all of them with `weight_last_layer`; only gcn, sage and gin accept it,
/// the others throw Error(config). `shared` (optional) is used by gcn; the others compute their
/// first product anew. `data_weights` [nnz], not negative, and `edge_x` belong to the data: weights
/// reach every layer of every backbone but mlp, features of edges those of gin and gatv2.
/// `propagation` (optional), for gcn alone: the operator of all layers, in place of that of `edges`.
/// `sample` (optional) belongs to a graph that was drawn out of a larger one: each layer goes along
/// edges of its own, and what comes out are rows of the nodes that the graph was drawn around.
/// `graph_of_node` ([n] int64, optional) tells the graphs of a batch apart, for networks of others.
struct BackboneInput {
  AdjacencyPtr edges;
  Features x;
  torch::Tensor edge_weights;
  SharedProduct* shared = nullptr;
  torch::Tensor data_weights = {};
  Features edge_x = {};
  Propagation propagation = {};
  std::shared_ptr<const GraphSample> sample = nullptr;
  torch::Tensor graph_of_node = {};
};

/// What a graph brings itself.
BackboneInput input_of(const Graph& graph);

struct BackboneOutput {
  torch::Tensor hidden;  // [n, h]: what the last layer sees; undefined when it sees the features
  torch::Tensor logits;  // [n, classes]
};

/// `own` is a network of the caller's (own_network.h), and in no table.
enum class BackboneKind { gcn, sage, gat, gpr, gcnii, mlp, gin, gatv2, own };
GRM_WORDS(BackboneKind, "gcn", "sage", "gat", "gpr", "gcnii", "mlp", "gin", "gatv2", "own")

/// Whether a backbone of this kind reads features of edges. What `own` does nobody knows.
bool reads_edge_features(BackboneKind kind);

/// Architecture options shared by all methods that use a backbone.
struct BackboneOptions {
  BackboneKind backbone = BackboneKind::gcn;
  Conv conv = Conv::kipf;
  int64_t hidden = 128;
  int64_t layers = 2;
  double dropout = 0.0;
  bool batch_norm = true;
  int64_t heads = 4;
  bool weight_last_layer = false;
  double input_dropout = 0.0;
  void declare(OptionList& list);
};

class Backbone {
 public:
  virtual ~Backbone() = default;
  virtual BackboneOutput forward(const BackboneInput& input, Pass& pass) = 0;
  /// Layer `l` (from 0) alone, while predicting: `input` is a sample of one layer whose features are
  /// the rows that the layer before gave, for the first layer those of the graph. For the kinds that
  /// have hops().
  virtual torch::Tensor layer(int64_t l, const BackboneInput& input);
};

/// How many hops away from a node its prediction looks, for networks that can be trained on samples
/// of graphs; nothing for the others (gpr, gcnii and networks of others).
std::optional<int64_t> hops(const BackboneOptions& options);

/// Widths of what goes in and comes out.
struct BackboneShape {
  int64_t features = 0;
  int64_t classes = 0;
  int64_t edge_features = 0;
};

struct BackboneEntry {
  BackboneKind kind;
  std::string summary;
  std::unique_ptr<Backbone> (*make)(ParameterSet& set, const std::string& prefix,
                                    const BackboneOptions& options, const BackboneShape& shape);
  PassCost (*cost)(const BackboneOptions& options, const GraphShape& graph, double classes);
};

/// The one table of backbones of ours, in the order of their kinds.
const std::vector<BackboneEntry>& backbones();
/// Tensors are named `prefix`.conv1.weight and so on; an empty prefix leaves out its dot.
std::unique_ptr<Backbone> make_backbone(ParameterSet& set, const std::string& prefix,
                                        const BackboneOptions& options, int64_t features,
                                        int64_t classes, int64_t edge_features = 0);

/// One training pass over a graph, as the backbone's own file declares it.
PassCost backbone_cost(const BackboneOptions& options, const GraphShape& graph, double classes);

}  // namespace grm::nn
