// The operator of a sample is that of the whole graph where nothing is left out, else in the mean.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "checks.h"
#include "graph/sample.h"
#include "graph/sample_graph.h"
#include "grm/nn/layers.h"

namespace grm::nn {
namespace {

TEST(SampledPropagation, OperatorIsThatOfTheWholeGraphInTheMean) {
  const Graph graph = test::graph_to_sample(40, 9);
  const torch::Tensor x = test::uniform({40, 2}, 10);
  const torch::Tensor targets = torch::arange(40, torch::kInt64);
  for (const Conv conv : {Conv::sum, Conv::kipf}) {
    const torch::Tensor expected =
        make_propagation(conv, graph.edges, graph.edge_weights, torch::kFloat64).apply(x);
    const auto applied = [&](int64_t fanout, uint64_t key) {
      const SampledGraph drawn = sample_graph(graph, targets, {fanout}, Stream(key));
      return sampled_propagation(conv, *drawn.graph.sample, 0, drawn.graph.edge_weights,
                                 torch::kFloat64)
          .apply(x.index_select(0, drawn.nodes));
    };
    EXPECT_TRUE(torch::allclose(applied(0, 1), expected, 1e-5, 1e-6));
    torch::Tensor sum = torch::zeros_like(expected), squares = torch::zeros_like(expected);
    constexpr int kDraws = 2000;
    for (int k = 0; k < kDraws; ++k) {
      const torch::Tensor y = applied(4, 1000 + k);
      sum += y;
      squares += y.square();
    }
    const torch::Tensor mean = sum / kDraws;
    const torch::Tensor deviation = (squares / kDraws - mean.square()).clamp_min(0).sqrt();
    EXPECT_GT(deviation.max().item<double>(), 0.1);
    const torch::Tensor bound = 5 * deviation / std::sqrt(kDraws) + 1e-5;
    EXPECT_TRUE(((mean - expected).abs() <= bound).all().item<bool>());
  }
}

}  // namespace
}  // namespace grm::nn
