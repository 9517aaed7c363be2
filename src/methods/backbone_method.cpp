#include "methods/backbone_method.h"

#include <torch/types.h>

#include "core/stages.h"
#include "graph/edge_data.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/graph/device.h"
#include "methods/layer_wise.h"
#include "nn/input_gradient.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm {

EpochShape MethodOptions::epoch(const std::vector<DomainShape>& training) const {
  EpochShape epoch;
  for (const DomainShape& g : training) epoch.targets += static_cast<double>(g.counted.numel());
  return epoch;
}

void OptimiserOptions::declare(OptionList& list) {
  list.choice("optimiser", optimiser, "AdamW (decoupled weight decay) or Adam");
  list.add("lr", lr, {0, 10}, "learning rate");
  list.add("weight_decay", weight_decay, {0, 10}, "weight decay, on all parameters");
}

torch::Tensor domain_loss(const TrainLoss& loss, const Labels& labels,
                          const torch::Tensor& logits) {
  const Stage stage("losses");
  const torch::Tensor y = to_place_of(labels.y, logits);
  if (labels.loss.numel() == logits.size(0))
    return nn::supervised_loss(loss, logits, y);  // all rows
  return nn::supervised_loss(loss, ops::gather_rows(logits, labels.loss),
                             select_rows(y, labels.loss));
}

void require_classes(const TrainView& view, const std::string& who, const std::string& why) {
  const Target target = target_of(view.loss.kind);
  if (target == Target::classes) return;
  fail(ErrorKind::config, "{} is for classes, not for {} targets: {}; choose another, such as erm",
       who, to_string(target), why);
}

void tell_unread_edges(const TrainView& view, const std::string& who, bool reads_weights,
                       bool reads_features) {
  if (view.training.empty() || view.level == Level::graph) return;
  if (!reads_weights && view.training.front().graph.edge_weights.defined()) {
    log_warning("{} does not read the weights of edges; all of them count the same", who);
  }
  if (!reads_features && view.edge_features > 0) {
    log_warning(
        "{} does not read the {} features of edges; method.backbone = gin and gatv2 do, with erm "
        "and the other methods that have the option",
        who, view.edge_features);
  }
}

nn::SharedProduct* SharedProducts::of(const Graph& graph) {
  const Features& x = graph.x;
  for (auto& [known, product] : products_) {
    if (known.sparse == x.sparse && known.sparse_values.is_same(x.sparse_values) &&
        known.dense.is_same(x.dense) && known.shift.is_same(x.shift)) {
      return &product;
    }
  }
  products_.push_back({x, {}});
  return &products_.back().second;
}

BackboneMethod::BackboneMethod(const nn::BackboneOptions& backbone,
                               const OptimiserOptions& optimiser, const TrainView& view,
                               const Rng& rng)
    : view_(view),
      rng_(rng),
      set_(rng),
      backbone_(
          nn::make_backbone(set_, "", backbone, view.features, view.classes, view.edge_features)),
      optimiser_(set_, optimiser.lr, optimiser.weight_decay, optimiser.decoupled()),
      recordable_(set_.device().is_cuda() && backbone.backbone != nn::BackboneKind::own &&
                  !view.sampling.on()),
      steps_(set_, view.sharding, recordable_),
      batches_(view.sampling, rng, nn::hops(backbone)),
      hops_(nn::hops(backbone)) {
  const nn::BackboneKind kind = backbone.backbone;
  if (kind == nn::BackboneKind::gcnii) {
    require_classes(view, "method.backbone = gcnii",
                    "its outputs are log-probabilities of classes");
  }
  if (kind == nn::BackboneKind::own) return;
  tell_unread_edges(view, fmt::format("the backbone '{}'", to_string(kind)),
                    kind != nn::BackboneKind::mlp, nn::reads_edge_features(kind));
}

nn::BackboneOutput BackboneMethod::forward(const Domain& domain, int64_t epoch, uint64_t place,
                                           const AdjacencyPtr& edges,
                                           const torch::Tensor& edge_weights,
                                           SharedProducts* shared) {
  nn::Pass pass = nn::Pass::train(rng_.stream("dropout", epoch, place));
  return forward(pass, domain, edges, edge_weights, shared);
}

nn::BackboneOutput BackboneMethod::forward(nn::Step& step, const Domain& domain, uint64_t place,
                                           const AdjacencyPtr& edges,
                                           const torch::Tensor& edge_weights,
                                           SharedProducts* shared) {
  return forward(training_pass(step, place), domain, edges, edge_weights, shared);
}

nn::BackboneOutput BackboneMethod::forward(nn::Step& step, uint64_t place,
                                           const nn::BackboneInput& input) {
  nn::Pass& pass = training_pass(step, place);
  const Stage stage("classify");
  return backbone_->forward(input, pass);
}

nn::Pass& BackboneMethod::training_pass(nn::Step& step, uint64_t place) {
  return step.pass([this, place](const nn::When& when) {
    return rng_.stream("dropout", static_cast<uint64_t>(when.epoch), place_in_step(when, place));
  });
}

nn::BackboneOutput BackboneMethod::forward(nn::Pass& pass, const Domain& domain,
                                           const AdjacencyPtr& edges,
                                           const torch::Tensor& edge_weights,
                                           SharedProducts* shared) {
  const Stage stage("classify");
  const EdgeData data = edge_data(domain.graph, edges);
  nn::BackboneInput input = nn::input_of(domain.graph);
  if (edges) input.edges = edges;
  input.edge_weights = edge_weights;
  input.shared = shared ? shared->of(domain.graph) : nullptr;
  input.data_weights = data.weights;
  input.edge_x = data.x;
  return backbone_->forward(input, pass);
}

torch::Tensor BackboneMethod::logits(const Graph& graph, const torch::Tensor& nodes) {
  const nn::Evaluating evaluating;
  if (hops_ && (batches_.on() || graph.parted || needs_layer_wise(graph)) &&
      !nn::InputGradient::wanted()) {
    return layer_wise(graph, nodes, *hops_, [&](int64_t l, const Graph& part) {
      return backbone_->layer(l, nn::input_of(part));
    });
  }
  const auto predict = [&] {
    nn::Pass pass = nn::Pass::evaluate();
    return select_rows(backbone_->forward(nn::input_of(graph), pass).logits, nodes);
  };
  const bool recorded = recordable_ && !nn::InputGradient::wanted();
  return recorded ? predictions_.get(graph, nodes, set_.device(), predict) : predict();
}

}  // namespace grm
