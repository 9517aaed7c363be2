#include "grm/train/trivial.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/graph/batch.h"
#include "grm/nn/adam.h"
#include "grm/nn/losses.h"
#include "grm/ops/sparse.h"

namespace grm {
namespace {

constexpr int kSteps = 200;
constexpr double kRate = 0.1;
constexpr double kDecay = 1e-4;    // keeps the weights of separable data finite
constexpr int64_t kGraphs = 1000;  // graphs whose features are spread out at a time

torch::Tensor sizes(const Graph& set, const torch::Tensor& items) {
  const torch::Tensor first_edge = set.edges->in.offsets.index_select(0, set.parts);
  return torch::stack({set.parts.diff(), first_edge.diff()}, 1)
      .index_select(0, items)
      .to(torch::kFloat64);
}

torch::Tensor mean_features(const Graph& set, const torch::Tensor& items) {
  std::vector<torch::Tensor> parts;
  for (int64_t begin = 0; begin < items.numel(); begin += kGraphs) {
    const GraphBatch batch = pick_graphs(set, items.slice(0, begin, begin + kGraphs));
    const torch::Tensor rows = pick_rows(set.x, batch.nodes).to_dense().to(torch::kFloat64);
    parts.push_back(ops::segment_mean(batch.node_offsets, rows));
  }
  return torch::cat(parts);
}

}  // namespace

std::string to_string(Trivial kind) {
  return kind == Trivial::size ? "size" : "mean_features";
}

torch::Tensor trivial_inputs(Trivial kind, const Graph& set, const torch::Tensor& items) {
  if (!set.parts.defined()) {
    fail(ErrorKind::data, "{}: trivial baselines are for sets of graphs, this is one graph",
         set.name);
  }
  return kind == Trivial::size ? sizes(set, items) : mean_features(set, items);
}

std::vector<DomainScore> trivial_scores(const Task& task, Trivial kind, Role role) {
  std::vector<torch::Tensor> inputs, labels;
  for (const Domain& domain : task.training) {
    inputs.push_back(trivial_inputs(kind, domain.graph, domain.labels.loss));
    labels.push_back(domain.labels.y.index_select(0, domain.labels.loss));
  }
  const torch::Tensor x = torch::cat(inputs), y = torch::cat(labels);
  const torch::Tensor mean = x.mean(0);
  const torch::Tensor deviation = x.std(0, /*unbiased=*/false);
  // A column that is constant up to rounding stays near zero.
  const torch::Tensor scale =
      torch::where(deviation.gt(1e-9 * mean.abs()), deviation, torch::ones_like(deviation));
  const auto standardised = [&](const torch::Tensor& input) {
    return ((input - mean) / scale).to(torch::kFloat32);
  };
  const torch::Tensor rows = standardised(x);
  nn::ParameterSet set{Rng(0)};
  const torch::Tensor weight = set.constant("weight", {x.size(1), task.classes}, 0.0);
  const torch::Tensor bias = set.constant("bias", {task.classes}, 0.0);
  nn::Adam optimiser(set, kRate, kDecay, /*decoupled=*/false);
  for (int step = 0; step < kSteps; ++step) {
    optimiser.zero_grad();
    nn::supervised_loss(task.loss, torch::addmm(bias, rows, weight), y).backward();
    optimiser.step();
  }
  const at::NoGradGuard no_grad;
  return evaluate(
      [&](const Graph& graph, const torch::Tensor& items) {
        return torch::addmm(bias, standardised(trivial_inputs(kind, graph, items)), weight);
      },
      task, role);
}

}  // namespace grm
