// Weights and features that belong to the edges of the data, and the backbones that came with them.
#include <gtest/gtest.h>

#include <cmath>

#include "checks.h"
#include "grm/core/error.h"
#include "nn/attention.h"
#include "nn/backbone.h"
#include "nn/convolutions.h"
#include "support/golden.h"

namespace grm::edge_data_tests {
namespace {

using namespace grm::nn;
using test::dense_features;
using test::expect_close;
using test::small_features;
using test::small_graph;
using test::uniform;
using torch::Tensor;

double leaky(double x) {
  return x > 0 ? x : 0.2 * x;
}

// One GATv2 head by loops over nodes: softmax of w exp(a . leaky(u_j + v_i + f_ji W_e)).
Tensor naive_gatv2(const Gatv2Layer& layer, const Tensor& x, const Adjacency& edges,
                   const Tensor& weights, const Tensor& edge_x) {
  const int64_t n = x.size(0), width = layer.heads * layer.channels;
  const Tensor u = (x.mm(layer.source) + layer.source_bias).detach();
  const Tensor v = (x.mm(layer.target) + layer.target_bias).detach();
  Tensor f = torch::zeros({n, n, width}, torch::kFloat64);  // by target and source
  Tensor w = torch::zeros({n, n}, torch::kFloat64);
  const auto [source, target] = edge_list(edges);
  for (int64_t i = 0; i < n; ++i) {
    Tensor sum = torch::zeros({width}, torch::kFloat64);
    int64_t count = 0;
    for (int64_t e = 0; e < edges.nnz(); ++e) {
      if (target[e].item<int64_t>() != i) continue;
      const int64_t j = source[e].item<int64_t>();
      w[i][j] = weights.defined() ? weights[e].item<double>() : 1.0;
      if (!edge_x.defined()) continue;
      f[i][j] = edge_x[e].matmul(layer.edges).detach();
      sum += f[i][j];
      ++count;
    }
    if (w[i][i].item<double>() > 0) continue;  // a stored self-loop keeps what it has
    w[i][i] = 1.0;
    if (count > 0) f[i][i] = sum / static_cast<double>(count);
  }
  Tensor out = torch::zeros({n, width}, torch::kFloat64);
  for (int64_t h = 0; h < layer.heads; ++h) {
    for (int64_t i = 0; i < n; ++i) {
      double all = 0;
      std::vector<double> share(static_cast<size_t>(n), 0.0);
      for (int64_t j = 0; j < n; ++j) {
        double score = 0;
        for (int64_t c = 0; c < layer.channels; ++c) {
          const int64_t k = h * layer.channels + c;
          score +=
              layer.attention[h][c].item<double>() *
              leaky(u[j][k].item<double>() + v[i][k].item<double>() + f[i][j][k].item<double>());
        }
        share[j] = w[i][j].item<double>() * std::exp(score);
        all += share[j];
      }
      for (int64_t j = 0; j < n; ++j) {
        out[i].slice(0, h * layer.channels, (h + 1) * layer.channels) +=
            share[j] / all * u[j].slice(0, h * layer.channels, (h + 1) * layer.channels);
      }
    }
  }
  return out;
}

BackboneOptions options_of(BackboneKind kind, int64_t layers) {
  BackboneOptions options;
  options.backbone = kind;
  options.hidden = 8;
  options.layers = layers;
  options.heads = 2;
  options.batch_norm = false;
  return options;
}

TEST(EdgeData, Gatv2IsTheNaiveFormula) {
  const AdjacencyPtr edges = small_graph();
  const Tensor x = uniform({7, 5}, 1), edge_x = uniform({edges->nnz(), 2}, 2);
  const Tensor w = uniform({edges->nnz()}, 3, 0.2, 3.0);
  for (const bool featured : {false, true}) {
    for (const bool weighted : {false, true}) {
      ParameterSet set(Rng(4), torch::kFloat64);
      const Gatv2Layer layer(set, "conv", 5, featured ? 2 : 0, 3, 2, true);
      BackboneInput input{edges, dense_features(x), {}};
      if (weighted) input.data_weights = w;
      if (featured) input.edge_x = dense_features(edge_x);
      const AttentionPairs pairs =
          AttentionCache(torch::kFloat64, torch::kCPU).get(input, featured);
      const Tensor expected =
          naive_gatv2(layer, x, *edges, input.data_weights, featured ? edge_x : Tensor());
      expect_close(layer.forward(x, pairs), expected, 1e-12);
      expect_close(layer.forward(dense_features(x), pairs), expected, 1e-12);
    }
  }
}

// tests/fixtures/layers.npz: PyTorch Geometric's GINConv with an MLP 5-6-4 and a learned eps.
TEST(EdgeData, GinIsThatOfPyTorchGeometric) {
  const test::Golden golden("layers.npz");
  const Tensor pairs = golden.at("graph__edge_index");
  const AdjacencyPtr edges = make_adjacency(9, 9, pairs[0], pairs[1]);
  const Tensor x = golden.at("graph__x").clone().set_requires_grad(true);
  ParameterSet set(Rng(1), torch::kFloat64);
  GinConv layer(set, "conv", 5, 6, 4, 0, false);
  const std::vector<std::tuple<Tensor, std::string, bool>> loaded = {
      {layer.first.weight, "nn.0.weight", true},
      {layer.first.bias, "nn.0.bias", false},
      {layer.second.weight, "nn.2.weight", true},
      {layer.second.bias, "nn.2.bias", false},
      {layer.eps, "eps", false}};
  for (const auto& [tensor, name, transposed] : loaded) {
    const at::NoGradGuard no_grad;
    const Tensor value = golden.at("gin__param." + name);
    tensor.copy_(transposed ? value.t() : value.view(tensor.sizes()));
  }
  const GinEdges plain{edges, {}, {}};
  Pass pass = Pass::evaluate();
  const Tensor out = layer.forward(x, plain, pass);
  expect_close(out, golden.at("gin__out"), 1e-9);
  expect_close(layer.forward(dense_features(x.detach()), plain, pass), out, 1e-12);
  (out * golden.at("gin__cotangent")).sum().backward();
  expect_close(x.grad(), golden.at("gin__grad_x"), 1e-9);
  for (const auto& [tensor, name, transposed] : loaded) {
    const Tensor value = golden.at("gin__grad." + name);
    expect_close(tensor.grad(), transposed ? value.t() : value.view(tensor.sizes()), 1e-9, name);
  }
}

// With features of edges: (1 + eps) x_i + sum_j w_ji relu(x_j + e_ji T), by a loop.
TEST(EdgeData, GinWithFeaturesOfEdgesIsTheNaiveFormula) {
  const AdjacencyPtr edges = small_graph();
  ParameterSet set(Rng(4), torch::kFloat64);
  GinConv layer(set, "conv", 5, 4, 3, 2, false);
  {
    const at::NoGradGuard no_grad;
    layer.eps.fill_(0.3);
  }
  const Tensor x = uniform({7, 5}, 1), edge_x = uniform({edges->nnz(), 2}, 2);
  const Tensor w = uniform({edges->nnz()}, 3, 0.2, 3.0);
  Tensor sum = 1.3 * x;
  const auto [source, target] = edge_list(*edges);
  for (int64_t e = 0; e < edges->nnz(); ++e) {
    sum[target[e].item<int64_t>()] +=
        w[e] * torch::relu(x[source[e].item<int64_t>()] + edge_x[e].matmul(layer.table.detach()));
  }
  const Tensor expected =
      torch::relu(sum.mm(layer.first.weight) + layer.first.bias).mm(layer.second.weight) +
      layer.second.bias;
  Pass pass = Pass::evaluate();
  expect_close(layer.forward(x, {edges, w, dense_features(edge_x)}, pass), expected, 1e-12);
  EXPECT_THROW(layer.forward(x, {edges, w, {}}, pass), Error);
}

class EdgesOfEveryBackbone : public testing::TestWithParam<BackboneKind> {};

INSTANTIATE_TEST_SUITE_P(Table, EdgesOfEveryBackbone, testing::ValuesIn([] {
                           std::vector<BackboneKind> kinds;
                           for (const BackboneEntry& entry : backbones()) {
                             kinds.push_back(entry.kind);
                           }
                           return kinds;
                         }()),
                         [](const auto& chosen) { return to_string(chosen.param); });

TEST_P(EdgesOfEveryBackbone, AnEdgeOfWeightZeroIsNoneAndOnesChangeNothing) {
  const AdjacencyPtr edges = small_graph();
  const auto [source, target] = edge_list(*edges);
  const Tensor kept = source.ne(target).logical_and(torch::arange(edges->nnz()).remainder(3).ne(1));
  const AdjacencyPtr fewer =
      make_adjacency(7, 7, source.masked_select(kept), target.masked_select(kept));
  const Tensor others = source.eq(target).logical_or(kept);  // a weightless loop still has its node
  const AdjacencyPtr with_loops =
      make_adjacency(7, 7, source.masked_select(others), target.masked_select(others));
  ParameterSet set(Rng(2), torch::kFloat64);
  const auto backbone = make_backbone(set, "b", options_of(GetParam(), 3), 6, 2);
  const auto run = [&](const AdjacencyPtr& on, const Tensor& weights) {
    Pass pass = Pass::evaluate();
    return backbone->forward({on, small_features(), {}, nullptr, weights}, pass).logits;
  };
  expect_close(run(edges, torch::ones({edges->nnz()})), run(edges, {}), 1e-12);
  expect_close(run(edges, others.to(torch::kFloat64)), run(with_loops, {}), 1e-9);
  const bool sees = GetParam() != BackboneKind::mlp;
  EXPECT_EQ((run(edges, {}) - run(fewer, {})).abs().max().item<double>() > 1e-6, sees);
  EXPECT_THROW(run(edges, torch::ones({edges->nnz() - 1})), Error);
}

TEST_P(EdgesOfEveryBackbone, GradientsPassWeightsAndFeaturesOfEdges) {
  const AdjacencyPtr edges = small_graph();
  ParameterSet set(Rng(2), torch::kFloat64);
  const int64_t columns = reads_edge_features(GetParam()) ? 2 : 0;
  const auto backbone = make_backbone(set, "b", options_of(GetParam(), 2), 6, 2, columns);
  const Tensor w = uniform({edges->nnz()}, 8, 0.5, 1.5), r = uniform({7, 2}, 9);
  BackboneInput input{edges, small_features(), {}, nullptr, w};
  if (columns > 0) input.edge_x = dense_features(uniform({edges->nnz(), 2}, 5));
  test::expect_gradients(
      [&] {
        Pass pass = Pass::train(Stream(3));
        return (backbone->forward(input, pass).logits * r).sum();
      },
      set.parameters());
}

}  // namespace
}  // namespace grm::edge_data_tests
