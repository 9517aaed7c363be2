#include "nn/backbone.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "nn/backbones.h"
#include "nn/own_network.h"

namespace grm::nn {

void BackboneOptions::declare(OptionList& list) {
  list.choice("backbone", backbone,
              "The network that turns a graph into class scores; own: one that is handed over, as "
              "Python does.");
  list.choice("conv", conv,
              "How a gcn layer gathers neighbours: plain sums, or self-loops and symmetric "
              "normalisation.");
  list.add("hidden", hidden, {1, 65536}, "Width of the hidden layers (per head in gat and gatv2).");
  list.add("layers", layers, {1, 1024},
           "Number of layers that pass messages (of linear layers in mlp; gpr ignores it).");
  list.add("dropout", dropout, {0, 0.99}, "Share of the hidden entries dropped while training.");
  list.add(
      "batch_norm", batch_norm,
      "Whether hidden layers are normalised over the rows of the pass (not in gpr and gcnii).");
  list.add("heads", heads, {1, 256}, "Number of attention heads of gat and gatv2.");
  list.add("weight_last_layer", weight_last_layer,
           "Whether masks of edges (lisa) reach the last layer as well (gcn, sage, gin).");
  list.add("input_dropout", input_dropout, {0, 0.99},
           "Share of the input features dropped while training.")
      .came_later();
}

BackboneInput input_of(const Graph& graph) {
  BackboneInput input{graph.edges, graph.x, {}, nullptr, graph.edge_weights, graph.edge_x};
  input.sample = graph.sample;
  return input;
}

torch::Tensor Backbone::layer(int64_t /*l*/, const BackboneInput& /*input*/) {
  throw InternalError("a backbone without hops() has no layers of its own");
}

std::optional<int64_t> hops(const BackboneOptions& options) {
  switch (options.backbone) {
    case BackboneKind::gcn:
    case BackboneKind::sage:
    case BackboneKind::gat:
    case BackboneKind::gatv2:
    case BackboneKind::gin:
      return options.layers;
    case BackboneKind::mlp:
      return 0;
    default:
      return std::nullopt;
  }
}

const std::vector<BackboneEntry>& backbones() {
  static const std::vector<BackboneEntry> table = {
      {BackboneKind::gcn, "graph convolutions by weighted sums, with or without normalisation",
       make_gcn, cost_of_gcn},
      {BackboneKind::sage, "GraphSAGE with the mean of the in-neighbours", make_sage, cost_of_sage},
      {BackboneKind::gat, "graph attention with several heads", make_gat, cost_of_gat},
      {BackboneKind::gpr, "two linear layers and a learned mixture of ten propagation steps",
       make_gpr, cost_of_gpr},
      {BackboneKind::gcnii, "deep graph convolutions with initial residuals and identity maps",
       make_gcnii, cost_of_gcnii},
      {BackboneKind::mlp, "linear layers that do not see the edges", make_mlp, cost_of_mlp},
      {BackboneKind::gin,
       "graph isomorphism network: sums of neighbours and a perceptron, with "
       "features of edges where there are any",
       make_gin, cost_of_gin},
      {BackboneKind::gatv2,
       "graph attention whose scores depend on both ends, with features of "
       "edges where there are any",
       make_gatv2, cost_of_gatv2},
  };
  return table;
}

namespace {

// A backbone whose input features lose entries while it trains.
class DroppedInput final : public Backbone {
 public:
  DroppedInput(std::unique_ptr<Backbone> inner, double rate, const torch::Device& device)
      : inner_(std::move(inner)), rate_(rate), device_(device) {}
  torch::Tensor layer(int64_t l, const BackboneInput& input) override {
    return inner_->layer(l, input);
  }
  BackboneOutput forward(const BackboneInput& input, Pass& pass) override {
    if (!pass.training()) return inner_->forward(input, pass);
    BackboneInput dropped = input;
    dropped.x = drop_features(input.x, rate_, pass, device_);
    dropped.shared = nullptr;  // every pass has features of its own
    return inner_->forward(dropped, pass);
  }

