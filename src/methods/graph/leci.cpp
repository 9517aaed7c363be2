// LECI: label and environment causal independence (Gui, Liu, Li, Luo and Ji, NeurIPS 2023). A part of
// each graph is selected so that the label cannot be read from the rest, nor the environment from the
// part.
//
//   h = f_S(x, E),  s_uv = MLP([h_u ; h_v]) with batch norm
//   att = sig((s + log u - log(1 - u)) / T), u uniform, mean over both directions; predictions: sig(s)
//   R   = CE(label | f_C with messages times att)
//   L_A = CE(label | f_L with messages times 1 - rev(att; la))
//   E_A = CE(environment | f_E with messages times rev(att; ea))
//   E_F = CE(environment | D(rev(m(x); ef))) where ef > 0: the filter m then feeds all networks
//   L   = R + L_A + E_A + E_F + information * GSAT's term
//   rev(.; c): identity, gradient times -c a,  a = 2 / (1 + exp(-10 p)) - 1, p the share of training
//
// f_S, f_C, f_L and f_E are networks of their own. f_L, f_E and D serve training alone: they are
// trained beside the model and are part of checkpoints, not of the model. The authors keep no model of
// the first epochs (50 or 100); here validation may choose any.
#include <torch/types.h>

#include <algorithm>

#include "grm/graph/device.h"
#include "methods/environment_objective.h"
#include "methods/environment_penalties.h"
#include "methods/graph/environments.h"
#include "methods/graph/gsat.h"
#include "methods/graph/normalised_scorer.h"
#include "methods/graph/plain.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm::graph_level {
namespace {

struct LeciOptions : PlainGraphOptions {
  double label_adversary = 1.0, environment_adversary = 1.0, feature_adversary = 0.0;
  double information = 0.0;
  double attention_dropout = 0.5;
  double temperature = 1.0, last_temperature = 1.0;
  int64_t interval = 10;
  double r = 0.7;
  int64_t ramp = 100;
  EnvironmentOptions environments;

  std::string undivided() const {
    return "its adversaries compare the environments of a whole batch, of which a shard may hold "
           "one";
  }
  void declare(OptionList& list) {
    PlainGraphOptions::declare(list, /*one=*/false);
    list.add("label_adversary", label_adversary, {0, 1e6},
             "size of the reversed gradient from what reads the label in the rest of a graph");
    list.add("environment_adversary", environment_adversary, {0, 1e6},
             "the same from what reads the environment in the selected part");
    list.add("feature_adversary", feature_adversary, {0, 1e6},
             "the same from what reads it in filtered features; 0: features are not filtered");
    list.add("information", information, {0, 1e6}, "weight of GSAT's cost of attention");
    list.add("attention_dropout", attention_dropout, {0, 0.99},
             "dropout in the network that scores edges");
    list.add("temperature", temperature, {1e-3, 1e3}, "of noisy attention, in the first epoch");
    list.add("last_temperature", last_temperature, {1e-3, 1e3},
             "reached on a line in `ramp` epochs");
    list.add("interval", interval, {1, 1e6}, "information: epochs between two steps of r");
    list.add("r", r, {1e-3, 0.999}, "information: the last probability of an unknown edge");
    list.add("ramp", ramp, {1, 1e7},
             "epochs in which the reversal of gradients grows to its full size");
    environments.declare(list);
  }
  bool filters() const { return feature_adversary > 0.0; }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    const DomainShape& set = run.training.front();
    const double share =
        std::min(1.0, static_cast<double>(training.batch) / std::max(1.0, set.items));
    return memory_of(encoder, run, 4.0,
                     cost::kFloat * 20 * share * set.edges * static_cast<double>(encoder.hidden));
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    const DomainShape& set = run.training.front();
    const auto d = static_cast<double>(encoder.hidden);
    WorkCount all = work_of({encoder, encoder, encoder, encoder}, run);
    all.product("attention", set.nodes, d, 8 * d, 3);
    all.product("attention", set.edges, 4 * d, d, 3);
    return all;
  }
};

