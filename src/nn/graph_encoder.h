#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/padded.h"
#include "grm/core/options.h"
#include "grm/graph/batch.h"
#include "grm/nn/cost.h"
#include "grm/nn/layers.h"
#include "nn/readout.h"

// Networks on batches of whole graphs.
namespace grm::nn {

/// A batch of graphs with what its nodes and edges carry. Either `x` or `rows` is set.
struct GraphInput {
  AdjacencyPtr edges;          // [N, N], block-diagonal
  torch::Tensor node_offsets;  // [B + 1] int64
  Features x;                  // N rows of raw features
  torch::Tensor rows;          // [N, d] features that another network made
  Features edge_x;             // nnz rows, or empty
  torch::Tensor edge_weights;  // [nnz], weights that belong to the data; undefined: all ones
  torch::Tensor mask;          // [nnz] in [0, 1], scales each message; undefined: all ones
  // Batches with room for more rows than they have (graph/padded.h).
  torch::Tensor counted;        // [1] int64: rows that belong to a graph; undefined: all
  torch::Tensor graph_of_node;  // [N] int64; undefined: see node_offsets
};

/// The graphs `ids` of a packed set with their features. `batch` (optional) receives the batch.
GraphInput pick_input(const Graph& set, const torch::Tensor& ids, GraphBatch* batch = nullptr);
/// The same in a room of `rooms`, whose first pattern is the set's, with dense features, where `ids` lie.
GraphInput pick_padded_input(const Graph& set, const GraphRooms& rooms, int64_t room,
                             const torch::Tensor& ids);
/// Whether features are narrow enough to be dense in such a batch.
bool fits_padded_input(const Graph& set);

/// `own`: a network of the caller's (own_network.h) in the place of all layers.
enum class GraphLayerKind { gin, gcn, le, graph, arma, own };
GRM_WORDS(GraphLayerKind, "gin", "gcn", "le", "graph", "arma", "own")

/// All kinds but `own`.
std::vector<GraphLayerKind> layers_of_ours();

struct GraphEncoderOptions {
  GraphLayerKind layer = GraphLayerKind::gin;
  int64_t layers = 3;
  int64_t hidden = 32;
  double dropout = 0.0;
  bool virtual_node = false;
  bool batch_norm = true;
  bool relu_last = false;
  bool embed = true;  // a linear map (of sparse one-hot columns: an atom encoder) before the layers
  double input_dropout = 0.0;  // of raw features, not of rows that another network made
  /// The same kind of layers, with or without virtual node, for rows that another network reads.
  GraphEncoderOptions inner(int64_t inner_layers, int64_t inner_hidden, bool normalised,
                            bool embedded) const;
  /// `one`: the method has one such network, which may be the caller's.
  void declare(OptionList& list, bool one = false);
  bool own() const { return layer == GraphLayerKind::own; }
};

/// Message passing over a batch: [embedding] then layers of (conv, batch norm, ReLU, dropout).
/// Masked messages are multiplied by the mask before aggregation; root and self terms are not, a
/// self-loop that a layer adds weighs 1, and degrees for normalisation do not see the mask.
class GraphEncoder {
 public:
  virtual ~GraphEncoder() = default;
  virtual torch::Tensor forward(const GraphInput& input, Pass& pass) = 0;  // [N, hidden]
};
/// `width` is that of x or rows, `edge_width` that of edge_x (0: edges carry nothing).
std::unique_ptr<GraphEncoder> make_graph_encoder(ParameterSet& set, const std::string& name,
                                                 const GraphEncoderOptions& options, int64_t width,
                                                 int64_t edge_width);
/// One training pass over a batch of graphs.
PassCost graph_encoder_cost(const GraphEncoderOptions& options, const GraphShape& batch);

/// Linear maps with ReLU in between: widths {64, 128, 3} are two maps.
class Mlp {
 public:
  Mlp() = default;
  Mlp(ParameterSet& set, const std::string& name, const std::vector<int64_t>& widths);
  torch::Tensor forward(torch::Tensor rows) const;

 private:
  std::vector<Linear> maps_;
};

}  // namespace grm::nn
