// Layers of graph encoders: against PyTorch Geometric's (tests/fixtures/layers.npz), against values
// computed by hand, by finite differences, and with masks.
#include "nn/graph_layers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checks.h"
#include "support/expect_error.h"
#include "support/golden.h"

namespace grm::nn::graph_layers_tests {
namespace {

using test::expect_close;
using test::numbers;

class GraphLayersGolden : public testing::Test {
 protected:
  GraphLayersGolden() : golden_("layers.npz"), set_(Rng(1), torch::kFloat64) {
    const torch::Tensor pairs = golden_.at("graph__edge_index");
    input_.edges = make_adjacency(9, 9, pairs[0], pairs[1]);
    order_ = torch::argsort(pairs[1] * 9 + pairs[0]);  // our edge ids follow (target, source)
    x_ = golden_.at("graph__x").clone().set_requires_grad(true);
    w_ = golden_.at("graph__edge_weight").index_select(0, order_).set_requires_grad(true);
  }

  void load(const torch::Tensor& tensor, const std::string& name, bool transpose = false) {
    loaded_.emplace_back(tensor, name);
    transposed_.push_back(transpose);
  }

  // Output and all gradients of a published case.
  void check(GraphLayerKind kind, const std::string& name, GraphLayer& layer) {
    const auto expected = [&](const std::string& array) { return golden_.at(name + "__" + array); };
    for (size_t k = 0; k < loaded_.size(); ++k) {
      at::NoGradGuard no_grad;
      torch::Tensor tensor = loaded_[k].first;
      const torch::Tensor value = expected("param." + loaded_[k].second);
      tensor.copy_(transposed_[k] ? value.t() : value.view(tensor.sizes()));
      tensor.mutable_grad().reset();
    }
    const bool weighted = golden_.has(name + "__grad_edge_weight");
    input_.edge_weights = weighted ? w_ : torch::Tensor();
    x_.mutable_grad().reset();
    const torch::Tensor out =
        layer.forward(x_, make_messages(kind, input_, torch::kFloat64), Pass::evaluate());
    expect_close(out, expected("out"), 1e-9, name);
    (out * expected("cotangent")).sum().backward();
    expect_close(x_.grad(), expected("grad_x"), 1e-9, name + " grad_x");
    if (weighted) {
      expect_close(w_.grad(), expected("grad_edge_weight").index_select(0, order_), 1e-9,
                   name + " grad_edge_weight");
    }
    for (size_t k = 0; k < loaded_.size(); ++k) {
      const torch::Tensor gradient = expected("grad." + loaded_[k].second);
      const torch::Tensor& tensor = loaded_[k].first;
      expect_close(tensor.grad(), transposed_[k] ? gradient.t() : gradient.view(tensor.sizes()),
                   1e-9, name + " grad " + loaded_[k].second);
    }
  }

