// IS-GIB: individual and structural graph information bottlenecks (Yang et al., 2023).
//
//   X0 = X W_in + b_in;  F = dropout(relu(BN(conv1(X0))));  logits = conv2(F)
//   L  = L_erm + w_same L_same + w_diff L_diff + w_individual L_ind + w_second L_2nd
//              + w_variance Var_g(l_g)
//
//   L_erm   mean over training graphs of the loss l_g on all labelled nodes
//   L_same  - sum over pairs of one label of log sigmoid(z_i . z_j)            keep the label
//   L_diff  - sum over pairs of two labels of log(1 - sigmoid(z_i . z_j))
//   L_ind   - sum_i log(1 - sigmoid((a_i W_c) . z_i))                          forget the input
//   L_2nd   || A A^T - Z Z^T ||_F
//
// a_i and z_i are the rows of X0 and F of up to `pair_nodes` labelled nodes per training graph,
// drawn anew in every epoch and put together over the graphs. One full-batch Adam step per epoch;
// with train.batch, steps on samples of the graphs, whose targets are the labelled nodes of a step.
//
// Differences from the authors' code: two GCN layers on X0 in place of three GraphSAGE layers of
// width 64, so that all methods share one kind of network; logarithms of sigmoids as softplus,
// which makes their 1e-20 unnecessary; the protocol's 200 epochs, not 500.
//
// L_same to L_2nd are in isgib_terms.cpp.
#include "methods/isgib.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "grm/nn/layers.h"
#include "methods/backbone_cost.h"
#include "methods/backbone_method.h"
#include "methods/draw.h"
#include "methods/layer_wise.h"
#include "methods/mini_batches.h"
#include "nn/data_propagation.h"
#include "nn/input_gradient.h"
#include "nn/own_network.h"
#include "ops/sparse.h"

namespace grm {
namespace {

struct IsGibOptions : MethodOptions {
  nn::BackboneKind backbone = nn::BackboneKind::gcn;
  nn::Conv conv = nn::Conv::kipf;
  int64_t input_width = 128;
  int64_t hidden = 128;
  double dropout = 0.1;
  bool batch_norm = true;
  OptimiserOptions optimiser{Optimiser::adam, 0.01, 0.0};
  double w_same = 1e-2;
  double w_diff = 1e-5;
  double w_individual = 1.0;
  double w_second = 1e-11;
  double w_variance = 0.0;
  int64_t pair_nodes = 128;
  int64_t pair_block = 256;

  void declare(OptionList& list) {
    list.choice(
            "backbone", backbone, {nn::BackboneKind::gcn, nn::BackboneKind::own},
            "the network on the mapped features: two gcn layers, or one that is handed over, as "
            "Python does, and gives rows of width method.hidden besides")
        .came_later();
    list.choice("conv", conv,
                "how a layer gathers neighbours: plain sums, or self-loops and symmetric "
                "normalisation");
    list.add("input_width", input_width, {1, 65536}, "width of the linear map of the features");
    list.add("hidden", hidden, {1, 65536}, "width of the hidden layer");
    list.add("dropout", dropout, {0, 0.99}, "share of the hidden entries dropped while training");
    list.add("batch_norm", batch_norm, "whether the hidden layer is normalised over its rows");
    optimiser.declare(list);
    list.add("w_same", w_same, {0, 1e6}, "weight of the term over pairs of one label");
    list.add("w_diff", w_diff, {0, 1e6}, "weight of the term over pairs of two labels");
    list.add("w_individual", w_individual, {0, 1e6},
             "weight of the term that hides the input of a node from its hidden row");
    list.add("w_second", w_second, {0, 1e6},
             "weight of the distance between the similarities of input and hidden rows");
    list.add("w_variance", w_variance, {0, 1e6},
             "weight of the variance of the losses of the training graphs; 0: off, as published");
    list.add("pair_nodes", pair_nodes, {1, 1e6},
             "labelled nodes drawn from each training graph for the bottleneck terms");
    list.add("pair_block", pair_block, {1, 32768},
             "rows of the matrix of pairs that are held at a time; changes memory, not results");
  }

