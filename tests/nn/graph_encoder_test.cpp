// Stacks of graph layers, the virtual node and batches by index.
#include "nn/graph_encoder.h"

#include <gtest/gtest.h>

#include "checks.h"
#include "nn/graph_layers.h"
#include "ops/sparse.h"
#include "support/expect_error.h"
#include "support/golden.h"

namespace grm::nn {
namespace {

using test::expect_close;
using test::numbers;

torch::Tensor ints(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

torch::Tensor named(const ParameterSet& set, const std::string& name) {
  for (const auto* list : {&set.parameters(), &set.buffers()}) {
    for (const auto& [key, tensor] : *list) {
      if (key == name) return tensor;
    }
  }
  throw std::runtime_error("no tensor " + name);
}

// X in double.
torch::Tensor dense(const Features& x) {
  return ops::feature_linear(x, torch::eye(x.width(), torch::kFloat64));
}

void assign(const ParameterSet& set, const std::string& name, const std::vector<double>& values) {
  at::NoGradGuard no_grad;
  torch::Tensor tensor = named(set, name);
  tensor.copy_(numbers(values).view(tensor.sizes()));
}

// Two graphs (4 and 3 nodes) with one-hot columns, dense columns, a shift, and edges of two kinds.
GraphInput two_graphs() {
  GraphInput input;
  input.edges = test::graph_of(7, {0, 1, 2, 3, 1, 4, 5, 6}, {1, 2, 3, 0, 0, 5, 6, 5});
  input.node_offsets = ints({0, 4, 7});
  input.x = test::small_features();
  const int64_t nnz = input.edges->nnz();
  input.edge_x.sparse = make_adjacency(nnz, 2, torch::arange(nnz) % 2, torch::arange(nnz));
  input.edge_weights = test::uniform({nnz}, 81, 0.5, 1.5);
  input.mask = test::uniform({nnz}, 82, 0.1, 0.9);
  return input;
}

// A seed gives tensors of one name the same values, so a second set holds an equal copy.
TEST(GraphEncoder, IsEmbeddingThenConvNormReluExceptLast) {
  const GraphInput input = two_graphs();
  for (const GraphLayerKind kind : layers_of_ours()) {
    for (bool relu_last : {false, true}) {
      ParameterSet set(Rng(5), torch::kFloat64), copy(Rng(5), torch::kFloat64);
      GraphEncoderOptions options;
      options.layer = kind;
      options.layers = 2;
      options.hidden = 3;
      options.relu_last = relu_last;
      const auto encoder = make_graph_encoder(set, "e", options, 6, 2);
      Pass pass = Pass::train(Stream(1));
      const torch::Tensor is = encoder->forward(input, pass);

      const torch::Tensor embed = named(set, "e.embed.weight");
      torch::Tensor h = torch::mm(dense(input.x), embed) + named(set, "e.embed.bias");
      const Messages messages = make_messages(kind, input, torch::kFloat64);
      for (int l = 1; l <= 2; ++l) {
        const std::string number = std::to_string(l);
        h = make_graph_layer(copy, kind, "e.conv" + number, 3, 3, 2)->forward(h, messages, pass);
        h = (h - h.mean(0)) / (h.var(0, false) + 1e-5).sqrt();
        if (l == 1 || relu_last) h = torch::relu(h);
      }
      expect_close(is, h, 1e-9, to_string(kind));
    }
  }
}

TEST(GraphEncoder, WithoutEmbeddingTheFirstLayerTakesTheRows) {
  GraphInput input = two_graphs();
  ParameterSet set(Rng(5), torch::kFloat64), copy(Rng(5), torch::kFloat64);
  GraphEncoderOptions options;
  options.layer = GraphLayerKind::le;
  options.layers = 1;
  options.hidden = 3;
  options.embed = false;
  options.batch_norm = false;
  const auto encoder = make_graph_encoder(set, "e", options, 2, 0);
  Pass pass = Pass::evaluate();
  input.rows = test::uniform({7, 2}, 83);
  const torch::Tensor expected =
      make_graph_layer(copy, GraphLayerKind::le, "e.conv1", 2, 3, 0)
          ->forward(input.rows, make_messages(GraphLayerKind::le, input, torch::kFloat64),
                    Pass::evaluate());
  expect_close(encoder->forward(input, pass), expected, 1e-12);
  // The same rows as dense features with a shift.
  input.x = Features();
  input.x.shift = numbers({0.5, -1.0});
  input.x.dense = input.rows + input.x.shift;
  input.rows = torch::Tensor();
  expect_close(encoder->forward(input, pass), expected, 1e-12);
}

TEST(GraphEncoder, DropoutFollowsEveryLayerWhileTraining) {
  const GraphInput input = two_graphs();
  ParameterSet set(Rng(5), torch::kFloat64);
  GraphEncoderOptions options;
  options.layers = 2;
  options.hidden = 64;
  options.dropout = 0.5;
  const auto encoder = make_graph_encoder(set, "e", options, 6, 2);
  Pass first = Pass::train(Stream(1)), again = Pass::train(Stream(1)), quiet = Pass::evaluate();
  const torch::Tensor h = encoder->forward(input, first);
  EXPECT_NEAR((h == 0).to(torch::kFloat64).mean().item<double>(), 0.5, 0.1);
  EXPECT_TRUE(torch::equal(encoder->forward(input, again), h));
  EXPECT_EQ((encoder->forward(input, quiet) == 0).sum().item<int64_t>(), 0);
}

TEST(GraphEncoder, GradientsAgreeWithFiniteDifferences) {
  GraphInput input = two_graphs();
  input.mask = input.mask.clone().requires_grad_(true);
  for (const GraphLayerKind kind : {GraphLayerKind::gin, GraphLayerKind::gcn}) {
    ParameterSet set(Rng(6), torch::kFloat64);
    GraphEncoderOptions options;
    options.layer = kind;
    options.layers = 2;
    options.hidden = 2;
    options.virtual_node = true;
    const auto encoder = make_graph_encoder(set, "e", options, 6, 2);
    // Shifts that start at 0 leave rows of exactly 0 in front of a ReLU, where it has no slope.
    uint64_t key = 85;
    for (const auto& [name, tensor] : set.parameters()) {
      at::NoGradGuard no_grad;
      tensor.add_(test::uniform(tensor.sizes(), key++, -0.1, 0.1));
    }
    const torch::Tensor cotangent = test::uniform({2, 2}, 84);
    ParameterSet::Named leaves = set.parameters();
    leaves.emplace_back("mask", input.mask);
    const auto loss = [&] {
      Pass pass = Pass::evaluate();
      return (pool(Pooling::mean, input.node_offsets, encoder->forward(input, pass)) * cotangent)
          .sum();
    };
    test::expect_gradients(loss, leaves, 1e-6);
  }
}

TEST(GraphEncoder, VirtualNodeByHand) {
  ParameterSet set(Rng(1), torch::kFloat64);
  GraphEncoderOptions options;
  options.layer = GraphLayerKind::graph;
  options.layers = 2;
  options.hidden = 1;
  options.virtual_node = true;
  options.batch_norm = false;
  options.embed = false;
  const auto encoder = make_graph_encoder(set, "e", options, 1, 0);
  for (const std::string layer : {"e.conv1", "e.conv2"}) {  // layers that hand their rows on
    assign(set, layer + ".neighbours.weight", {0});
    assign(set, layer + ".neighbours.bias", {0});
    assign(set, layer + ".self.weight", {1});
  }
  EXPECT_EQ(named(set, "e.virtual.initial").item<double>(), 0.0);
  assign(set, "e.virtual.initial", {0.5});
  assign(set, "e.virtual.update1.first.weight", {1, -2});
  assign(set, "e.virtual.update1.first.bias", {0, 2});
  assign(set, "e.virtual.update1.second.weight", {3, 1});
  assign(set, "e.virtual.update1.second.bias", {-1});
  assign(set, "e.virtual.update1.inner.variance", {1 - 1e-5, 1 - 1e-5});
  assign(set, "e.virtual.update1.outer.variance", {1 - 1e-5});
  GraphInput input;
  input.edges = test::graph_of(3, {0}, {1});
  input.node_offsets = ints({0, 2, 3});
  input.rows = numbers({1, -2, 0.5}).unsqueeze(1);
  Pass pass = Pass::evaluate();
  // Rows with v: 1.5, -1.5 | 1. Sums plus v: 0.5 | 1.5; first map (0.5, 1) | (1.5, -1), second 1.5
  // | 3.5. Layer 1 gives relu of its rows: 1.5, 0 | 1.
  const torch::Tensor expected = numbers({3.0, 1.5, 4.5}).unsqueeze(1);
  expect_close(encoder->forward(input, pass), expected, 1e-12);
  input.mask = torch::zeros({1}, torch::kFloat64);
  expect_close(encoder->forward(input, pass), expected, 1e-12, "the mask does not reach it");
}

TEST(GraphEncoder, WrongInputIsNamed) {
  ParameterSet set(Rng(1));
  GraphEncoderOptions options;
  options.embed = false;
  const auto encoder = make_graph_encoder(set, "e", options, 6, 0);
  Pass pass = Pass::evaluate();
  GraphInput input = two_graphs();
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { encoder->forward(input, pass); }),
              testing::HasSubstr("sparse features need an embedding"));
  input.rows = torch::zeros({7, 5});
  EXPECT_THAT(test::error_of(ErrorKind::shape, [&] { encoder->forward(input, pass); }),
              testing::HasSubstr("rows of [7, 5] came, [7, 6] was expected"));
  options.virtual_node = true;
  EXPECT_THAT(
      test::error_of(ErrorKind::config, [&] { make_graph_encoder(set, "f", options, 6, 0); }),
      testing::HasSubstr("virtual node"));
}

TEST(GraphMlp, HasReluBetweenItsMapsOnly) {
  ParameterSet set(Rng(1), torch::kFloat64);
  const Mlp mlp(set, "head", {1, 2, 1});
  assign(set, "head.linear1.weight", {1, -1});
  assign(set, "head.linear1.bias", {0, 1});
  assign(set, "head.linear2.weight", {-2, 1});
  assign(set, "head.linear2.bias", {0.5});
  expect_close(mlp.forward(numbers({3, -2}).unsqueeze(1)), numbers({-5.5, 3.5}).unsqueeze(1), 0);
}

TEST(GraphPickInput, HoldsTheChosenGraphsInTheirOrder) {
  const GraphInput all = two_graphs();
  Graph set;
  set.edges = all.edges;
  set.parts = all.node_offsets;
  set.x = all.x;
  set.edge_x = all.edge_x;
  set.edge_weights = all.edge_weights;
  GraphBatch batch;
  const GraphInput picked = pick_input(set, ints({1, 0, 1}), &batch);
  const torch::Tensor nodes = ints({4, 5, 6, 0, 1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(torch::equal(picked.node_offsets, ints({0, 3, 7, 10})));
  EXPECT_TRUE(torch::equal(batch.nodes, nodes));
  expect_close(dense(picked.x), dense(set.x).index_select(0, nodes), 1e-15);
  // Every pair of the batch is the stored pair of its two nodes, with its features and weight.
  const torch::Tensor weights = test::dense_matrix(*set.edges, set.edge_weights);
  const auto [source, target] = edge_list(*picked.edges);
  ASSERT_EQ(picked.edges->nnz(), 11);
  const torch::Tensor old_source = nodes.index_select(0, source);
  const torch::Tensor old_target = nodes.index_select(0, target);
  expect_close(picked.edge_weights, weights.index({old_target, old_source}), 0);
  const torch::Tensor kind = set.edge_x.to_dense().select(1, 1).to(torch::kFloat64);
  const torch::Tensor kinds = test::dense_matrix(*set.edges, kind);
  expect_close(picked.edge_x.to_dense().select(1, 1), kinds.index({old_target, old_source}), 0);
  EXPECT_FALSE(picked.mask.defined());
}

}  // namespace
}  // namespace grm::nn
