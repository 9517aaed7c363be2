// DIR (Wu et al., ICLR 2022): the prediction from a rationale must not change when the rest of the
// graph is exchanged for the rest of another graph.
//
//   H = extractor(x, E),  s_uv = scorer([H_u ; H_v])
//   causal edges: the floor(r |E|) highest s of each graph, messages scaled by sig(s)
//   confounder:   all others, messages scaled by sig(-s)
//   c_i = pool(f(H, causal_i)),  t_i = sg(pool(f(H, confounder_i)))       one predictor f
//   z_ij = Wc(c_i) * sig(sg(Ws(t_j))),  q_ij = l(z_ij, y_i),  a' = alpha (epoch - 1)^1.6
//
//   L      = mean_i l(Wc(c_i), y_i) + m mean_ij q_ij + a' spread(q)       all but Ws
//   L_conf = mean_i l(Ws'(t_i), y_i)                                      Ws alone, its own Adam
//
// m = a', or min(a', 1) with `cap_mean`. spread is Var_j(B mean_i q_ij), or mean_i Var_j(q_ij) with
// `variance = plain`. `variance = mean` is GOOD's form: Var_j(mean_i q_ij), and m / B in place of m. Ws' is Ws, followed by one linear map with `extra_map`. The two losses have
// no parameter in common, so one backward pass over their sum serves both optimisers.
//
// Deviations from the authors' code: a graph whose floor(r |E|) is 0 keeps one edge; a batch of one
// graph has no spread; two outputs with the 2-output BCE where they have one logit (Molhiv); the
// model of the best validation epoch is kept, theirs is the last one's.
#include "methods/graph/dir.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "methods/graph/model.h"
#include "methods/graph/subgraph.h"
#include "nn/losses.h"

namespace grm::graph_level {
namespace dir {

double schedule(double alpha, int64_t epochs_before) {
  return alpha * std::pow(static_cast<double>(epochs_before), 1.6);
}

torch::Tensor intervened_losses(const TrainLoss& loss, const torch::Tensor& causal,
                                const torch::Tensor& confounder, const torch::Tensor& y) {
  const int64_t n = causal.size(0), classes = causal.size(1);
  const torch::Tensor z = causal.unsqueeze(1) * torch::sigmoid(confounder.detach()).unsqueeze(0);
  return nn::row_losses(loss, z.reshape({n * n, classes}), y.repeat_interleave(n, 0)).view({n, n});
}

torch::Tensor spread(Spread form, const torch::Tensor& q) {
  const auto n = static_cast<double>(q.size(0));
  if (q.size(0) < 2) return torch::zeros({}, q.options());
  const double scale = form == Spread::scaled ? n : 1.0;
  const torch::Tensor values =
      form == Spread::plain ? q : q.mean(0, true) * scale;  // [., B], over j
  return (values - values.mean(1, true)).square().sum(1).mean() / (n - 1.0);
}

}  // namespace dir

namespace {

struct DirOptions : GraphMethodOptions {
  nn::GraphEncoderOptions predictor{nn::GraphLayerKind::le, 2, 64, 0.0, false, false, true, true};
  int64_t extractor_layers = 2;
  int64_t extractor_hidden = 32;
  bool extractor_batch_norm = false;
  bool extractor_embed = false;
  int64_t scorer_layers = 2;
  int64_t head_layers = 2;
  double r = 0.25;
  double alpha = 1e-2;
  dir::Spread variance = dir::Spread::scaled;
  bool cap_mean = false;
  bool extra_map = false;

  void declare(OptionList& list) {
    predictor.declare(list);
    training.declare(list);
    list.add("extractor_layers", extractor_layers, {1, 32}, "layers of the extractor");
    list.add("extractor_hidden", extractor_hidden, {1, 1e5},
             "width of the extractor's rows, which are the predictor's input");
    list.add("extractor_batch_norm", extractor_batch_norm, "batch norm in the extractor");
    list.add("extractor_embed", extractor_embed, "a linear map before the extractor's layers");
    list.add("scorer_layers", scorer_layers, {1, 2},
             "linear maps from two ends of an edge to its score; two have a hidden width of twice "
             "their input's");
    list.add("head_layers", head_layers, {1, 2},
             "linear maps of each head; two have a hidden width of twice the predictor's");
    list.add("r", r, {1e-6, 1}, "share of the edges of a graph that are causal");
    list.add("alpha", alpha, {0, 1e6}, "weight of the interventions, times (epoch - 1)^1.6");
    list.choice("variance", variance,
                "variance over confounders of the batch's summed loss, of each graph's loss, or of "
                "the batch's mean loss, whose interventions weigh 1 / batch then, as in GOOD");
    list.add("cap_mean", cap_mean, "the mean loss over interventions weighs at most 1");
    list.add("extra_map", extra_map,
             "one more linear map after the confounder head in that head's own loss");
  }