  nn::BackboneOptions gcn() const {
    nn::BackboneOptions o;
    o.conv = conv;
    o.hidden = hidden;
    o.dropout = dropout;
    o.batch_norm = batch_norm;
    return o;
  }
  std::optional<MemoryUses> memory(const RunShape& given) const {
    const RunShape run = on_samples(given, hops());
    Held held;
    for (const DomainShape& g : run.training) {
      held.add(nn::backbone_cost(gcn(), g, run.classes));
      held.kept += 2 * cost::kFloat * g.nodes * static_cast<double>(input_width);
    }
    return backbone_memory(gcn(), run, held);
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    const double w = static_cast<double>(input_width), h = static_cast<double>(hidden);
    WorkCount all;
    double drawn = 0;
    for (const DomainShape& g : run.training) {
      GraphShape mapped = g;  // the GCN reads rows of the linear map
      mapped.sparse = 0;
      mapped.dense = w;
      all.features("input", g, w);
      all.add(nn::backbone_cost(gcn(), mapped, run.classes).work);
      drawn += static_cast<double>(std::min(pair_nodes, g.counted.numel()));
    }
    all.product("critic", drawn, w, h, 3);
    all.product("pairs", drawn, 2 * h + w, drawn, 2);  // z z^T twice, a a^T; their gradients
    return all;
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    return {smaller("hidden", hidden, 16)};
  }
  bool takes_batches() const { return true; }
  bool own() const { return backbone == nn::BackboneKind::own; }
  std::optional<int64_t> hops() const { return own() ? std::nullopt : nn::hops(gcn()); }
};

constexpr int64_t kHops = 2;

class IsGib final : public Method {
 public:
  IsGib(const IsGibOptions& options, const TrainView& view, const Rng& rng)
      : options_(options),
        view_(view),
        rng_(rng),
        set_(rng),
        propagation_(options.conv, set_.dtype(), set_.device()),
        input_(set_, "input", view.features, options.input_width),
        steps_(set_.device(), !view.sampling.on() && !options.own()),
        batches_(view.sampling, rng, options.hops()) {
    if (options.own()) {
      own_ = nn::make_own_network(set_, "own", options.input_width, view.classes);
    } else {
      first_ = nn::GcnLayer(set_, "conv1", options.input_width, options.hidden);
      second_ = nn::GcnLayer(set_, "conv2", options.hidden, view.classes);
    }
    critic_ = nn::Linear(set_, "critic", options.input_width, options.hidden, false);
    require_classes(view, "isgib", "it pairs nodes of equal and of different classes");
    tell_unread_edges(view, "isgib", true, options.own());
    if (options.batch_norm && !own_) norm_ = nn::BatchNorm(set_, "norm1", options.hidden);
    optimiser_ = std::make_unique<nn::Adam>(
        set_, options.optimiser.lr, options.optimiser.weight_decay, options.optimiser.decoupled());
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    for (int64_t at = 0; at < batches_.steps(view_.training); ++at) {
      const std::vector<Domain> domains = batches_.draw(view_.training, {epoch, at});
      steps_.run({epoch, at}, [&](nn::Step& step) { train_step(step, domains); });
    }
    const std::vector<double> values = mean_over_steps(steps_.read());
    return {{"total", values[0]}, {"erm", values[1]},        {"same", values[2]},
            {"diff", values[3]},  {"individual", values[4]}, {"second", values[5]}};
  }

  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override {
    const nn::Evaluating evaluating;
    nn::Pass pass = nn::Pass::evaluate();
    if (!own_ && (batches_.on() || needs_layer_wise(graph)) && !nn::InputGradient::wanted()) {
      return layer_wise(graph, nodes, kHops, [&](int64_t l, const Graph& part) {
        const nn::Propagation p = propagation_.get(part, 0);
        return l == 0 ? hidden(input_.forward(part.x), p, pass) : second_.forward(part.x.dense, p);
      });
    }
    return select_rows(forward(graph, pass).logits, nodes);
  }
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {optimiser_.get()}; }

 private:
  struct Output {
    torch::Tensor input;   // [n, input_width]: X0
    torch::Tensor hidden;  // [n, hidden]: F
    torch::Tensor logits;  // [n, classes]
  };

