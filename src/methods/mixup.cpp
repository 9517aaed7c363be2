// Mixup at node level (Zhang et al., ICLR 2018; for nodes Wang et al., WWW 2021): the network is
// trained on nodes that are in between two nodes, with labels in between.
//
//   one l ~ Beta(alpha, alpha) and one permutation pi of a graph's labelled nodes an epoch
//   a_0 = x,  a_(k+1) = s(f(a_k, a_k))            f(x, z) = A x W1 + z W2 + b, s = batch norm, ReLU
//   z_0 = l a_0 + (1 - l) pi a_0
//   z_(k+1) = l s(f(a_k, z_k)) + (1 - l) s(f_pi(pi a_k, z_k))
//   L = mean over domains of l CE(g(z_L), y) + (1 - l) CE(g(z_L), pi y),  g linear
//
// f_pi has the edges of the permuted graph, so that A_pi pi a = pi (A a): no graph is built. GOOD's
// code takes a_L in place of a_k from the second layer on; here it is a_k, as published. Prediction
// is a_L, the case l = 1, which alpha = 0 trains: ERM on this network.
#include "methods/mixup.h"

#include <torch/types.h>

#include "core/stages.h"
#include "grm/graph/device.h"
#include "methods/backbone_cost.h"
#include "methods/backbone_method.h"
#include "methods/shared_graph.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm {
namespace {

struct MixupOptions : MethodOptions {
  MixupNetOptions net;
  OptimiserOptions optimiser;
  double alpha = 1.0;

  void declare(OptionList& list) {
    list.choice("conv", net.conv,
                "sum of the neighbours, or kipf: self-loops and symmetric normalisation");
    list.add("hidden", net.hidden, {1, 65536}, "hidden width");
    list.add("layers", net.layers, {1, 64}, "layers before the linear map to the classes");
    list.add("dropout", net.dropout, {0, 0.99}, "dropout after each layer");
    list.add("batch_norm", net.batch_norm, "batch norm in each layer");
    list.add("input_dropout", net.input_dropout, {0, 0.99},
             "share of the input features dropped while training")
        .came_later();
    optimiser.declare(list);
    list.add("alpha", alpha, {0, 1000}, "of Beta(alpha, alpha), the share of a node; 0: no mixing");
  }
  // As a GCN of these widths. What arrives, the node itself and two branches wait together.
  nn::BackboneOptions as_backbone() const {
    nn::BackboneOptions o;
    o.conv = net.conv;
    o.hidden = net.hidden;
    o.layers = net.layers + 1;
    o.dropout = net.dropout;
    o.batch_norm = net.batch_norm;
    return o;
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    Held held;
    for (const DomainShape& g : run.training) {
      held.add(nn::backbone_cost(as_backbone(), g, run.classes), 5.0);
    }
    return backbone_memory(as_backbone(), run, held, "", /*models=*/2);
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    const double h = static_cast<double>(net.hidden);
    WorkCount all;
    for (const DomainShape& g : run.training) {
      all.features("features", g, 2 * h);  // W1 and W2
      all.product("maps", g.nodes, h, 3 * h, 3.0 * static_cast<double>(net.layers - 1));
      all.sparse("propagation", cost::operator_entries(net.conv, g.edges, g.nodes), g.nodes, h,
                 2.0 * static_cast<double>(net.layers));
      all.product("maps", 2 * g.nodes, h, run.classes, 3);
    }
    return all;
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const {
    return {smaller("hidden", net.hidden, 16), smaller("layers", net.layers, 1)};
  }
};

// A training graph: the labelled nodes of its domains, mixed with each other.
struct MixedGraph {
  const Graph* graph;
  torch::Tensor labelled;              // [k], of all its domains
  torch::Tensor y;                     // of all nodes, where the network computes
  std::vector<torch::Tensor> counted;  // by domain
};

class Mixup final : public Method {
 public:
  Mixup(const MixupOptions& options, const TrainView& view, const Rng& rng)
      : alpha_(options.alpha),
        view_(view),
        rng_(rng),
        set_(rng),
        net_(set_, options.net, view.features, view.classes),
        optimiser_(set_, options.optimiser.lr, options.optimiser.weight_decay,
                   options.optimiser.decoupled()),
        steps_(set_.device()) {
    tell_unread_edges(view, "mixup", true, false);
    for (const Domain& domain : view_.training) add(domain);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    steps_.run({epoch, 0}, [this](nn::Step& step) { train_step(step); });
    const std::vector<double> values = steps_.read().front();
    return {{"total", values[0]}, {"risk", values[1]}};
  }

  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes) override {
    const nn::Evaluating evaluating;
    const auto predict = [&] {
      nn::Pass pass = nn::Pass::evaluate();
      return select_rows(net_.forward(graph, pass).plain, nodes);
    };
    const bool recorded = set_.device().is_cuda() && !nn::InputGradient::wanted();
    return recorded ? predictions_.get(graph, nodes, set_.device(), predict) : predict();
  }
  void forget_graphs() override { predictions_.forget(); }
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {&optimiser_}; }