// What reads something from a batch whose messages are weighed.
struct Reader {
  std::unique_ptr<nn::GraphEncoder> encoder;
  nn::Mlp head;
};

class Leci final : public PlainGraphMethod {
 public:
  Leci(const LeciOptions& options, const TrainView& view, const Rng& rng)
      : PlainGraphMethod(options, view, rng, options.filters() ? options.encoder.hidden : 0),
        options_(options),
        helpers_(rng) {
    const int64_t d = options.encoder.hidden, width = options.filters() ? d : view.features;
    if (options.filters()) {
      filter_first_ = nn::Linear(set_, "filter.first", view.features, d);
      filter_second_ = nn::Linear(set_, "filter.second", d, d);
    }
    selector_ =
        nn::make_graph_encoder(set_, "selector", options.encoder, width, view.edge_features);
    scorer_ = NormalisedScorer(set_, "scorer", d, options.attention_dropout, ScorerNorm::batch);
    start_optimiser();  // over what is there now
    if (view.training.empty()) return;
    environments_ = environments_of(options.environments, training());
    environments_.of_item = on_device(environments_.of_item, set_.device());
    steps_of_epoch_ = options.epoch(shapes_of(view.training)).steps;
    const auto reader = [&](const std::string& name, int64_t outputs) {
      return Reader{
          nn::make_graph_encoder(helpers_, name + ".encoder", options.encoder, width,
                                 view.edge_features),
          nn::Mlp(helpers_, name + ".head", head_widths(d, options.head_layers, outputs))};
    };
    of_label_ = reader("label", view.classes);
    of_environment_ = reader("environment", environments_.count);
    if (options.filters()) {
      feature_norm_ = nn::BatchNorm(helpers_, "features.norm", d);
      feature_map_ = nn::Linear(helpers_, "features.map", d, d);
      feature_head_ = nn::Linear(helpers_, "features.head", d, environments_.count);
    }
    const OptimiserOptions& o = options.training.optimiser;
    helper_optimiser_.emplace(helpers_, o.lr, o.weight_decay, o.decoupled());
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    return run_epoch(epoch, [this](TrainBatch& batch) { return batch_loss(batch); });
  }
  std::vector<nn::Adam*> optimisers() override {
    if (!helper_optimiser_) return {&*optimiser_};
    return {&*optimiser_, &*helper_optimiser_};
  }
  std::map<std::string, torch::Tensor> training_state() const override {
    std::map<std::string, torch::Tensor> state;
    add_helper_state(&helpers_, state);
    return state;
  }
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override {
    restore_helper(&helpers_, state);
  }

 private:
  nn::ParameterSet* helper() override { return &helpers_; }

  nn::GraphInput filtered(const nn::GraphInput& batch) const {
    if (!options_.filters()) return batch;
    nn::GraphInput input = batch;
    input.rows = filter_second_.forward(torch::relu(filter_first_.forward(batch.x)));
    input.x = {};
    return input;
  }
  torch::Tensor scores(const nn::GraphInput& input, nn::Pass& pass) {
    return scorer_.forward(selector_->forward(input, pass), input, pass);
  }
  torch::Tensor answer_with(nn::GraphInput input, const torch::Tensor& mask, nn::Pass& pass) {
    input.mask = mask;
    return answer(input, pass).logits;
  }
  torch::Tensor read(const Reader& reader, nn::GraphInput input, const torch::Tensor& mask,
                     nn::Pass& pass) const {
    input.mask = mask;
    const torch::Tensor rows = reader.encoder->forward(input, pass);
    return readout_.logits(readout_.read(input.node_offsets, rows), reader.head);
  }
  torch::Tensor environment_of_features(const nn::GraphInput& input, const torch::Tensor& rows,
                                        const nn::Pass& pass) {
    const torch::Tensor h =
        torch::relu(feature_map_.forward(feature_norm_.forward(rows, pass, input.counted)));
    return feature_head_.forward(ops::segment_mean(input.node_offsets, h));
  }

