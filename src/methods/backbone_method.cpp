#include "methods/backbone_method.h"

#include <torch/types.h>

#include "core/stages.h"
#include "grm/graph/device.h"
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
      backbone_(nn::make_backbone(set_, "", backbone, view.features, view.classes)),
      optimiser_(set_, optimiser.lr, optimiser.weight_decay, optimiser.decoupled()),
      recordable_(set_.device().is_cuda() && backbone.backbone != nn::BackboneKind::own),
      steps_(set_.device(), recordable_) {}

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
  nn::Pass& pass = step.pass([this, place](const nn::When& when) {
    return rng_.stream("dropout", static_cast<uint64_t>(when.epoch), place);
  });
  return forward(pass, domain, edges, edge_weights, shared);
}

nn::BackboneOutput BackboneMethod::forward(nn::Pass& pass, const Domain& domain,
                                           const AdjacencyPtr& edges,
                                           const torch::Tensor& edge_weights,
                                           SharedProducts* shared) {
  const Stage stage("classify");
  return backbone_->forward({edges ? edges : domain.graph.edges, domain.graph.x, edge_weights,
                             shared ? shared->of(domain.graph) : nullptr},
                            pass);
}

torch::Tensor BackboneMethod::logits(const Graph& graph, const torch::Tensor& nodes) {
  const nn::Evaluating evaluating;
  const auto predict = [&] {
    nn::Pass pass = nn::Pass::evaluate();
    return select_rows(backbone_->forward({graph.edges, graph.x, {}, nullptr}, pass).logits, nodes);
  };
  const bool recorded = recordable_ && !nn::InputGradient::wanted();
  return recorded ? predictions_.get(graph, nodes, set_.device(), predict) : predict();
}

}  // namespace grm