 private:
  // Domains that are nodes of one graph share it.
  void add(const Domain& domain) {
    const Labels& labels = domain.labels;
    const torch::Tensor y = on_device(labels.y, set_.device());
    for (MixedGraph& known : graphs_) {
      if (!same_graph(*known.graph, domain.graph)) continue;
      known.labelled = torch::cat({known.labelled, labels.loss});
      known.y =
          known.y.index_copy(0, on_device(labels.loss, set_.device()), select_rows(y, labels.loss));
      known.counted.push_back(labels.loss);
      return;
    }
    graphs_.push_back({&domain.graph, labels.loss, y, {labels.loss}});
  }

  // Reports the loss of the mixed nodes and that of the nodes as they are.
  void train_step(nn::Step& step) {
    const torch::Tensor l = step.number([this](const nn::When& when) {
                                  return draw_beta(rng_.stream("mixup", when.epoch), alpha_);
                                })
                                .to(set_.dtype());
    torch::Tensor total, risk;
    const double share = 1.0 / static_cast<double>(view_.training.size());
    const auto add_to = [share](torch::Tensor& sum, const torch::Tensor& loss) {
      sum = sum.defined() ? sum + share * loss : share * loss;
    };
    for (size_t k = 0; k < graphs_.size(); ++k) {
      const MixedGraph& mixed = graphs_[k];
      nn::Pass& pass = step.pass(
          [this, k](const nn::When& when) { return rng_.stream("dropout", when.epoch, k); });
      const torch::Tensor order = step.indices([this, k](const nn::When& when) {
        return shuffled_among(graphs_[k].graph->nodes(), graphs_[k].labelled,
                              rng_.stream("mixup order", when.epoch, k));
      });
      const MixupNet::Output out = net_.forward(*mixed.graph, pass, order, l);
      const torch::Tensor other = mixed.y.index_select(0, order);
      for (const torch::Tensor& nodes : mixed.counted) {
        const auto loss = [&](const torch::Tensor& rows, const torch::Tensor& y) {
          return nn::supervised_loss(view_.loss, ops::gather_rows(rows, nodes),
                                     select_rows(y, nodes));
        };
        add_to(total, l * loss(out.mixed, mixed.y) + (1.0 - l) * loss(out.mixed, other));
        add_to(risk, loss(out.plain.detach(), mixed.y));
      }
    }
    optimiser_.zero_grad();
    const Stage stage("backward");
    total.backward();
    step.take(optimiser_);
    step.report({total, risk});
  }

  double alpha_;
  TrainView view_;
  Rng rng_;
  nn::ParameterSet set_;
  MixupNet net_;
  nn::Adam optimiser_;
  nn::StepRecorder steps_;
  std::vector<MixedGraph> graphs_;
  DevicePredictions predictions_;
};

}  // namespace

std::unique_ptr<MethodRecipe> make_mixup() {
  return std::make_unique<SimpleRecipe<MixupOptions, Mixup>>();
}

}  // namespace grm