 private:
  std::unique_ptr<Backbone> inner_;
  double rate_;
  torch::Device device_;
};

const BackboneEntry& entry_of(BackboneKind kind) {
  const BackboneEntry& entry = backbones().at(static_cast<size_t>(kind));
  ensure(entry.kind == kind, "the table of backbones is out of order");
  return entry;
}

}  // namespace

std::unique_ptr<Backbone> make_backbone(ParameterSet& set, const std::string& prefix,
                                        const BackboneOptions& options, int64_t features,
                                        int64_t classes, int64_t edge_features) {
  std::unique_ptr<Backbone> made =
      options.backbone == BackboneKind::own
          ? make_own_network(set, tensor_name(prefix, "own"), features, classes)
          : entry_of(options.backbone)
                .make(set, prefix, options, {features, classes, edge_features});
  if (options.input_dropout == 0.0) return made;
  return std::make_unique<DroppedInput>(std::move(made), options.input_dropout, set.device());
}

PassCost backbone_cost(const BackboneOptions& options, const GraphShape& graph, double classes) {
  // Nobody knows what a network of others holds: counted as ours of the same options.
  const bool own = options.backbone == BackboneKind::own;
  return entry_of(own ? BackboneKind::gcn : options.backbone).cost(options, graph, classes);
}

PassCost pass_memory(const BackboneOptions& options, const GraphShape& g, double classes,
                     double width, double numbers) {
  PassCost pass;
  pass.kept = cost::kFloat * (numbers + 4 * g.nodes * classes);
  pass.passing = cost::kFloat * 4 * g.nodes * width;
  pass.parameters = (g.features + classes) * width +
                    width * width * static_cast<double>(std::max<int64_t>(0, options.layers - 2));
  return pass;
}

double arrays_besides(const BackboneOptions& options) {
  return (options.batch_norm ? 1 : 0) + (options.dropout > 0 ? 2 : 0);
}

std::string tensor_name(const std::string& prefix, const std::string& kind, int64_t number) {
  const std::string name = number == 0 ? kind : kind + std::to_string(number);
  return prefix.empty() ? name : prefix + "." + name;
}

void check_input(const BackboneInput& input, const std::string& backbone, bool takes_weights) {
  const int64_t nodes = input.edges->cols();  // those of a sample are more than the rows
  if (input.x.rows() != nodes) {
    fail(ErrorKind::shape, "{}: the graph has {} nodes, but the features have {} rows", backbone,
         nodes, input.x.rows());
  }
  ensure(!input.sample || !input.edge_weights.defined(), "masks of edges on a sample of a graph");
  if (input.edge_weights.defined() && !takes_weights) {
    fail(ErrorKind::config, "the backbone '{}' takes no masks of edges; use gcn, sage or gin",
         backbone);
  }
  const int64_t edges = input.edges->nnz();
  for (const torch::Tensor& weights : {input.edge_weights, input.data_weights}) {
    if (!weights.defined() || (weights.dim() == 1 && weights.numel() == edges)) continue;
    fail(ErrorKind::shape, "{}: {} edge weights were given for a graph of {} edges", backbone,
         weights.numel(), edges);
  }
  const bool featured = input.edge_x.sparse || input.edge_x.dense.defined();
  if (featured && input.edge_x.rows() != edges) {
    fail(ErrorKind::shape, "{}: {} rows of features were given for a graph of {} edges", backbone,
         input.edge_x.rows(), edges);
  }
}

BackboneInput layer_of(const BackboneInput& input, int64_t l) {
  BackboneInput one = input;
  if (!input.sample || input.sample->layers.empty()) return one;
  one.edges = input.sample->layers.at(static_cast<size_t>(l));
  const int64_t count = one.edges->nnz();
  if (input.data_weights.defined()) one.data_weights = input.data_weights.narrow(0, 0, count);
  if (input.edge_x.width() > 0) {
    one.edge_x = pick_rows(input.edge_x, torch::arange(count, torch::kInt64));
  }
  return one;
}

bool reads_edge_features(BackboneKind kind) {
  return kind == BackboneKind::gin || kind == BackboneKind::gatv2;
}

InputWeights weights_of(const BackboneInput& input, bool weight_last_layer) {
  return {input.data_weights, input.edge_weights, weight_last_layer};
}

namespace {

torch::Tensor placed(const torch::Tensor& weights, const torch::Device& device,
                     torch::Dtype dtype) {
  return weights.defined() ? on_device(weights, device).to(dtype) : weights;
}

}  // namespace

torch::Tensor InputWeights::inner_on(const torch::Device& device, torch::Dtype dtype) const {
  const torch::Tensor a = placed(data, device, dtype), b = placed(mask, device, dtype);
  if (!a.defined()) return b;
  return b.defined() ? a * b : a;
}

torch::Tensor InputWeights::outer_on(const torch::Device& device, torch::Dtype dtype) const {
  return last_layer ? inner_on(device, dtype) : placed(data, device, dtype);
}

Features drop_features(const Features& given, double p, Pass& pass, const torch::Device& device) {
  const Features x = given.on(device);
  if (!pass.training() || p == 0.0) return x;
  Features dropped = x;
  if (x.sparse) {
    dropped.sparse_values = pass.dropout(
        x.sparse_values.defined() ? x.sparse_values : torch::ones({x.sparse->nnz()}, device), p);
  }
  if (x.dense.defined()) dropped.dense = pass.dropout(x.dense, p);
  return dropped;
}

BlockNorms::BlockNorms(ParameterSet& set, const std::string& prefix, bool enabled, int64_t blocks,
                       int64_t width) {
  if (!enabled) return;
  for (int64_t b = 1; b <= blocks; ++b) {
    norms_.emplace_back(set, tensor_name(prefix, "norm", b), width);
  }
}

torch::Tensor BlockNorms::forward(int64_t block, const torch::Tensor& rows, const Pass& pass) {
  return norms_.empty() ? rows : norms_[block].forward(rows, pass);
}

}  // namespace grm::nn
