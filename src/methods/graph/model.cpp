#include "methods/graph/model.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "core/stop.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"

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

void GraphMethod::start_steps(const nn::GraphEncoderOptions& of_features) {
  own_network_ = of_features.own();
  if (view_.training.empty()) return;
  // Dropout of sparse features draws a number for each that is stored, not for each column.
  const bool drops = of_features.input_dropout > 0.0 && training().graph.x.sparse;
  cuts_there_ = !drops && fits_padded(training().graph);
  if (cuts_there_) rooms_ = GraphRooms(training().graph.parts, {training().graph.edges.get()});
  steps_.emplace(set_, view_.sharding, cuts_there_);
}

bool GraphMethod::fits_padded(const Graph& set) const {
  if (own_network_ || !set_.device().is_cuda() || set.items() == 0 || !nn::fits_padded_input(set))
    return false;
  // The best edges of a graph are found by comparing each with each.
  constexpr int64_t kMostEdges = 8192;
  return GraphRooms(set.parts, {set.edges.get()}).most_entries(0) <= kMostEdges;
}

torch::Tensor GraphMethod::by_chunks(
    const Graph& set, const torch::Tensor& items,
    const std::function<torch::Tensor(const nn::GraphInput&, nn::Pass&)>& of_batch,
    bool padded) const {
  const nn::Evaluating evaluating;
  GraphRooms rooms;
  if (padded) rooms = GraphRooms(set.parts, {set.edges.get()});
  std::vector<torch::Tensor> parts;
  for (int64_t first = 0; first < items.numel(); first += kEvaluated) {
    check_stop();
    const torch::Tensor ids = items.slice(0, first, std::min(items.numel(), first + kEvaluated));
    nn::Pass pass = nn::Pass::evaluate();
    const torch::Tensor part = of_batch(
        padded
            ? nn::pick_padded_input(set, rooms, rooms.room_of(ids), on_device(ids, set_.device()))
            : nn::pick_input(set, ids),
        pass);
    if (!part.defined()) return {};
    parts.push_back(part);
  }
  return parts.empty() ? torch::Tensor() : torch::cat(parts);
}

torch::Tensor GraphMethod::logits(const Graph& set, const torch::Tensor& items) {
  if (items.numel() == 0) return torch::empty({0, view_.classes}, torch::kFloat32);
  const bool padded = fits_padded(set) && !nn::InputGradient::wanted();
  const auto predict = [&] {
    return by_chunks(
        set, items,
        [this](const nn::GraphInput& batch, nn::Pass& pass) { return batch_logits(batch, pass); },
        padded);
  };
  const nn::Evaluating evaluating;
  return padded ? predictions_.get(set, items, set_.device(), predict) : predict();
}

torch::Tensor GraphMethod::edge_scores(const Graph& set, const torch::Tensor& items) {
  return by_chunks(
      set, items,
      [this](const nn::GraphInput& batch, nn::Pass& pass) {
        return batch_edge_scores(batch, pass);
      },
      /*padded=*/false);
}

TrainBatch GraphMethod::make_batch(nn::Step& step, const torch::Tensor& drawn_now,
                                   int64_t room) const {
  const Labels& labels = training().labels;
  const torch::Tensor ids = step.indices([this](const nn::When& when) { return drawn(when); });
  return {cuts_there_ ? nn::pick_padded_input(training().graph, rooms_, room, ids)
                      : nn::pick_input(training().graph, drawn_now),
          ids, to_place_of(labels.y, ids).index_select(0, ids),
          step.pass([this](const nn::When& when) {
            return rng_.stream("dropout", when.epoch, when.place());
          }),
          step};
}

void GraphMethod::train_step(nn::Step& step, int64_t room,
                             const std::function<BatchLoss(TrainBatch&)>& objective) {
  const bool accumulate = training_options_.accumulate;
  const torch::Tensor& all = batches_[step.when().step];
  const torch::Tensor ids = drawn(step.when());
  const double share = step.when().share_of(all);
  step.counts(share);
  if (ids.numel() == 0) return take_step(step);  // an empty shard
  if (step.when().shards > 1) {
    view_.loss.known = nn::known_labels(view_.loss, training().labels.y.index_select(0, all));
  }
  TrainBatch batch = make_batch(step, ids, room);
  const Stage forward("classify");
  const BatchLoss loss = objective(batch);
  if (!accumulate) {
    for (nn::Adam* optimiser : optimisers()) optimiser->zero_grad();
  }
  const Stage stage("backward");
  const double weight = accumulate ? share / static_cast<double>(batches_.size()) : share;
  (weight == 1.0 ? loss.total : loss.total * weight).backward();
  take_step(step);
  names_ = {"total"};
  std::vector<torch::Tensor> values = {loss.total};
  for (const BatchTerm& term : loss.terms) {
    names_.push_back(term.name);
    values.push_back(term.value);
  }
  if (share != 1.0) {
    for (torch::Tensor& value : values) value = value.detach() * share;
  }
  step.report(values);
}

void GraphMethod::take_step(nn::Step& step) {
  if (training_options_.accumulate) return;
  for (nn::Adam* optimiser : optimisers()) step.take(*optimiser);
}

// Steps that are recorded add to gradients that stay where they are.
void GraphMethod::start_sums() {
  if (!set_.device().is_cuda()) {
    for (nn::Adam* optimiser : optimisers()) optimiser->zero_grad();
    return;
  }
  for (const nn::ParameterSet* set : {&set_, helper()}) {
    if (!set) continue;
    for (const auto& [name, parameter] : set->parameters()) {
      if (parameter.grad().defined()) parameter.mutable_grad().zero_();
    }
  }
}

std::vector<LossTerm> GraphMethod::run_epoch(int64_t epoch,
                                             const std::function<BatchLoss(TrainBatch&)>& objective,
                                             const torch::Tensor& ids, int64_t variant) {
  ensure(steps_.has_value(), "run_epoch: start_steps() was not called");
  batches_ = epoch_batches(ids.defined() ? ids : training().labels.loss, training_options_.batch,
                           rng_.stream("batches", epoch));
  const bool accumulate = training_options_.accumulate;
  const auto count = static_cast<int64_t>(batches_.size());
  if (accumulate) start_sums();
  for (size_t k = 0; k < batches_.size(); ++k) {
    const int64_t room = cuts_there_ ? rooms_.room_of(batches_[k]) : 0;
    steps_->run({epoch, static_cast<int64_t>(k)},
                [&](nn::Step& step) { train_step(step, room, objective); },
                {batches_[k].numel(), room, variant, accumulate ? count : 0});
  }
  for (nn::Adam* optimiser : optimisers()) {
    if (accumulate) optimiser->step();
  }
  std::vector<LossTerm> sums;
  for (const std::string& name : names_) sums.push_back({name, 0.0});
  const double share = 1.0 / static_cast<double>(batches_.size());
  for (const std::vector<double>& values : steps_->read()) {
    // A process whose shards were all empty knows no names.
    while (sums.size() < values.size()) sums.push_back({fmt::format("term{}", sums.size()), 0.0});
    for (size_t k = 0; k < values.size(); ++k) sums[k].value += values[k] * share;
  }
  return sums;
}

}  // namespace grm::graph_level
