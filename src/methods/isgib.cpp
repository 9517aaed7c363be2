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
#include "methods/isgib.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

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
namespace isgib {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <class Body>
void for_blocks(int64_t rows, int64_t block, Body body) {
  for (int64_t begin = 0; begin < rows; begin += block) {
    body(begin, std::min(block, rows - begin));
  }
}

// Row by row, then in double: the order does not depend on the number of threads.
Tensor total(const Tensor& matrix) {
  return matrix.sum(1).to(torch::kFloat64).sum();
}

Tensor zero_of(const Tensor& like) {
  return torch::zeros({}, like.options().dtype(torch::kFloat64));
}

struct LabelRelation : torch::autograd::Function<LabelRelation> {
  // Whether labels agree: [count, b], for a block of rows.
  static Tensor agreement(const Tensor& y, int64_t begin, int64_t count) {
    return y.narrow(0, begin, count).unsqueeze(1).eq(y.unsqueeze(0));
  }

  static Tensor forward(AutogradContext* context, const Tensor& z, const Tensor& y, int64_t block) {
    context->save_for_backward({z, y});
    context->saved_data["block"] = block;
    Tensor same = zero_of(z), diff = zero_of(z);
    for_blocks(z.size(0), block, [&](int64_t begin, int64_t count) {
      const Tensor agree = agreement(y, begin, count);
      const Tensor u = torch::mm(z.narrow(0, begin, count), z.t());
      const Tensor cost = -torch::log_sigmoid(torch::where(agree, u, -u));
      same += total(cost.masked_fill(agree.logical_not(), 0));
      diff += total(cost.masked_fill(agree, 0));
    });
    return torch::stack({same, diff}).to(z.scalar_type());
  }

  // With g_ij = dL/du_ij, which is symmetric: dL/dz_i = 2 sum_j g_ij z_j.
  static variable_list backward(AutogradContext* context, variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "label_relation has no second derivative");
    const variable_list saved = context->get_saved_variables();
    const Tensor &z = saved[0], &y = saved[1];
    Tensor dz = torch::empty_like(z);
    for_blocks(z.size(0), context->saved_data["block"].toInt(), [&](int64_t begin, int64_t count) {
      const Tensor agree = agreement(y, begin, count);
      const Tensor u = torch::mm(z.narrow(0, begin, count), z.t());
      const Tensor g = torch::where(agree, torch::sigmoid(-u) * (-outputs[0][0]),
                                    torch::sigmoid(u) * outputs[0][1]);
      dz.narrow(0, begin, count).copy_(2 * torch::mm(g, z));
    });
    return {dz, Tensor(), Tensor()};
  }
};

struct SecondOrder : torch::autograd::Function<SecondOrder> {
  static Tensor difference(const Tensor& a, const Tensor& z, int64_t begin, int64_t count) {
    return torch::mm(a.narrow(0, begin, count), a.t()) -
           torch::mm(z.narrow(0, begin, count), z.t());
  }

  static Tensor forward(AutogradContext* context, const Tensor& a, const Tensor& z, int64_t block) {
    Tensor squares = zero_of(z);
    for_blocks(z.size(0), block, [&](int64_t begin, int64_t count) {
      squares += total(difference(a, z, begin, count).square());
    });
    const Tensor norm = squares.sqrt();
    context->save_for_backward({a, z, norm});
    context->saved_data["block"] = block;
    return norm.to(z.scalar_type());
  }

  // M = a a^T - z z^T is symmetric: da = 2 (M / norm) a and dz = -2 (M / norm) z.
  static variable_list backward(AutogradContext* context, variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "second_order has no second derivative");
    const variable_list saved = context->get_saved_variables();
    const Tensor &a = saved[0], &z = saved[1], &norm = saved[2];
    Tensor da = torch::empty_like(a), dz = torch::empty_like(z);
    const Tensor share = 2.0 * outputs[0].to(torch::kFloat64) / norm;
    const Tensor scale = torch::where(norm > 0.0, share, torch::zeros_like(share));
    for_blocks(z.size(0), context->saved_data["block"].toInt(), [&](int64_t begin, int64_t count) {
      const Tensor m = difference(a, z, begin, count) * scale;
      da.narrow(0, begin, count).copy_(torch::mm(m, a));
      dz.narrow(0, begin, count).copy_(torch::mm(m, z).neg_());
    });
    return {da, dz, Tensor()};
  }
};

}  // namespace

Tensor label_relation(const Tensor& z, const Tensor& y, int64_t block) {
  ensure(block > 0 && z.dim() == 2 && y.dim() == 1 && y.size(0) == z.size(0),
         "label_relation: rows, labels and block do not fit");
  return LabelRelation::apply(z, to_place_of(y, z), block);
}

Tensor individual(const Tensor& critic, const Tensor& z) {
  const Tensor cost = -torch::log_sigmoid(-(critic * z).sum(1));
  return ops::segment_sum(torch::tensor({int64_t{0}, cost.size(0)}, torch::kInt64), cost)
      .squeeze(0);
}

Tensor second_order(const Tensor& a, const Tensor& z, int64_t block) {
  ensure(block > 0 && a.dim() == 2 && z.dim() == 2 && a.size(0) == z.size(0),
         "second_order: rows and block do not fit");
  return SecondOrder::apply(a, z, block);
}

}  // namespace isgib

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
        "Python does, and gives rows of width method.hidden besides");
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
