#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/graph_encoder.h"

// The convolutions of graph encoders. Each maps node rows [N, in] to [N, out].
namespace grm::nn {

/// How one kind of layer weighs the messages of a batch, made once for all layers of a pass.
/// `weights` holds the mask, and with le, graph and arma the weights that belong to the data.
struct Messages {
  AdjacencyPtr edges;
  const Features* edge_x = nullptr;  // null: edges carry nothing
  torch::Tensor weights;             // [nnz]; undefined: all ones
  torch::Tensor sums;                // [N, 1], le: sum of the weights of the pairs into a node
  torch::Tensor inverse_degree;      // [N, 1], gcn
  torch::Tensor counted;             // as in GraphInput
};

class GraphLayer {
 public:
  virtual ~GraphLayer() = default;
  virtual torch::Tensor forward(const torch::Tensor& rows, const Messages& messages,
                                const Pass& pass) = 0;
};

/// LEConv: h_i = W3 x_i + b3 + sum_{j->i} a_ji (W1 x_j + b1 - W2 x_i), a the weights.
struct LeLayer final : GraphLayer {
  Linear source;  // W1, b1
  Linear target;  // W2, no bias
  Linear self;    // W3, b3
  LeLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out);
  torch::Tensor forward(const torch::Tensor& rows, const Messages& messages,
                        const Pass& pass) override;
};

/// GraphConv: h_i = W_root x_i + W_rel (sum_{j->i} a_ji x_j) + b.
struct SumLayer final : GraphLayer {
  Linear neighbours;  // W_rel, b
  Linear self;        // W_root, no bias
  SumLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out);
  torch::Tensor forward(const torch::Tensor& rows, const Messages& messages,
                        const Pass& pass) override;
};

/// ARMAConv with one stack of one layer: h = relu(Ahat X W + X V + b), Ahat = D^-1/2 A D^-1/2 of
/// the data's weights with in-degrees D and no self-loops.
struct ArmaLayer final : GraphLayer {
  torch::Tensor weight, root;  // W, V: [in, out], glorot
  torch::Tensor bias;          // [out], zero
  ArmaLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out);
  torch::Tensor forward(const torch::Tensor& rows, const Messages& messages,
                        const Pass& pass) override;
};

/// GIN as in OGB: h_i = MLP((1 + eps) x_i + sum_{j->i} mask_ji relu(x_j + e_ji)), where MLP is
/// Linear(in, 2 out), batch norm, ReLU, Linear(2 out, out), and e is a linear map of edge_x.
struct GinLayer final : GraphLayer {
  torch::Tensor edge_table;  // [edge_width, in], glorot; undefined: edges carry nothing
  torch::Tensor eps;         // [1], from 0
  Linear first, second;
  BatchNorm norm;
  GinLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out, int64_t edge_width);
  torch::Tensor forward(const torch::Tensor& rows, const Messages& messages,
                        const Pass& pass) override;
};

/// GCN as in CIGA's copy of OGB: with u = x W + b,
///   h_i = sum_{j->i} mask_ji relu(u_j + e_ji) / sqrt(d_i d_j) + relu(u_i + root) / d_i,
/// where d is one more than the number of pairs that leave a node, which the mask does not change.
struct OgbGcnLayer final : GraphLayer {
  torch::Tensor edge_table;  // [edge_width, out], glorot; undefined: edges carry nothing
  torch::Tensor root;        // [out], uniform with variance 1
  Linear linear;
  OgbGcnLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out,
              int64_t edge_width);
  torch::Tensor forward(const torch::Tensor& rows, const Messages& messages,
                        const Pass& pass) override;
};

std::unique_ptr<GraphLayer> make_graph_layer(ParameterSet& set, GraphLayerKind kind,
                                             const std::string& name, int64_t in, int64_t out,
                                             int64_t edge_width);
/// Sizes of the linear maps of such a layer: {in, out} of each.
std::vector<std::pair<double, double>> graph_layer_maps(GraphLayerKind kind, double in, double out);
/// The weights that layers of this kind give the messages of a batch, on `device`.
Messages make_messages(GraphLayerKind kind, const GraphInput& input, torch::Dtype dtype,
                       const torch::Device& device = torch::kCPU);

/// The virtual node: a vector v per graph, from a learned one that starts at 0. It is added to the
/// rows of its graph before a layer, and after it v <- dropout(MLP(v + sum of those rows)), MLP =
/// Linear(d, 2d), batch norm, ReLU, Linear(2d, d), batch norm, ReLU. The mask does not reach it.
class VirtualNode {
 public:
  VirtualNode(ParameterSet& set, const std::string& name, int64_t width, int64_t layers,
              double dropout);
  /// v before the first layer, [graphs, width].
  torch::Tensor start(int64_t graphs) const;
  /// v for the next layer; `rows` [N, width] are those that layer `layer` took in, with v.
  torch::Tensor next(int64_t layer, const torch::Tensor& v, const torch::Tensor& rows,
                     const torch::Tensor& node_offsets, Pass& pass);

 private:
  struct Update {
    Linear first, second;
    BatchNorm inner, outer;
  };
  torch::Tensor initial_;  // [1, width]
  std::vector<Update> updates_;
  double dropout_;
};

}  // namespace grm::nn
