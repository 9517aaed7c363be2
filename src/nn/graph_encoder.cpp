#include "nn/graph_encoder.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "nn/backbones.h"
#include "nn/graph_layers.h"
#include "nn/own_network.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace grm::nn {
namespace {

class LayerStack final : public GraphEncoder {
 public:
  LayerStack(ParameterSet& set, const std::string& name, const GraphEncoderOptions& options,
             int64_t width, int64_t edge_width)
      : options_(options), width_(width), dtype_(set.dtype()), device_(set.device()) {
    if (options.virtual_node && !options.embed && width != options.hidden) {
      fail(ErrorKind::config,
           "a virtual node is as wide as the layers ({}), but the rows have {} columns; use embed",
           options.hidden, width);
    }
    if (options.embed) {
      // An atom encoder has no bias and draws each table by glorot; here one glorot draw serves the
      // whole matrix, and a bias from 0, which for one-hot columns adds nothing new, serves both.
      embed_.weight = set.glorot(name + ".embed.weight", width, options.hidden);
      embed_.bias = set.constant(name + ".embed.bias", {options.hidden}, 0.0);
    }
    for (int64_t l = 1; l <= options.layers; ++l) {
      const std::string number = std::to_string(l);
      const int64_t in = l == 1 && !options.embed ? width : options.hidden;
      layers_.push_back(make_graph_layer(set, options.layer, name + ".conv" + number, in,
                                         options.hidden, edge_width));
      if (options.batch_norm) norms_.emplace_back(set, name + ".norm" + number, options.hidden);
    }
    if (options.virtual_node) {
      virtual_node_ = std::make_unique<VirtualNode>(set, name + ".virtual", options.hidden,
                                                    options.layers, options.dropout);
    }
  }

  torch::Tensor forward(const GraphInput& input, Pass& pass) override {
    torch::Tensor h = first_rows(input, pass);
    const Messages messages = make_messages(options_.layer, input, dtype_, device_);
    torch::Tensor v, graphs;
    if (virtual_node_) {
      v = virtual_node_->start(input.node_offsets.numel() - 1);
      graphs = input.graph_of_node.defined() ? input.graph_of_node
                                             : graph_of_row(input.node_offsets, h.size(0));
    }
    for (size_t l = 0; l < layers_.size(); ++l) {
      const bool last = l + 1 == layers_.size();
      if (virtual_node_) h = h + ops::gather_rows(v, graphs);
      const torch::Tensor taken = h;
      h = layers_[l]->forward(h, messages, pass);
      if (options_.batch_norm) h = norms_[l].forward(h, pass, input.counted);
      if (!last || options_.relu_last) h = torch::relu(h);
      h = pass.dropout(h, options_.dropout);
      if (virtual_node_ && !last) {
        v = virtual_node_->next(static_cast<int64_t>(l), v, taken, input.node_offsets, pass);
      }
    }
    return h;
  }

 private:
  // [N, width of the first layer]
  torch::Tensor first_rows(const GraphInput& input, Pass& pass) const {
    const bool given = input.rows.defined();
    const int64_t rows = given ? input.rows.size(0) : input.x.rows();
    const int64_t width = given ? input.rows.size(1) : input.x.width();
    if (rows != input.edges->rows() || width != width_) {
      fail(ErrorKind::shape, "graph encoder: rows of [{}, {}] came, [{}, {}] was expected", rows,
           width, input.edges->rows(), width_);
    }
    if (given) return options_.embed ? embed_.forward(input.rows) : input.rows;
    const Features x = drop_features(input.x, options_.input_dropout, pass, device_);
    if (options_.embed) return embed_.forward(x);
    if (x.sparse) {
      fail(ErrorKind::config, "graph encoder: sparse features need an embedding; set embed");
    }
    const torch::Tensor dense = x.dense.to(dtype_);
    return x.shift.defined() ? dense - x.shift.to(dtype_) : dense;
  }

  GraphEncoderOptions options_;
  int64_t width_;
  torch::Dtype dtype_;
  torch::Device device_;
  Linear embed_;
  std::vector<std::unique_ptr<GraphLayer>> layers_;
  std::vector<BatchNorm> norms_;
  std::unique_ptr<VirtualNode> virtual_node_;
};

// Node rows of a batch by a network of the caller's, from the features as they are.
class OwnGraphEncoder final : public GraphEncoder {
 public:
  OwnGraphEncoder(ParameterSet& set, const std::string& name, const GraphEncoderOptions& options,
                  int64_t width)
      : network_(make_own_network(set, name + ".own", width, options.hidden)),
        input_dropout_(options.input_dropout),
        device_(set.device()) {}

  torch::Tensor forward(const GraphInput& input, Pass& pass) override {
    BackboneInput own;
    own.edges = input.edges;
    if (input.rows.defined()) {
      own.x.dense = input.rows;
    } else {
      own.x =
          input_dropout_ > 0.0 ? drop_features(input.x, input_dropout_, pass, device_) : input.x;
    }
    own.edge_weights = input.mask;
    own.data_weights = input.edge_weights;
    own.edge_x = input.edge_x;
    own.graph_of_node = graph_of_row(input.node_offsets, own.x.rows());
    return network_->forward(own, pass).logits;
  }

 private:
  std::unique_ptr<Backbone> network_;
  double input_dropout_;
  torch::Device device_;
};

}  // namespace

std::vector<GraphLayerKind> layers_of_ours() {
  std::vector<GraphLayerKind> kinds = all_values<GraphLayerKind>();
  kinds.erase(std::remove(kinds.begin(), kinds.end(), GraphLayerKind::own), kinds.end());
  return kinds;
}

