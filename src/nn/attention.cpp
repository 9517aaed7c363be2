#include "nn/attention.h"

#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "nn/convolutions.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace grm::nn {
namespace {

constexpr double kSlope = 0.2;  // of the leaky ReLU
constexpr double kLeastWeight = 1e-30;

bool carries(const Features& x) {
  return x.sparse || x.dense.defined();
}

double bound_of(int64_t heads, int64_t channels) {
  return std::sqrt(6.0 / static_cast<double>(heads + channels));
}

// sum_j alpha_ji u_j for each head, alpha the softmax of the scores [nnz, heads].
torch::Tensor mix(const torch::Tensor& u, const torch::Tensor& scores, const AttentionPairs& pairs,
                  int64_t channels, bool concatenate) {
  const torch::Tensor weighted = pairs.log_weights.defined() ? scores + pairs.log_weights : scores;
  const torch::Tensor alpha = ops::row_softmax(pairs.pattern, weighted);  // [nnz, heads]
  std::vector<torch::Tensor> mixed;
  for (int64_t t = 0; t < alpha.size(1); ++t) {
    mixed.push_back(ops::spmm(pairs.pattern, alpha.select(1, t).contiguous(),
                              u.narrow(1, t * channels, channels).contiguous()));
  }
  return concatenate ? torch::cat(mixed, 1) : torch::stack(mixed).mean(0);
}

}  // namespace

AttentionCache::AttentionCache(torch::Dtype dtype, const torch::Device& device)
    : dtype_(dtype), device_(device), loops_([device](const AdjacencyPtr& edges) {
        torch::Tensor position;
        const AdjacencyPtr looped = with_self_loops(*edges, &position);
        return Propagation{looped, on_device(position, device)};
      }) {}

AttentionPairs AttentionCache::get(const BackboneInput& input, bool with_edge_rows) {
  const Propagation loops = loops_.get(input.edges);
  const torch::Tensor& position = loops.weights;
  AttentionPairs pairs(loops.pattern);
  const int64_t count = loops.pattern->nnz();
  if (input.data_weights.defined()) {
    const torch::Tensor given = on_device(input.data_weights, device_).to(dtype_);
    const torch::Tensor ones = torch::ones({count}, torch::dtype(dtype_).device(device_));
    pairs.log_weights =
        torch::log(ones.index_copy(0, position, given).clamp_min(kLeastWeight)).unsqueeze(1);
  }
  if (!with_edge_rows) return pairs;
  if (!carries(input.edge_x)) {
    fail(ErrorKind::shape, "gatv2: edges without features came, it was built for edges with them");
  }
  const int64_t stored = input.edges->nnz();
  pairs.edge_x = input.edge_x.on(device_);
  pairs.offsets = input.edges->in.offsets;
  const torch::Tensor mean_row = edge_list(loops.pattern->on(device_)).second + stored;
  pairs.edge_row = mean_row.index_copy(0, position, torch::arange(stored, position.options()));
  return pairs;
}

GatLayer::GatLayer(ParameterSet& set, const std::string& name, int64_t in,
                   int64_t channels_per_head, int64_t head_count, bool concatenate_heads)
    : heads(head_count), channels(channels_per_head), concatenate(concatenate_heads) {
  const double bound = bound_of(heads, channels);
  weight = set.glorot(name + ".weight", in, heads * channels);
  source = set.uniform(name + ".source", {heads, channels}, bound);
  target = set.uniform(name + ".target", {heads, channels}, bound);
  bias = set.constant(name + ".bias", {concatenate ? heads * channels : channels}, 0.0);
}

torch::Tensor GatLayer::forward(const torch::Tensor& x, const AttentionPairs& pairs) const {
  return attend(torch::mm(x, weight), pairs);
}

torch::Tensor GatLayer::forward(const Features& x, const AttentionPairs& pairs) const {
  return attend(ops::feature_linear(x, weight), pairs);
}

// u: [n, heads * channels]
torch::Tensor GatLayer::attend(const torch::Tensor& u, const AttentionPairs& pairs) const {
  const torch::Tensor by_head = u.view({-1, heads, channels});
  const torch::Tensor as_source = (by_head * source).sum(2);  // [n, heads]
  const torch::Tensor as_target = (by_head * target).sum(2);
  const auto [from, to] = edge_list(pairs.pattern->on(u.device()));
  const torch::Tensor score = torch::leaky_relu(
      ops::gather_rows(as_source, from) + ops::gather_rows(as_target, to), kSlope);
  return mix(u, score, pairs, channels, concatenate) + bias;
}

Gatv2Layer::Gatv2Layer(ParameterSet& set, const std::string& name, int64_t in, int64_t edge_width,
                       int64_t channels_per_head, int64_t head_count, bool concatenate_heads)
    : heads(head_count), channels(channels_per_head), concatenate(concatenate_heads) {
  const int64_t width = heads * channels;
  source = set.glorot(name + ".source", in, width);
  target = set.glorot(name + ".target", in, width);
  source_bias = set.constant(name + ".source_bias", {width}, 0.0);
  target_bias = set.constant(name + ".target_bias", {width}, 0.0);
  if (edge_width > 0) edges = set.glorot(name + ".edges", edge_width, width);
  attention = set.uniform(name + ".attention", {heads, channels}, bound_of(heads, channels));
  bias = set.constant(name + ".bias", {concatenate ? width : channels}, 0.0);
}

torch::Tensor Gatv2Layer::forward(const torch::Tensor& x, const AttentionPairs& pairs) const {
  return attend(torch::addmm(source_bias, x, source), torch::addmm(target_bias, x, target), pairs);
}

torch::Tensor Gatv2Layer::forward(const Features& x, const AttentionPairs& pairs) const {
  return attend(ops::feature_linear(x, source) + source_bias,
                ops::feature_linear(x, target) + target_bias, pairs);
}

torch::Tensor Gatv2Layer::attend(const torch::Tensor& u, const torch::Tensor& v,
                                 const AttentionPairs& pairs) const {
  return mix(u, scores(u, v, pairs), pairs, channels, concatenate) + bias;
}

// Without features of edges no row for each pair is made: a . leaky(s) is a . relu(s) less 0.2
// times a . relu(-s).
torch::Tensor Gatv2Layer::scores(const torch::Tensor& u, const torch::Tensor& v,
                                 const AttentionPairs& pairs) const {
  if (!edges.defined()) {
    std::vector<torch::Tensor> each;
    for (int64_t t = 0; t < heads; ++t) {
      const torch::Tensor p = u.narrow(1, t * channels, channels).contiguous();
      const torch::Tensor q =
          first_rows(v, pairs.pattern->rows()).narrow(1, t * channels, channels).contiguous();
      const torch::Tensor a = attention.select(0, t).contiguous();
      each.push_back(ops::pair_scores(pairs.pattern, p, q, a) -
                     kSlope * ops::pair_scores(pairs.pattern, torch::neg(p), torch::neg(q), a));
    }
    return torch::stack(each, 1);
  }
  const torch::Tensor stored = ops::feature_linear(pairs.edge_x, edges);
  const torch::Tensor rows =
      torch::cat({stored, ops::segment_mean(pairs.offsets, stored)});  // [edges + n, width]
  const auto [from, to] = edge_list(pairs.pattern->on(u.device()));
  const torch::Tensor sum =
      ops::gather_rows(u, from) + ops::gather_rows(v, to) + ops::gather_rows(rows, pairs.edge_row);
  return (torch::leaky_relu(sum, kSlope).view({-1, heads, channels}) * attention).sum(2);
}

}  // namespace grm::nn
