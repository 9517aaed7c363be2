// Trivial baselines of the graph level: multinomial logistic regression on the size of a graph, or
// on the mean of its node features. What a method has to beat to have learned more than that.
//
//   L = mean over all training graphs of l(W (x - mean) / deviation + b, y)
//
// One step an epoch on all graphs, from zero: no randomness.
#include "methods/graph/trivial.h"

#include <optional>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/batch.h"
#include "methods/backbone_method.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm::graph_level {
namespace {

constexpr int64_t kGraphsSpread = 1000;  // graphs whose features are spread out at a time

torch::Tensor sizes(const Graph& set, const torch::Tensor& items) {
  const torch::Tensor first_edge = set.edges->in.offsets.index_select(0, set.parts);
  return torch::stack({set.parts.diff(), first_edge.diff()}, 1)
      .index_select(0, items)
      .to(torch::kFloat64);
}

torch::Tensor mean_features(const Graph& set, const torch::Tensor& items) {
  std::vector<torch::Tensor> parts;
  for (int64_t begin = 0; begin < items.numel(); begin += kGraphsSpread) {
    const GraphBatch batch = pick_graphs(set, items.slice(0, begin, begin + kGraphsSpread));
    const torch::Tensor rows = pick_rows(set.x, batch.nodes).to_dense().to(torch::kFloat64);
    parts.push_back(ops::segment_mean(batch.node_offsets, rows));
  }
  return torch::cat(parts);
}

struct TrivialOptions : MethodOptions {
  TrivialReads reads = TrivialReads::size;
  // The decay keeps the weights of separable data finite.
  OptimiserOptions optimiser{Optimiser::adam, 0.1, 1e-4};

  void declare(OptionList& list) {
    list.choice("reads", reads,
                "what the linear model sees of a graph: how many nodes and edges it has, or the "
                "mean of its node features");
    optimiser.declare(list);
  }
  double width(const RunShape& run) const { return reads == TrivialReads::size ? 2 : run.features; }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    double rows = MethodOptions::epoch(run.training).targets;
    for (const DomainShape& set : run.evaluated) rows = std::max(rows, set.items);
    // Inputs in double, less their mean, and in float.
    return MemoryUses{{"activations", 20 * rows * width(run), MemoryPlace::numbers},
                      {"model", cost::model(width(run) * run.classes), MemoryPlace::numbers}};
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    WorkCount all;
    all.product("maps", epoch(run.training).targets, width(run), run.classes, 2);
    return all;
  }
};

class Trivial final : public Method {
 public:
  Trivial(const TrivialOptions& options, const TrainView& view, const Rng& rng)
      : options_(options), loss_(view.loss), set_(rng) {
    const int64_t width = options.reads == TrivialReads::size ? 2 : view.features;
    mean_ = set_.buffer("mean", {width}, 0.0);
    scale_ = set_.buffer("scale", {width}, 1.0);
    weight_ = set_.constant("weight", {width, view.classes}, 0.0);
    bias_ = set_.constant("bias", {view.classes}, 0.0);
    optimiser_.emplace(set_, options.optimiser.lr, options.optimiser.weight_decay,
                       options.optimiser.decoupled());
    if (!view.training.empty()) read(view.training);
  }

  std::vector<LossTerm> train_epoch(int64_t /*epoch*/) override {
    optimiser_->zero_grad();
    const torch::Tensor loss = nn::supervised_loss(loss_, torch::addmm(bias_, x_, weight_), y_);
    const Stage stage("backward");
    loss.backward();
    optimiser_->step();
    return {{"total", loss.item<double>()}};
  }

  torch::Tensor logits(const Graph& set, const torch::Tensor& items) override {
    const nn::Evaluating evaluating;
    if (items.numel() == 0) return torch::empty({0, bias_.size(0)}, torch::kFloat32);
    const torch::Tensor x = standardised(trivial_inputs(options_.reads, set, items));
    return torch::addmm(bias_, x, weight_);
  }

  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&*optimiser_}; }

 private:
  // Inputs and labels of all training graphs, and what standardises the inputs.
  void read(const std::vector<Domain>& training) {
    std::vector<torch::Tensor> inputs, labels;
    for (const Domain& domain : training) {
      inputs.push_back(trivial_inputs(options_.reads, domain.graph, domain.labels.loss));
      labels.push_back(domain.labels.y.index_select(0, domain.labels.loss));
    }
    const torch::Tensor x = torch::cat(inputs);
    y_ = on_device(torch::cat(labels), set_.device());
    const torch::Tensor mean = x.mean(0), deviation = x.std(0, /*unbiased=*/false);
    mean_.copy_(mean);
    // A column that is constant up to rounding stays near zero.
    scale_.copy_(
        torch::where(deviation.gt(1e-6 * mean.abs()), deviation, torch::ones_like(deviation)));
    x_ = standardised(x);
  }

  torch::Tensor standardised(const torch::Tensor& x) const {
    return ((to_place_of(x, mean_) - mean_) / scale_).to(torch::kFloat32);
  }

  TrivialOptions options_;
  TrainLoss loss_;
  nn::ParameterSet set_;
  torch::Tensor mean_, scale_;   // [d], of the training graphs
  torch::Tensor x_, y_;          // [n, d], [n]: all training graphs
  torch::Tensor weight_, bias_;  // [d, C], [C]
  std::optional<nn::Adam> optimiser_;
};

}  // namespace

torch::Tensor trivial_inputs(TrivialReads reads, const Graph& set, const torch::Tensor& items) {
  if (set.level() == Level::node) {
    fail(ErrorKind::data, "{}: trivial baselines are for sets of graphs, this is one graph",
         set.name);
  }
  return reads == TrivialReads::size ? sizes(set, items) : mean_features(set, items);
}

}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_trivial() {
  return std::make_unique<SimpleRecipe<graph_level::TrivialOptions, graph_level::Trivial>>();
}

}  // namespace grm