  test::Golden golden_;
  ParameterSet set_;
  GraphInput input_;
  torch::Tensor order_, x_, w_;
  std::vector<std::pair<torch::Tensor, std::string>> loaded_;
  std::vector<bool> transposed_;
};

TEST_F(GraphLayersGolden, LeConv) {
  LeLayer layer(set_, "le", 5, 4);
  load(layer.source.weight, "lin1.weight", true);
  load(layer.source.bias, "lin1.bias");
  load(layer.target.weight, "lin2.weight", true);
  load(layer.self.weight, "lin3.weight", true);
  load(layer.self.bias, "lin3.bias");
  check(GraphLayerKind::le, "leconv", layer);
  check(GraphLayerKind::le, "leconv_weighted", layer);
}

TEST_F(GraphLayersGolden, GraphConv) {
  SumLayer layer(set_, "graph", 5, 4);
  load(layer.neighbours.weight, "lin_rel.weight", true);
  load(layer.neighbours.bias, "lin_rel.bias");
  load(layer.self.weight, "lin_root.weight", true);
  check(GraphLayerKind::graph, "graphconv", layer);
  check(GraphLayerKind::graph, "graphconv_weighted", layer);
}

TEST_F(GraphLayersGolden, ArmaConv) {
  ArmaLayer layer(set_, "arma", 5, 4);
  load(layer.weight, "init_weight");
  load(layer.root, "root_weight");
  load(layer.bias, "bias");
  check(GraphLayerKind::arma, "arma", layer);
  check(GraphLayerKind::arma, "arma_weighted", layer);
}

// Four nodes; edges by id: 3 -> 0, 0 -> 1, 2 -> 1, 1 -> 3, 2 -> 3, of the kinds 0, 1, 0, 1, 0.
GraphInput four_nodes() {
  GraphInput input;
  input.edges = test::graph_of(4, {3, 0, 2, 1, 2}, {0, 1, 1, 3, 3});
  input.node_offsets = torch::tensor({0, 4}, torch::kInt64);
  input.edge_x.sparse =
      make_adjacency(5, 2, torch::tensor({0, 1, 0, 1, 0}, torch::kInt64), torch::arange(5));
  return input;
}

torch::Tensor column(const std::vector<double>& values) {
  return numbers(values).unsqueeze(1);
}

void assign(const torch::Tensor& tensor, const std::vector<double>& values) {
  at::NoGradGuard no_grad;
  tensor.copy_(numbers(values).view(tensor.sizes()));
}

const std::vector<double> kX = {1.0, -2.0, 3.0, 0.5};

TEST(GraphLayers, GinByHand) {
  ParameterSet set(Rng(1), torch::kFloat64);
  GinLayer layer(set, "gin", 1, 1, 2);
  assign(layer.edge_table, {0.5, -1.5});
  EXPECT_EQ(layer.eps.item<double>(), 0.0);
  assign(layer.eps, {0.5});
  assign(layer.first.weight, {2, -1});
  assign(layer.first.bias, {-1, 1});
  assign(layer.second.weight, {1, 2});
  assign(layer.second.bias, {0.25});
  assign(layer.norm.variance, {1 - 1e-5, 1 - 1e-5});  // evaluation: the norm changes nothing
  GraphInput input = four_nodes();
  const auto run = [&] {
    return layer.forward(column(kX), make_messages(GraphLayerKind::gin, input, torch::kFloat64),
                         Pass::evaluate());
  };
  // relu(x_j + e): 1, 0, 3.5, 0, 3.5; (1 + eps) x plus their sums: 2.5, 0.5, 4.5, 4.25; the first
  // map: (4, -1.5), (0, 0.5), (8, -3.5), (7.5, -3.25).
  expect_close(run(), column({4.25, 1.25, 8.25, 7.75}), 1e-12);
  // Node 1 now receives 1.75: its sum is -1.25, the first map gives (-3.5, 2.25).
  input.mask = numbers({1, 1, 0.5, 1, 1});
  expect_close(run(), column({4.25, 4.75, 8.25, 7.75}), 1e-12);
  // The weights of the data are not used by this layer.
  input.edge_weights = numbers({3, 3, 3, 3, 3});
  expect_close(run(), column({4.25, 4.75, 8.25, 7.75}), 1e-12);
}

TEST(GraphLayers, GcnByHand) {
  ParameterSet set(Rng(1), torch::kFloat64);
  OgbGcnLayer layer(set, "gcn", 1, 1, 2);
  assign(layer.edge_table, {0.5, -1.5});
  assign(layer.linear.weight, {2});
  assign(layer.linear.bias, {-1});
  assign(layer.root, {1.5});
  GraphInput input = four_nodes();
  const auto run = [&] {
    return layer.forward(column(kX), make_messages(GraphLayerKind::gcn, input, torch::kFloat64),
                         Pass::evaluate());
  };
  // Pairs leaving plus one: 2, 2, 3, 2 (entering plus one would be 2, 3, 1, 3). u = 1, -5, 5, 0.
  // relu(u_j + e): 0.5, 0, 5.5, 0, 5.5; relu(u + root): 2.5, 0, 6.5, 1.5.
  const double pair = 5.5 / std::sqrt(6.0);
  expect_close(run(), column({1.5, pair, 6.5 / 3, 0.75 + pair}), 1e-12);
  input.mask = numbers({0.5, 1, 0, 1, 1});
  expect_close(run(), column({1.375, 0, 6.5 / 3, 0.75 + pair}), 1e-12);
}

TEST(GraphLayers, WithoutEdgeFeaturesGcnDropsTheirTerm) {
  ParameterSet set(Rng(1), torch::kFloat64);
  OgbGcnLayer layer(set, "gcn", 1, 1, 0);
  assign(layer.linear.weight, {2});
  assign(layer.linear.bias, {-1});
  assign(layer.root, {1.5});
  const double pair = 5 / std::sqrt(6.0);
  expect_close(
      layer.forward(column(kX), make_messages(GraphLayerKind::gcn, four_nodes(), torch::kFloat64),
                    Pass::evaluate()),
      column({1.25, 0.5 + pair, 6.5 / 3, 0.75 + pair}), 1e-12);
}

// Seven nodes, edges of three kinds with weights.
struct Case {
  GraphInput input;
  torch::Tensor rows;
  Case() {
    input.edges = test::small_graph();
    input.node_offsets = torch::tensor({0, 3, 7}, torch::kInt64);
    const int64_t nnz = input.edges->nnz();
    input.edge_x.sparse = make_adjacency(nnz, 3, torch::arange(nnz) % 3, torch::arange(nnz));
    input.edge_weights = test::uniform({nnz}, 71, 0.5, 1.5);
    rows = test::uniform({7, 3}, 72);
  }
};

class GraphLayerKinds : public testing::TestWithParam<GraphLayerKind> {
 protected:
  GraphLayerKinds()
      : set_(Rng(4), torch::kFloat64),
        layer_(make_graph_layer(set_, GetParam(), "layer", 3, 2, edge_width())) {}
  static int64_t edge_width() { return 3; }
  torch::Tensor run(const GraphInput& input, const torch::Tensor& rows, bool training = false) {
    return layer_->forward(rows, make_messages(GetParam(), input, torch::kFloat64),
                           training ? Pass::train(Stream(1)) : Pass::evaluate());
  }
  ParameterSet set_;
  std::unique_ptr<GraphLayer> layer_;
};

TEST_P(GraphLayerKinds, GradientsAgreeWithFiniteDifferences) {
  Case c;
  c.input.mask = test::uniform({c.input.edges->nnz()}, 73, 0.2, 0.9).requires_grad_(true);
  c.rows.requires_grad_(true);
  const torch::Tensor cotangent = test::uniform({7, 2}, 74);
  ParameterSet::Named leaves = set_.parameters();
  leaves.emplace_back("mask", c.input.mask);
  leaves.emplace_back("rows", c.rows);
  for (bool training : {false, true}) {
    test::expect_gradients([&] { return (run(c.input, c.rows, training) * cotangent).sum(); },
                           leaves, 1e-6);
  }
}

TEST_P(GraphLayerKinds, AMaskOfOnesChangesNothing) {
  Case c;
  const torch::Tensor plain = run(c.input, c.rows);
  c.input.mask = torch::ones({c.input.edges->nnz()}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(run(c.input, c.rows), plain));
}

TEST_P(GraphLayerKinds, AMaskOfZerosRemovesTheEdgesButNotTheDegrees) {
  Case c;
  GraphInput bare;
  bare.edges = test::graph_of(7, {}, {});
  bare.edge_x.sparse =
      make_adjacency(0, 3, torch::empty({0}, torch::kInt64), torch::empty({0}, torch::kInt64));
  torch::Tensor expected = run(bare, c.rows);
  c.input.mask = torch::zeros({c.input.edges->nnz()}, torch::kFloat64);
  if (GetParam() == GraphLayerKind::gcn) {
    // The self term is divided by a degree that does not see the mask: one more than the pairs that
    // leave each node of small_graph.
    expected = expected / column({3, 3, 3, 3, 2, 3, 1});
  }
  expect_close(run(c.input, c.rows), expected, 1e-12);
}

TEST_P(GraphLayerKinds, FloatAndDoubleAgree) {
  Case c;
  ParameterSet narrow(Rng(4));
  const auto layer = make_graph_layer(narrow, GetParam(), "layer", 3, 2, edge_width());
  std::map<std::string, torch::Tensor> rounded = set_.snapshot();
  for (auto& entry : rounded) entry.second = entry.second.to(torch::kFloat32);
  narrow.restore(rounded);
  const torch::Tensor is =
      layer->forward(c.rows.to(torch::kFloat32),
                     make_messages(GetParam(), c.input, torch::kFloat32), Pass::evaluate());
  EXPECT_EQ(is.scalar_type(), torch::kFloat32);
  expect_close(is, run(c.input, c.rows), 1e-5);
}

TEST_P(GraphLayerKinds, NoNodesGiveNoRows) {
  GraphInput none;
  none.edges = test::graph_of(0, {}, {});
  none.edge_x.sparse =
      make_adjacency(0, 3, torch::empty({0}, torch::kInt64), torch::empty({0}, torch::kInt64));
  for (bool training : {false, true}) {
    EXPECT_EQ(run(none, torch::empty({0, 3}, torch::kFloat64), training).sizes(),
              (std::vector<int64_t>{0, 2}));
  }
}

INSTANTIATE_TEST_SUITE_P(All, GraphLayerKinds, testing::ValuesIn(layers_of_ours()),
                         [](const auto& kind) { return to_string(kind.param); });

TEST(GraphLayers, WrongInputIsNamed) {
  ParameterSet set(Rng(1));
  GraphEncoderOptions options;
  OptionList list;
  options.declare(list);
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { list.set("method", "layer", "gni"); }),
              testing::HasSubstr("did you mean 'gin'"));
  Case c;
  c.input.mask = torch::ones({3});
  EXPECT_THAT(test::error_of(ErrorKind::shape,
                             [&] { make_messages(GraphLayerKind::gin, c.input, torch::kFloat32); }),
              testing::HasSubstr("a mask of 3 numbers came for 11 edges"));
  const auto layer = make_graph_layer(set, GraphLayerKind::gin, "layer", 3, 2, 3);
  c.input.mask = torch::Tensor();
  c.input.edge_x = Features();
  EXPECT_THAT(test::error_of(ErrorKind::shape,
                             [&] {
                               layer->forward(
                                   c.rows.to(torch::kFloat32),
                                   make_messages(GraphLayerKind::gin, c.input, torch::kFloat32),
                                   Pass::evaluate());
                             }),
              testing::HasSubstr("edges without features"));
}

}  // namespace
}  // namespace grm::nn::graph_layers_tests
