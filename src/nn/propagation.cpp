#include <torch/types.h>

#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "grm/nn/layers.h"
#include "ops/sparse.h"

namespace grm::nn {

torch::Tensor Propagation::apply(const torch::Tensor& rows) const {
  return ops::spmm(pattern, weights, rows);
}

namespace {

torch::Tensor given_weights(const AdjacencyPtr& edges, const torch::Tensor& weights,
                            torch::Dtype dtype, const torch::Device& device) {
  if (!weights.defined()) return weights;
  if (weights.dim() != 1 || weights.numel() != edges->nnz()) {
    fail(ErrorKind::shape, "{} edge weights were given for a graph of {} edges", weights.numel(),
         edges->nnz());
  }
  return on_device(weights, device).to(dtype);
}

// The operator on edges with self-loops, where stored edges stand at `position`.
Propagation normalised(const AdjacencyPtr& looped, const torch::Tensor& position,
                       const torch::Tensor& given, torch::Dtype dtype,
                       const torch::Device& device) {
  torch::Tensor all = torch::ones({looped->nnz()}, torch::dtype(dtype).device(device));
  if (given.defined()) all = all.index_copy(0, to_place_of(position, all), given);
  return {looped, ops::normalise(looped, all)};
}

}  // namespace

Propagation make_propagation(Conv conv, const AdjacencyPtr& edges, const torch::Tensor& weights,
                             torch::Dtype dtype, const torch::Device& device) {
  const torch::Tensor given = given_weights(edges, weights, dtype, device);
  if (conv == Conv::sum) return {edges, given};
  torch::Tensor position;
  const AdjacencyPtr looped = with_self_loops(*edges, &position);
  return normalised(looped, position, given, dtype, device);
}

WeightedPropagation::WeightedPropagation(Conv conv, torch::Dtype dtype, const torch::Device& device)
    : conv_(conv), dtype_(dtype), device_(device), loops_([device](const AdjacencyPtr& edges) {
        torch::Tensor position;
        const AdjacencyPtr looped = with_self_loops(*edges, &position);
        return Propagation{looped, on_device(position, device)};
      }) {}

Propagation WeightedPropagation::get(const AdjacencyPtr& edges, const torch::Tensor& weights) {
  const torch::Tensor given = given_weights(edges, weights, dtype_, device_);
  if (conv_ == Conv::sum) return {edges, given};
  const Propagation loops = loops_.get(edges);
  return normalised(loops.pattern, loops.weights, given, dtype_, device_);
}

Propagation mean_propagation(const AdjacencyPtr& edges, torch::Dtype dtype,
                             const torch::Device& device) {
  const torch::Tensor& offsets = edges->in.offsets;
  const torch::Tensor degree = offsets.slice(0, 1) - offsets.slice(0, 0, edges->rows());
  const torch::Tensor share = torch::reciprocal(degree.to(torch::kFloat64)).to(dtype);
  return {edges, on_device(torch::repeat_interleave(share, degree), device)};
}

Propagation sampled_propagation(Conv conv, const GraphSample& sample, int64_t l,
                                const torch::Tensor& weights, torch::Dtype dtype,
                                const torch::Device& device) {
  const AdjacencyPtr& edges = sample.layers.at(static_cast<size_t>(l));
  torch::Tensor given;
  for (const torch::Tensor& each : {weights, sample.stands_for}) {
    if (!each.defined()) continue;
    const torch::Tensor own = on_device(each.narrow(0, 0, edges->nnz()), device).to(dtype);
    given = given.defined() ? given * own : own;
  }
  if (conv == Conv::sum) return {edges, given};
  torch::Tensor position;
  const AdjacencyPtr looped = with_self_loops(*edges, &position);
  torch::Tensor all = torch::ones({looped->nnz()}, torch::dtype(dtype).device(device));
  if (given.defined()) all = all.index_copy(0, to_place_of(position, all), given);
  const torch::Tensor degrees = on_device(sample.degrees, device).to(dtype);
  const torch::Tensor scale =
      torch::where(degrees > 0, torch::rsqrt(degrees), torch::zeros_like(degrees));
  const auto [source, target] = edge_list(looped->on(device));
  return {looped, all * scale.index_select(0, source) * scale.index_select(0, target)};
}

Propagation transposed(const Propagation& p) {
  const torch::Tensor weights =
      p.weights.defined() ? p.weights.index_select(0, to_place_of(p.pattern->out_edge, p.weights))
                          : p.weights;
  return {with_transpose(p.pattern->out), weights};
}

PropagationCache::PropagationCache(Conv conv, torch::Dtype dtype, const torch::Device& device)
    : build_([conv, dtype, device](const AdjacencyPtr& edges) {
        return make_propagation(conv, edges, {}, dtype, device);
      }) {}

Propagation PropagationCache::get(const AdjacencyPtr& edges) {
  auto found = seen_.find(edges);
  if (found == seen_.end()) {
    for (auto it = seen_.begin(); it != seen_.end();) {
      it = it->first.expired() ? seen_.erase(it) : std::next(it);
    }
    Propagation built = build_(edges);
    if (built.pattern == edges) built.pattern = nullptr;
    found = seen_.emplace(edges, std::move(built)).first;
  }
  Propagation result = found->second;
  if (!result.pattern) result.pattern = edges;
  return result;
}

}  // namespace grm::nn