  // A number of the step in the type of the network's.
  torch::Tensor number(TrainBatch& batch, const std::function<double(const nn::When&)>& of) const {
    return batch.step.number(of).to(set_.dtype());
  }

  BatchLoss batch_loss(TrainBatch& batch) {
    const torch::Tensor a = number(batch, [this](const nn::When& when) {
      return adversary_ramp(when, steps_of_epoch_, options_.ramp);
    });
    const torch::Tensor t = number(batch, [this](const nn::When& when) {
      const double done =
          std::min(1.0, static_cast<double>(when.epoch - 1) / static_cast<double>(options_.ramp));
      return options_.temperature + done * (options_.last_temperature - options_.temperature);
    });
    const Stream noise = batch.step.stream(
        [this](const nn::When& when) { return rng_.stream("attention", when.epoch, when.step); });
    const nn::GraphInput input = filtered(batch.input);
    const torch::Tensor s = scores(input, batch.pass);
    const torch::Tensor drawn = gsat::attention_of(s, gsat::attention_noise(noise, s), t);
    const torch::Tensor attention = gsat::both_directions(drawn, *input.edges);
    const auto reversed = [&](const torch::Tensor& x, double size) {
      return reversed_gradient(x, a * size);
    };
    const torch::Tensor environment = environments_.of_item.index_select(0, batch.ids);
    const torch::Tensor risk =
        nn::supervised_loss(view_.loss, answer_with(input, attention, batch.pass), batch.y);
    const torch::Tensor rest = 1.0 - reversed(attention, options_.label_adversary);
    const torch::Tensor label =
        nn::supervised_loss(view_.loss, read(of_label_, input, rest, batch.pass), batch.y);
    const torch::Tensor part = reversed(attention, options_.environment_adversary);
    torch::Tensor told =
        environment_cross_entropy(read(of_environment_, input, part, batch.pass), environment);
    if (options_.filters()) {
      const torch::Tensor rows = reversed(input.rows, options_.feature_adversary);
      told = told + environment_cross_entropy(environment_of_features(input, rows, batch.pass),
                                              environment);
    }
    BatchLoss loss{risk + label + told,
                   {{"risk", risk}, {"label_adversary", label}, {"environment_adversary", told}}};
    if (options_.information > 0.0) {
      const torch::Tensor r = number(batch, [this](const nn::When& when) {
        return gsat::prior(options_.r, options_.interval, when.epoch - 1);
      });
      const torch::Tensor information = gsat::mean_of_graphs(
          gsat::information(drawn, r), to_place_of(edge_offsets(input), drawn));
      loss.total = loss.total + options_.information * information;
      loss.terms.push_back({"information", information});
    }
    return loss;
  }

  torch::Tensor batch_edge_scores(const nn::GraphInput& batch, nn::Pass& pass) override {
    const torch::Tensor s = scores(filtered(batch), pass);
    return gsat::both_directions(gsat::attention_of(s, {}), *batch.edges);
  }
  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    return answer_with(filtered(batch), batch_edge_scores(batch, pass), pass);
  }

  LeciOptions options_;
  nn::Linear filter_first_, filter_second_;
  std::unique_ptr<nn::GraphEncoder> selector_;
  NormalisedScorer scorer_;
  GraphEnvironments environments_;
  int64_t steps_of_epoch_ = 1;
  nn::ParameterSet helpers_;
  Reader of_label_, of_environment_;
  nn::BatchNorm feature_norm_;
  nn::Linear feature_map_, feature_head_;
  std::optional<nn::Adam> helper_optimiser_;
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_leci() {
  return std::make_unique<SimpleRecipe<graph_level::LeciOptions, graph_level::Leci>>();
}

}  // namespace grm
