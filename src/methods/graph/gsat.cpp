// GSAT: graph stochastic attention (Miao, Liu and Li, ICML 2022). Attention on edges is drawn at
// random, and it costs to be sure of an edge: what the label does not need stays at random.
//
//   h = f(x, E),  s_uv = MLP([h_u ; h_v]),  instance norm over a graph's edges
//   att = sig(s + log u - log(1 - u)), u uniform; sig(s) for predictions
//   logits = head(pool(f(x, E; messages times the mean of att over both directions)))  the same f
//   L = R + lambda mean[att log(att / r) + (1 - att) log((1 - att) / (1 - r))]
//   r = max(final, 0.9 - 0.1 floor((epoch - 1) / interval))
//
// With attention = node s comes from h_u alone and an edge has the product of its ends' att. GOOD
// averages R over missing labels as well, as if their loss were 0; here R is that of all methods.
#include "methods/graph/gsat.h"

#include <torch/types.h>

#include "methods/graph/normalised_scorer.h"
#include "methods/graph/plain.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm::graph_level {
namespace {

struct GsatOptions : PlainGraphOptions {
  gsat::Attention attention = gsat::Attention::edge;
  double attention_dropout = 0.5;
  double lambda = 1.0;
  int64_t interval = 10;
  double r = 0.7;

  void declare(OptionList& list) {
    PlainGraphOptions::declare(list);
    list.choice(
        "attention", attention,
        "what has attention: edges, or nodes, of which an edge has the product of its ends'");
    list.add("attention_dropout", attention_dropout, {0, 0.99},
             "dropout in the network that scores edges or nodes");
    list.add("lambda", lambda, {0, 1e6}, "weight of the information that attention carries");
    list.add("interval", interval, {1, 1e6},
             "epochs between two steps of r, each 0.1 down from 0.9");
    list.add("r", r, {1e-3, 0.999}, "probability of an edge of which nothing is known, at the end");
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    const DomainShape& set = run.training.front();
    const double share =
        std::min(1.0, static_cast<double>(training.batch) / std::max(1.0, set.items));
    const double scored = share * (attention == gsat::Attention::edge ? set.edges : set.nodes);
    // Three arrays of each hidden layer, of 4 and 1 (2 and 1) widths.
    return memory_of(encoder, run, 2.0,
                     cost::kFloat * 15 * scored * static_cast<double>(encoder.hidden));
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    const DomainShape& set = run.training.front();
    const auto d = static_cast<double>(encoder.hidden);
    WorkCount all = work_of({encoder, encoder}, run);
    const bool edges = attention == gsat::Attention::edge;
    all.product("attention", set.nodes, d, edges ? 8 * d : 2 * d, 3);
    all.product("attention", edges ? set.edges : set.nodes, edges ? 4 * d : 2 * d, d, 3);
    return all;
  }
};

class Gsat final : public PlainGraphMethod {
 public:
  Gsat(const GsatOptions& options, const TrainView& view, const Rng& rng)
      : PlainGraphMethod(options, view, rng), options_(options) {
    const int64_t width = options.encoder.hidden;
    if (options.attention == gsat::Attention::edge) {
      edges_ = NormalisedScorer(set_, "attention", width, options.attention_dropout);
    } else {
      nodes_ = gsat::NodeScorer(set_, "attention", width, options.attention_dropout);
    }
    start_optimiser();  // over what is there now
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    return run_epoch(epoch, [this](TrainBatch& batch) { return batch_loss(batch); });
  }

 private:
  // Attention of what has it, as drawn, and of the edges; and where a graph's begins.
  struct Drawn {
    torch::Tensor attention, of_edges, offsets;
  };

  Drawn attend(const nn::GraphInput& batch, nn::Pass& pass, const Stream* noise) {
    const torch::Tensor rows = encoder_->forward(batch, pass);
    const bool of_edges = options_.attention == gsat::Attention::edge;
    const torch::Tensor scores =
        of_edges ? edges_.forward(rows, batch, pass) : nodes_.forward(rows, batch, pass);
    const torch::Tensor attention =
        gsat::attention_of(scores, noise ? gsat::attention_noise(*noise, scores) : torch::Tensor());
    if (of_edges) {
      return {attention, gsat::both_directions(attention, *batch.edges), edge_offsets(batch)};
    }
    const auto [source, target] = edge_list(batch.edges->on(rows.device()));
    const torch::Tensor column = attention.unsqueeze(1);
    const torch::Tensor both = ops::gather_rows(column, source) * ops::gather_rows(column, target);
    return {attention, both.squeeze(1), batch.node_offsets};
  }

  torch::Tensor answer_with(const nn::GraphInput& batch, const torch::Tensor& of_edges,
                            nn::Pass& pass) {
    nn::GraphInput masked = batch;
    masked.mask = of_edges;
    return answer(masked, pass).logits;
  }

  BatchLoss batch_loss(TrainBatch& batch) {
    const torch::Tensor r = batch.step
                                .number([this](const nn::When& when) {
                                  return gsat::prior(options_.r, options_.interval, when.epoch - 1);
                                })
                                .to(set_.dtype());
    const Stream noise = batch.step.stream([this](const nn::When& when) {
      return rng_.stream("attention", when.epoch, when.place());
    });
    const Drawn drawn = attend(batch.input, batch.pass, &noise);
    const torch::Tensor risk = nn::supervised_loss(
        view_.loss, answer_with(batch.input, drawn.of_edges, batch.pass), batch.y);
    const torch::Tensor information = gsat::mean_of_graphs(
        gsat::information(drawn.attention, r), to_place_of(drawn.offsets, drawn.attention));
    return {risk + options_.lambda * information, {{"risk", risk}, {"information", information}}};
  }

  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    return answer_with(batch, attend(batch, pass, nullptr).of_edges, pass);
  }
  torch::Tensor batch_edge_scores(const nn::GraphInput& batch, nn::Pass& pass) override {
    return attend(batch, pass, nullptr).of_edges;
  }

  GsatOptions options_;
  NormalisedScorer edges_;
  gsat::NodeScorer nodes_;
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_gsat() {
  return std::make_unique<SimpleRecipe<graph_level::GsatOptions, graph_level::Gsat>>();
}

}  // namespace grm
