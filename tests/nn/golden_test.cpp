// Every convolution in double against the values of PyTorch Geometric 2.8 in
// tests/fixtures/layers.npz: outputs and all gradients of sum(out * cotangent).
#include <gtest/gtest.h>

#include "checks.h"
#include "nn/attention.h"
#include "nn/convolutions.h"
#include "support/golden.h"

namespace grm::nn {
namespace {

using test::expect_close;

constexpr double kTolerance = 1e-9;

class GoldenLayers : public testing::Test {
 protected:
  GoldenLayers() : golden_("layers.npz"), set_(Rng(1), torch::kFloat64) {
    const torch::Tensor pairs = golden_.at("graph__edge_index");
    edges_ = make_adjacency(9, 9, pairs[0], pairs[1]);
    // Our edge ids follow (target, source).
    order_ = torch::argsort(pairs[1] * 9 + pairs[0]);
    x_ = golden_.at("graph__x").clone().set_requires_grad(true);
    w_ = golden_.at("graph__edge_weight").index_select(0, order_).set_requires_grad(true);
  }

  torch::Tensor expected(const std::string& array) const {
    return golden_.at(case_ + "__" + array);
  }

  /// Sets a tensor of ours to the published parameter; `transpose` for linear weights [out, in].
  void load(const torch::Tensor& tensor, const std::string& name, bool transpose = false) {
    at::NoGradGuard no_grad;
    const torch::Tensor value = expected("param." + name);
    tensor.copy_(transpose ? value.t() : value.view(tensor.sizes()));
    loaded_.push_back({name, tensor, transpose});
  }

  void check(const torch::Tensor& out, bool weighted = false) {
    expect_close(out, expected("out"), kTolerance, case_ + " out");
    (out * expected("cotangent")).sum().backward();
    expect_close(x_.grad(), expected("grad_x"), kTolerance, case_ + " grad_x");
    if (weighted) {
      expect_close(w_.grad(), expected("grad_edge_weight").index_select(0, order_), kTolerance,
                   case_ + " grad_edge_weight");
    }
    for (const Loaded& entry : loaded_) {
      const torch::Tensor gradient = expected("grad." + entry.name);
      expect_close(entry.tensor.grad(),
                   entry.transpose ? gradient.t() : gradient.view(entry.tensor.sizes()), kTolerance,
                   case_ + " grad " + entry.name);
    }
  }

  void check_gcn(const std::string& name, Conv conv, bool weighted) {
    case_ = name;
    const GcnLayer layer(set_, "conv", 5, 4);
    load(layer.weight, "lin.weight", true);
    load(layer.bias, "bias");
    const Propagation p =
        make_propagation(conv, edges_, weighted ? w_ : torch::Tensor(), torch::kFloat64);
    expect_close(layer.forward(test::dense_features(x_.detach()), p), expected("out"), kTolerance,
                 "sparse path");
    check(layer.forward(x_, p), weighted);
  }

  void check_gat(const std::string& name, bool concatenate) {
    case_ = name;
    const GatLayer layer(set_, "conv", 5, 4, 2, concatenate);
    load(layer.weight, "lin.weight", true);
    load(layer.source, "att_src");
    load(layer.target, "att_dst");
    load(layer.bias, "bias");
    const AdjacencyPtr pattern = with_self_loops(*edges_);
    expect_close(layer.forward(test::dense_features(x_.detach()), pattern), expected("out"),
                 kTolerance, "sparse path");
    check(layer.forward(x_, pattern));
  }

  struct Loaded {
    std::string name;
    torch::Tensor tensor;
    bool transpose;
  };
  test::Golden golden_;
  ParameterSet set_;
  AdjacencyPtr edges_;
  torch::Tensor order_, x_, w_;
  std::string case_;
  std::vector<Loaded> loaded_;
};

TEST_F(GoldenLayers, GcnKipf) {
  check_gcn("gcn_kipf", Conv::kipf, false);
}
TEST_F(GoldenLayers, GcnKipfWeighted) {
  check_gcn("gcn_kipf_weighted", Conv::kipf, true);
}
TEST_F(GoldenLayers, GcnSum) {
  check_gcn("gcn_sum", Conv::sum, false);
}
TEST_F(GoldenLayers, GcnSumWeighted) {
  check_gcn("gcn_sum_weighted", Conv::sum, true);
}

TEST_F(GoldenLayers, SageMean) {
  case_ = "sage_mean";
  const SageLayer layer(set_, "conv", 5, 4);
  load(layer.neighbours.weight, "lin_l.weight", true);
  load(layer.neighbours.bias, "lin_l.bias");
  load(layer.self.weight, "lin_r.weight", true);
  const Propagation mean = mean_propagation(edges_, torch::kFloat64);
  expect_close(layer.forward(test::dense_features(x_.detach()), mean), expected("out"), kTolerance,
               "sparse path");
  check(layer.forward(x_, mean));
}

TEST_F(GoldenLayers, GatConcatenated) {
  check_gat("gat_concat", true);
}
TEST_F(GoldenLayers, GatAveraged) {
  check_gat("gat_mean", false);
}

TEST_F(GoldenLayers, GcniiThirdLayer) {
  case_ = "gcn2_layer3";
  const GcniiLayer layer(set_, "conv", 5, 3);
  load(layer.weight, "weight1");
  // The published layer receives from in-neighbours, so it takes the operator untransposed.
  const Propagation p = make_propagation(Conv::kipf, edges_, {}, torch::kFloat64);
  check(layer.forward(x_, expected("x0"), p));
}

TEST_F(GoldenLayers, TwoStepsOfThePropagationAreSgc) {
  case_ = "sgc_k2";
  const Linear linear(set_, "linear", 5, 4);
  load(linear.weight, "lin.weight", true);
  load(linear.bias, "lin.bias");
  const Propagation p = make_propagation(Conv::kipf, edges_, {}, torch::kFloat64);
  check(linear.forward(p.apply(p.apply(x_))));
}

TEST_F(GoldenLayers, PagerankCoefficientsGiveAppnp) {
  case_ = "appnp_k10_a01";
  const Propagation p = make_propagation(Conv::kipf, edges_, {}, torch::kFloat64);
  check(generalised_pagerank(p, x_, pagerank_coefficients(10, 0.1, torch::kFloat64)));
}

}  // namespace
}  // namespace grm::nn
