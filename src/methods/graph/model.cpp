#include "methods/graph/model.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "grm/core/error.h"
#include "nn/input_gradient.h"

namespace grm::graph_level {
namespace {

constexpr int64_t kEvaluated = 256;  // graphs evaluated at a time

}  // namespace

void GraphTrainOptions::declare(OptionList& list) {
  list.add("batch", batch, {1, 1e6}, "graphs in a training step");
  optimiser.declare(list);
  readout.declare(list);
  list.add("accumulate", accumulate,
           "one step per epoch on the mean of all batches' losses, instead of one per batch");
}

EpochShape GraphMethodOptions::epoch(const std::vector<DomainShape>& sets) const {
  EpochShape epoch = epoch_of_batches(sets, training.batch);
  if (training.accumulate) epoch.steps = 1;
  return epoch;
}

MemoryUses GraphMethodOptions::memory_of(const nn::GraphEncoderOptions& encoder,
                                         const RunShape& run, double passes, double besides) const {
  const DomainShape& set = run.training.front();
  const double graphs = std::min(static_cast<double>(training.batch), set.items);
  const PassCost pass =
      nn::graph_encoder_cost(encoder, share_of(set, graphs / std::max(1.0, set.items)));
  const double activations = passes * pass.kept + besides;
  // Without gradients a quarter waits.
  const double evaluated =
      static_cast<double>(kEvaluated) / std::max(1.0, graphs) * 0.25 * activations;
  return {{"activations", std::max(activations, evaluated), MemoryPlace::numbers},
          {"model", cost::model(passes * pass.parameters), MemoryPlace::numbers}};
}

WorkCount GraphMethodOptions::work_of(const std::vector<nn::GraphEncoderOptions>& encoders,
                                      const RunShape& run) {
  const DomainShape& set = run.training.front();
  const double share = static_cast<double>(set.counted.numel()) / std::max(1.0, set.items);
  WorkCount all;
  for (const nn::GraphEncoderOptions& encoder : encoders) {
    all.add(nn::graph_encoder_cost(encoder, share_of(set, share)).work);
  }
  return all;
}

std::vector<Saving> GraphMethodOptions::savings_of(const nn::GraphEncoderOptions& encoder) const {
  return {smaller("batch", training.batch, 8), smaller("hidden", encoder.hidden, 16),
          smaller("layers", encoder.layers, 2)};
}

std::vector<int64_t> head_widths(int64_t in, int64_t layers, int64_t classes) {
  if (layers == 1) return {in, classes};
  return {in, 2 * in, classes};
}

GraphMethod::GraphMethod(const GraphTrainOptions& training, const TrainView& view, const Rng& rng)
    : training_options_(training), view_(view), rng_(rng), set_(rng) {
  if (view.training.empty()) return;  // built to predict
  if (view.training.size() != 1 || view.training.front().graph.level() == Level::node) {
    fail(ErrorKind::data,
         "graph-level methods train on one set of graphs, but the task has {} training domains{}",
         view.training.size(), view.training.size() == 1 ? ", which is a single graph" : "");
  }
}

void GraphMethod::start_optimiser(const nn::ParameterSet::Named& parameters) {
  const OptimiserOptions& o = training_options_.optimiser;
  optimiser_.emplace(parameters, o.lr, o.weight_decay, o.decoupled());
}

torch::Tensor GraphMethod::by_chunks(
    const Graph& set, const torch::Tensor& items,
    const std::function<torch::Tensor(const nn::GraphInput&, nn::Pass&)>& of_batch) const {
  const nn::Evaluating evaluating;
  std::vector<torch::Tensor> parts;
  for (int64_t first = 0; first < items.numel(); first += kEvaluated) {
    const int64_t end = std::min(items.numel(), first + kEvaluated);
    nn::Pass pass = nn::Pass::evaluate();
    const torch::Tensor part = of_batch(nn::pick_input(set, items.slice(0, first, end)), pass);
    if (!part.defined()) return {};
    parts.push_back(part);
  }
  return parts.empty() ? torch::Tensor() : torch::cat(parts);
}

torch::Tensor GraphMethod::logits(const Graph& set, const torch::Tensor& items) {
  if (items.numel() == 0) return torch::empty({0, view_.classes}, torch::kFloat32);
  return by_chunks(set, items, [this](const nn::GraphInput& batch, nn::Pass& pass) {
    return batch_logits(batch, pass);
  });
}

torch::Tensor GraphMethod::edge_scores(const Graph& set, const torch::Tensor& items) {
  return by_chunks(set, items, [this](const nn::GraphInput& batch, nn::Pass& pass) {
    return batch_edge_scores(batch, pass);
  });
}

std::vector<LossTerm> GraphMethod::run_epoch(int64_t epoch,
                                             const std::function<BatchLoss(TrainBatch&)>& objective,
                                             const torch::Tensor& ids) {
  const Labels& labels = training().labels;
  const std::vector<torch::Tensor> batches = epoch_batches(
      ids.defined() ? ids : labels.loss, training_options_.batch, rng_.stream("batches", epoch));
  const bool accumulate = training_options_.accumulate;
  const double share = 1.0 / static_cast<double>(batches.size());
  std::vector<std::string> names = {"total"};
  std::vector<torch::Tensor> values;  // of the first batch, of the second, ...
  const auto zero = [this] {
    for (nn::Adam* optimiser : optimisers()) optimiser->zero_grad();
  };
  const auto step = [this] {
    for (nn::Adam* optimiser : optimisers()) optimiser->step();
  };
  zero();
  for (size_t k = 0; k < batches.size(); ++k) {
    TrainBatch batch{nn::pick_input(training().graph, batches[k]), batches[k],
                     labels.y.index_select(0, batches[k]),
                     nn::Pass::train(rng_.stream("dropout", epoch, k))};
    const Stage forward("classify");
    const BatchLoss loss = objective(batch);
    if (!accumulate) zero();
    const Stage stage("backward");
    (accumulate ? loss.total * share : loss.total).backward();
    if (!accumulate) step();
    values.push_back(loss.total.detach());
    for (const BatchTerm& term : loss.terms) {
      if (k == 0) names.push_back(term.name);
      values.push_back(term.value.detach());
    }
  }
  if (accumulate) step();
  std::vector<LossTerm> sums;
  for (const std::string& name : names) sums.push_back({name, 0.0});
  const std::vector<double> read = read_scalars(values);
  for (size_t k = 0; k < read.size(); ++k) sums[k % sums.size()].value += read[k] * share;
  return sums;
}

}  // namespace grm::graph_level