  void train_step(nn::Step& step, const std::vector<Domain>& domains) {
    std::vector<torch::Tensor> losses, a_rows, z_rows, labels;
    for (size_t d = 0; d < domains.size(); ++d) {
      const Domain& domain = domains[d];
      const auto stream = [this, d](const char* name) {
        return [this, d, name](const nn::When& when) {
          return rng_.stream(name, when.epoch, place_in_step(when, d));
        };
      };
      nn::Pass& pass = step.pass(stream("dropout"));
      const Output out = forward(domain.graph, pass);
      losses.push_back(domain_loss(view_.loss, domain.labels, out.logits));
      const torch::Tensor counted = domain.labels.loss;
      const torch::Tensor nodes =
          step.indices([this, counted, pairs = stream("pairs")](const nn::When& when) {
            return draw_nodes(counted, options_.pair_nodes, pairs(when));
          });
      a_rows.push_back(ops::gather_rows(out.input, nodes));
      z_rows.push_back(ops::gather_rows(out.hidden, nodes));
      labels.push_back(select_rows(to_place_of(domain.labels.y, nodes), nodes));
    }
    const torch::Tensor a = torch::cat(a_rows), z = torch::cat(z_rows);
    const torch::Tensor l = torch::stack(losses);
    const torch::Tensor erm = l.mean();
    const torch::Tensor relation =
        isgib::label_relation(z, torch::cat(labels), options_.pair_block);
    const torch::Tensor individual = isgib::individual(critic_.forward(a), z);
    const torch::Tensor second = isgib::second_order(a, z, options_.pair_block);
    torch::Tensor total = erm + options_.w_same * relation[0] + options_.w_diff * relation[1] +
                          options_.w_individual * individual + options_.w_second * second;
    if (options_.w_variance > 0.0 && l.numel() > 1) {
      total = total + options_.w_variance * l.var(/*unbiased=*/true);
    }
    optimiser_->zero_grad();
    const Stage stage("backward");
    total.backward();
    step.take(*optimiser_);
    step.report({total, erm, relation[0], relation[1], individual, second});
  }

  Output forward(const Graph& graph, nn::Pass& pass) {
    const torch::Tensor x0 = input_.forward(graph.x);
    if (own_) return forward_own(graph, x0, pass);
    const torch::Tensor h = hidden(x0, propagation_.get(graph, 0), pass);
    return {x0, h, second_.forward(h, propagation_.get(graph, 1))};
  }

  Output forward_own(const Graph& graph, const torch::Tensor& x0, nn::Pass& pass) {
    nn::BackboneInput input = nn::input_of(graph);
    input.x = {};
    input.x.dense = x0;
    const nn::BackboneOutput out = own_->forward(input, pass);
    if (!out.hidden.defined() || out.hidden.dim() != 2 || out.hidden.size(0) != x0.size(0) ||
        out.hidden.size(1) != options_.hidden) {
      fail(ErrorKind::shape,
           "isgib hides the input of a node from its hidden row: let the network return (hidden, "
           "logits), hidden with method.hidden = {} columns",
           options_.hidden);
    }
    return {x0, out.hidden, out.logits};
  }

  torch::Tensor hidden(const torch::Tensor& x0, const nn::Propagation& p, nn::Pass& pass) {
    torch::Tensor h = first_.forward(x0, p);
    if (options_.batch_norm) h = norm_.forward(h, pass);
    return pass.dropout(torch::relu(h), options_.dropout);
  }

  IsGibOptions options_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  nn::DataPropagation propagation_;
  nn::Linear input_;
  std::unique_ptr<nn::Backbone> own_;  // null: the layers below
  nn::GcnLayer first_, second_;
  nn::Linear critic_;
  nn::BatchNorm norm_;
  std::unique_ptr<nn::Adam> optimiser_;  // built last, over the whole set
  nn::StepRecorder steps_;
  MiniBatches batches_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_isgib() {
  return std::make_unique<SimpleRecipe<IsGibOptions, IsGib>>();
}

}  // namespace grm