void GraphEncoderOptions::declare(OptionList& list, bool one) {
  if (one) {
    list.choice("layer", layer,
                "The convolution of the graph encoder; own: a network that is handed over, as "
                "Python does, gives the node rows.");
  } else {
    list.choice("layer", layer, layers_of_ours(), "The convolution of the graph encoder.");
  }
  list.add("layers", layers, {1, 64}, "Number of layers that pass messages.");
  list.add("hidden", hidden, {1, 65536}, "Width of the node rows.");
  list.add("dropout", dropout, {0, 0.99}, "Share of the entries dropped after each layer.");
  list.add("virtual_node", virtual_node, "Whether each graph has a node joined to all others.");
  list.add("batch_norm", batch_norm, "Whether layers are normalised over the rows of the batch.");
  list.add("relu_last", relu_last, "Whether a ReLU follows the last layer as well.");
  list.add("embed", embed, "Whether a linear map of the features comes before the layers.");
  list.add("input_dropout", input_dropout, {0, 0.99},
           "Share of the input features dropped while training.")
      .came_later();
}

GraphEncoderOptions GraphEncoderOptions::inner(int64_t inner_layers, int64_t inner_hidden,
                                               bool normalised, bool embedded) const {
  GraphEncoderOptions o = *this;
  o.layers = inner_layers;
  o.hidden = inner_hidden;
  o.batch_norm = normalised;
  o.embed = embedded;
  o.dropout = 0.0;
  o.relu_last = false;
  return o;
}

std::unique_ptr<GraphEncoder> make_graph_encoder(ParameterSet& set, const std::string& name,
                                                 const GraphEncoderOptions& options, int64_t width,
                                                 int64_t edge_width) {
  if (options.own()) return std::make_unique<OwnGraphEncoder>(set, name, options, width);
  return std::make_unique<LayerStack>(set, name, options, width, edge_width);
}

PassCost graph_encoder_cost(const GraphEncoderOptions& given, const GraphShape& batch) {
  GraphEncoderOptions options = given;
  if (given.own()) options.layer = GraphLayerKind::gin;  // nobody knows: counted as ours
  const double n = batch.nodes, h = static_cast<double>(options.hidden);
  const double layers = static_cast<double>(options.layers);
  PassCost pass;
  pass.kept = cost::kFloat * (n * h * (8 * layers + 8) + batch.edges * (2 * h + 8));
  pass.parameters = batch.features * h + layers * 4 * h * h + 4 * h * h;
  if (options.embed) pass.work.features("features", batch, h);
  for (int64_t l = 1; l <= options.layers; ++l) {
    const double in = l == 1 && !options.embed ? batch.features : h;
    for (const auto& [from, to] : graph_layer_maps(options.layer, in, h)) {
      pass.work.product("maps", n, from, to, 3);
    }
    pass.work.sparse("propagation", batch.edges, n, h, 2);
  }
  return pass;
}

GraphInput pick_input(const Graph& set, const torch::Tensor& ids, GraphBatch* batch) {
  GraphBatch picked = pick_graphs(set, ids);
  GraphInput input;
  input.edges = picked.edges;
  input.node_offsets = picked.node_offsets;
  input.x = pick_rows(set.x, picked.nodes);
  if (set.edge_x.sparse || set.edge_x.dense.defined()) {
    input.edge_x = pick_rows(set.edge_x, picked.edge_ids);
  }
  if (set.edge_weights.defined()) {
    input.edge_weights = set.edge_weights.index_select(0, picked.edge_ids);
  }
  if (batch) *batch = std::move(picked);
  return input;
}

bool fits_padded_input(const Graph& set) {
  constexpr int64_t kWidest = 4096;  // columns of a row that is mostly zeros
  return set.x.sparse_width() <= kWidest && set.edge_x.sparse_width() <= kWidest;
}

GraphInput pick_padded_input(const Graph& set, const GraphRooms& rooms, int64_t room,
                             const torch::Tensor& ids) {
  const torch::Device device = ids.device();
  const int64_t graphs = ids.numel();
  const PaddedGraphs picked(on_device(set.parts, device), ids, rooms.rows(graphs, room));
  GraphInput input;
  torch::Tensor edge_ids;
  input.edges = picked.pattern(set.edges->on(device), rooms.entries(0, graphs, room), &edge_ids);
  input.node_offsets = picked.batch().node_offsets;
  input.counted = picked.batch().counted;
  input.graph_of_node = picked.batch().graph_of_node;
  input.x = pick_dense_rows(set.x, picked.batch().nodes);
  if (set.edge_x.sparse || set.edge_x.dense.defined()) {
    input.edge_x = pick_dense_rows(set.edge_x, edge_ids);
  }
  if (set.edge_weights.defined()) {
    input.edge_weights = on_device(set.edge_weights, device).index_select(0, edge_ids);
  }
  return input;
}

Mlp::Mlp(ParameterSet& set, const std::string& name, const std::vector<int64_t>& widths) {
  for (size_t l = 1; l < widths.size(); ++l) {
    maps_.emplace_back(set, name + ".linear" + std::to_string(l), widths[l - 1], widths[l]);
  }
}

torch::Tensor Mlp::forward(torch::Tensor rows) const {
  for (size_t l = 0; l < maps_.size(); ++l) {
    rows = maps_[l].forward(l == 0 ? rows : torch::relu(rows));
  }
  return rows;
}

}  // namespace grm::nn
