// The two networks of ARM (arm.h).
#include <torch/types.h>

#include <algorithm>

#include "grm/graph/device.h"
#include "methods/arm.h"
#include "nn/input_gradient.h"
#include "ops/bias.h"
#include "ops/sparse.h"

namespace grm {
namespace {

constexpr int64_t kTargetsPerChunk = 512;  // bounds the memory of predict_each

}  // namespace

nn::BackboneOptions ArmModel::two_layer_gcn(const nn::BackboneOptions& given) {
  nn::BackboneOptions options = given;
  options.backbone = nn::BackboneKind::gcn;
  options.layers = 2;
  return options;
}

ArmModel::ArmModel(nn::ParameterSet& set, const nn::BackboneOptions& options, int64_t channels,
                   int64_t features, int64_t classes)
    : options_(two_layer_gcn(options)),
      features_(features),
      classes_(classes),
      propagation_(options.conv, set.dtype(), set.device()),
      context_(nn::make_backbone(set, "context", options_, features, channels)) {
  if (options.backbone == nn::BackboneKind::own) {
    own_ = nn::make_own_network(set, "own", features + channels, classes);
    return;
  }
  weight_ = set.glorot("conv1.weight", features + channels, options.hidden);
  bias_ = set.constant("conv1.bias", {options.hidden}, 0.0);
  if (options.batch_norm) norm_ = nn::BatchNorm(set, "norm1", options.hidden);
  second_ = nn::GcnLayer(set, "conv2", options.hidden, classes);
}

torch::Tensor ArmModel::context_rows(const Graph& graph, nn::Pass& pass) {
  return context_->forward(nn::input_of(graph), pass).logits;
}

torch::Tensor ArmModel::context_layer(int64_t l, const Graph& part) {
  return context_->layer(l, nn::input_of(part));
}

torch::Tensor ArmModel::predict_layer(int64_t l, const Graph& part, const torch::Tensor& context) {
  const nn::Propagation p = propagation_.get(part, 0);
  nn::Pass pass = nn::Pass::evaluate();
  return l == 0 ? hidden(shared(part), p, context, pass) : second_.forward(part.x.dense, p);
}

torch::Tensor ArmModel::context_of_batch(const torch::Tensor& rows, const torch::Tensor& nodes) {
  return ops::gather_rows(rows, nodes).mean(0);
}

torch::Tensor ArmModel::shared(const Graph& graph) {
  if (own_) return {};
  return ops::add_bias(
      propagation_.get(graph).apply(ops::feature_linear(graph.x, weight_of_features())), bias_);
}

torch::Tensor ArmModel::activate(const torch::Tensor& rows, nn::Pass& pass) {
  return torch::relu(options_.batch_norm ? norm_.forward(rows, pass) : rows);
}

torch::Tensor ArmModel::received(const nn::Propagation& p) const {
  const torch::Tensor sums = ops::row_sum(p.pattern, p.weights).to(weight_.scalar_type());
  return to_place_of(sums, weight_).unsqueeze(1);
}

torch::Tensor ArmModel::predict(const Graph& graph, const torch::Tensor& shared_rows,
                                const torch::Tensor& context, nn::Pass& pass) {
  if (own_) return predict_own(graph, context, pass);
  const torch::Tensor h = hidden(shared_rows, propagation_.get(graph, 0), context, pass);
  return second_.forward(h, propagation_.get(graph, 1));
}

torch::Tensor ArmModel::predict_own(const Graph& graph, const torch::Tensor& context,
                                    nn::Pass& pass) {
  const torch::Tensor x = features_of_.get(graph.x, context.device());
  nn::BackboneInput input = nn::input_of(graph);
  input.x = {};
  input.x.dense = torch::cat({x, context.unsqueeze(0).expand({x.size(0), -1})}, 1);
  return own_->forward(input, pass).logits;
}

torch::Tensor ArmModel::predict_each_own(const Graph& graph, const torch::Tensor& contexts,
                                         const torch::Tensor& context_of,
                                         const torch::Tensor& nodes) {
  const torch::Tensor of = context_of.index_select(0, nodes);
  nn::Pass pass = nn::Pass::evaluate();
  std::vector<torch::Tensor> places, results;
  for (int64_t k = 0; k < contexts.size(0); ++k) {
    const torch::Tensor here = of.eq(k).nonzero().squeeze(1);
    if (here.numel() == 0) continue;
    places.push_back(here);
    results.push_back(
        select_rows(predict_own(graph, contexts[k], pass), nodes.index_select(0, here)));
  }
  if (results.empty()) return torch::empty({0, classes_}, contexts.options());
  return select_rows(torch::cat(results), torch::cat(places).argsort());
}

torch::Tensor ArmModel::hidden(const torch::Tensor& shared_rows, const nn::Propagation& p,
                               const torch::Tensor& context, nn::Pass& pass) {
  const torch::Tensor shift = torch::mm(context.unsqueeze(0), weight_of_context());  // [1, hidden]
  const torch::Tensor h = activate(shared_rows + torch::mm(received(p), shift), pass);
  return pass.dropout(h, options_.dropout);
}

torch::Tensor ArmModel::predict_each(const Graph& graph, const torch::Tensor& shared_rows,
                                     const torch::Tensor& contexts, const torch::Tensor& context_of,
                                     const torch::Tensor& nodes) {
  const nn::Evaluating evaluating;
  if (own_) return predict_each_own(graph, contexts, context_of, nodes);
  const nn::Propagation p = propagation_.get(graph);
  const torch::Tensor a = received(p);
  const torch::Tensor shifts = torch::mm(contexts, weight_of_context());  // [B, hidden]
  const int64_t* target = nodes.data_ptr<int64_t>();
  const int64_t* of = context_of.data_ptr<int64_t>();
  const int64_t* offset = p.pattern->in.offset();
  const int32_t* index = p.pattern->in.index();
  const auto as_tensor = [](const std::vector<int64_t>& v) {
    return torch::tensor(v, torch::kInt64);
  };
  nn::Pass pass = nn::Pass::evaluate();
  std::vector<torch::Tensor> results;
  for (int64_t begin = 0; begin < nodes.numel(); begin += kTargetsPerChunk) {
    const int64_t end = std::min(begin + kTargetsPerChunk, nodes.numel());
    // Every pair j -> i into the targets of this chunk: j is seen under the context of i.
    std::vector<int64_t> source, edge, context, ends = {0};
    for (int64_t k = begin; k < end; ++k) {
      for (int64_t e = offset[target[k]]; e < offset[target[k] + 1]; ++e) {
        source.push_back(index[e]);
        edge.push_back(e);
        context.push_back(of[target[k]]);
      }
      ends.push_back(static_cast<int64_t>(source.size()));
    }
    const torch::Tensor from = to_place_of(as_tensor(source), shared_rows);
    torch::Tensor h = activate(select_rows(shared_rows, from) +
                                   select_rows(a, from) * select_rows(shifts, as_tensor(context)),
                               pass);
    if (p.weights.defined()) h = h * select_rows(p.weights, as_tensor(edge)).unsqueeze(1);
    results.push_back(
        torch::addmm(second_.bias, ops::segment_sum(as_tensor(ends), h), second_.weight));
  }
  return results.empty() ? torch::empty({0, second_.bias.size(0)}, second_.bias.options())
                         : torch::cat(results);
}

}  // namespace grm