  nn::GraphEncoderOptions extractor() const {
    return predictor.inner(extractor_layers, extractor_hidden, extractor_batch_norm,
                           extractor_embed);
  }
  std::vector<int64_t> scorer_widths() const {
    return head_widths(2 * extractor_hidden, scorer_layers, 1);
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    // Every causal part meets every confounder of its batch.
    const double graphs = std::min(static_cast<double>(training.batch), run.training.front().items);
    return memory_of(predictor, run, 2.5, cost::kFloat * graphs * graphs * run.classes);
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    return work_of({extractor(), predictor}, run);
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const { return savings_of(predictor); }
};

class Dir final : public GraphMethod {
 public:
  Dir(const DirOptions& options, const TrainView& view, const Rng& rng)
      : GraphMethod(options.training, view, rng),
        options_(options),
        extractor_(nn::make_graph_encoder(set_, "extractor", options.extractor(), view.features,
                                          view.edge_features)),
        scorer_(set_, "scorer", options.scorer_widths()),
        predictor_(nn::make_graph_encoder(set_, "predictor", options.predictor,
                                          options.extractor_hidden, view.edge_features)),
        causal_head_(set_, "causal_head", head(view)) {
    start_readout(options.predictor.hidden);
    start_optimiser();  // over what is there by now: all but the confounder's head
    confounder_head_ = nn::Mlp(set_, "confounder_head", head(view));
    if (options.extra_map) {
      extra_map_ = nn::Linear(set_, "confounder_map", view.classes, view.classes);
    }
    const OptimiserOptions& o = options.training.optimiser;
    confounder_optimiser_.emplace(set_.with_prefix("confounder"), o.lr, o.weight_decay,
                                  o.decoupled());
    start_steps(options.predictor);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    return run_epoch(epoch, [this](TrainBatch& batch) { return step(batch); });
  }

  std::vector<nn::Adam*> optimisers() override { return {&*optimiser_, &*confounder_optimiser_}; }

 private:
  // Rows H of a batch's nodes, scores of its edges and which of them are causal.
  struct Cut {
    torch::Tensor rows, scores, causal;
  };

  std::vector<int64_t> head(const TrainView& view) const {
    return head_widths(options_.predictor.hidden, options_.head_layers, view.classes);
  }

  Cut extract(const nn::GraphInput& batch, nn::Pass& pass) {
    const torch::Tensor rows = extractor_->forward(batch, pass);
    const torch::Tensor scores = scorer_.forward(rows, batch.edges);
    return {rows, scores, top_share(scores.detach(), batch, options_.r)};
  }

  // The rows of the nodes of the part with the edges `keep`.
  nn::NodeRows represent(const nn::GraphInput& batch, const torch::Tensor& rows,
                         const torch::Tensor& keep, const torch::Tensor& scores, nn::Pass& pass) {
    nn::GraphInput whole = batch;
    whole.x = {};
    whole.rows = rows;
    Subgraph part = cut(whole, keep);
    if (part.nodes.numel() == 0) {
      return readout_.read(part.input.node_offsets,
                           torch::zeros({0, options_.predictor.hidden}, rows.options()));
    }
    part.input.mask = torch::sigmoid(part.of_edges(scores));
    return readout_.read(part.input.node_offsets, predictor_->forward(part.input, pass));
  }

  BatchLoss step(TrainBatch& batch) {
    const auto weight = [&](bool capped) {
      return batch.step
          .number([this, capped](const nn::When& when) {
            const double a = dir::schedule(options_.alpha, when.epoch - 1);
            return capped ? std::min(a, 1.0) : a;
          })
          .to(set_.dtype());
    };
    const torch::Tensor a = weight(false), m = weight(options_.cap_mean);
    const Cut parts = extract(batch.input, batch.pass);
    const torch::Tensor causal = readout_.logits(
        represent(batch.input, parts.rows, parts.causal, parts.scores, batch.pass), causal_head_);
    nn::NodeRows rest;
    {
      const at::NoGradGuard no_grad;
      rest =
          represent(batch.input, parts.rows, parts.causal.logical_not(), -parts.scores, batch.pass);
    }
    const torch::Tensor confounder = readout_.logits(rest, confounder_head_);
    const torch::Tensor risk = nn::supervised_loss(view_.loss, causal, batch.y);
    const torch::Tensor rest_loss = nn::supervised_loss(
        view_.loss, options_.extra_map ? extra_map_.forward(confounder) : confounder, batch.y);
    const torch::Tensor q = dir::intervened_losses(view_.loss, causal, confounder, batch.y);
    const torch::Tensor mean = q.mean(), spread = dir::spread(options_.variance, q);
    const bool as_good = options_.variance == dir::Spread::mean;
    const double share = as_good ? 1.0 / static_cast<double>(q.size(0)) : 1.0;
    return {
        risk + share * m * mean + a * spread + rest_loss,
        {{"risk", risk}, {"interventions", mean}, {"spread", spread}, {"confounder", rest_loss}}};
  }

  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    const Cut parts = extract(batch, pass);
    return readout_.logits(represent(batch, parts.rows, parts.causal, parts.scores, pass),
                           causal_head_);
  }

  torch::Tensor batch_edge_scores(const nn::GraphInput& batch, nn::Pass& pass) override {
    return extract(batch, pass).scores;
  }

  DirOptions options_;
  std::unique_ptr<nn::GraphEncoder> extractor_;
  EdgeScorer scorer_;
  std::unique_ptr<nn::GraphEncoder> predictor_;
  nn::Mlp causal_head_, confounder_head_;
  nn::Linear extra_map_;
  std::optional<nn::Adam> confounder_optimiser_;
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_dir() {
  return std::make_unique<SimpleRecipe<graph_level::DirOptions, graph_level::Dir>>();
}

}  // namespace grm
