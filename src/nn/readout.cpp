#include "nn/readout.h"

#include <torch/types.h>

#include "grm/core/error.h"
#include "nn/graph_encoder.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace grm::nn {
namespace {

constexpr double kNoWeight = 1e-6;  // beside a sum of gates that may be 0

// With the largest entry of a graph taken out first, no exponential exceeds 1 and one of them is 1.
torch::Tensor log_mean_exp(const torch::Tensor& offsets, const torch::Tensor& rows) {
  const torch::Tensor largest = ops::segment_max(offsets, rows.detach());
  torch::Tensor taken = rows - select_rows(largest, graph_of_row(offsets, rows.size(0)));
  // Rows behind the last graph have no largest entry of their own, and infinity would not stay there.
  if (taken.is_cuda()) taken = taken.clamp_max(0.0);
  const torch::Tensor mean = ops::segment_mean(offsets, torch::exp(taken));
  const torch::Tensor empty = mean.eq(0).to(mean.scalar_type());  // a graph without rows
  return torch::log(mean + empty) + largest;
}

template <class Head>
torch::Tensor logits_by(const GraphReadout& readout, const NodeRows& nodes, const Head& head) {
  return readout.pools_logits() ? readout.pooled(nodes, head.forward(nodes.rows))
                                : head.forward(readout.pooled(nodes));
}

}  // namespace

torch::Tensor graph_of_row(const torch::Tensor& node_offsets, int64_t rows) {
  const int64_t graphs = node_offsets.numel() - 1;
  if (!node_offsets.device().is_cpu()) {  // where rows behind the last graph get its number
    const torch::Tensor ends = node_offsets.slice(0, 1).contiguous();
    return torch::searchsorted(ends, torch::arange(rows, ends.options()), false, /*right=*/true)
        .clamp_max(graphs - 1);
  }
  return torch::repeat_interleave(torch::arange(graphs, node_offsets.options()),
                                  node_offsets.slice(0, 1) - node_offsets.slice(0, 0, graphs),
                                  /*dim=*/0, rows);
}

torch::Tensor pool(Pooling kind, const torch::Tensor& node_offsets, const torch::Tensor& rows,
                   const torch::Tensor& gate) {
  ensure(gate.defined() || kind != Pooling::weighted, "pool: weighted without a gate");
  const torch::Tensor x = gate.defined() ? rows * gate.unsqueeze(1) : rows;
  switch (kind) {
    case Pooling::mean:
      return ops::segment_mean(node_offsets, x);
    case Pooling::sum:
      return ops::segment_sum(node_offsets, x);
    case Pooling::max:
      return ops::segment_max(node_offsets, x);
    case Pooling::weighted:
      return ops::segment_sum(node_offsets, x) /
             (ops::segment_sum(node_offsets, gate).unsqueeze(1) + kNoWeight);
    case Pooling::log_mean_exp:
      return log_mean_exp(node_offsets, x);
  }
  throw InternalError("pool: unknown kind");
}

void ReadoutOptions::declare(OptionList& list) {
  list.choice("pooling", pooling,
              "how node rows become one row per graph; weighted: by a learned gate of each node");
  list.choice("pool", pool,
              "what is pooled: node rows, which the head then reads, or the head's logits of every "
              "node")
      .came_later();
}

GraphReadout::GraphReadout(ParameterSet& set, const std::string& name,
                           const ReadoutOptions& options, int64_t width)
    : options_(options) {
  if (options.pooling == Pooling::weighted) gate_ = Linear(set, name + ".gate", width, 1);
}

NodeRows GraphReadout::read(const torch::Tensor& offsets, const torch::Tensor& rows) const {
  NodeRows nodes{offsets, rows, {}};
  if (gate_.weight.defined()) nodes.gate = torch::sigmoid(gate_.forward(rows).squeeze(1));
  return nodes;
}

torch::Tensor GraphReadout::logits(const NodeRows& nodes, const Mlp& head) const {
  return logits_by(*this, nodes, head);
}

torch::Tensor GraphReadout::logits(const NodeRows& nodes, const Linear& head) const {
  return logits_by(*this, nodes, head);
}

}  // namespace grm::nn
