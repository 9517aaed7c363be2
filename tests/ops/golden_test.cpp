// Expected values by PyTorch Geometric 2.8 and torch autograd in float64
// (tests/fixtures/layers.npz).
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "ops/generate.h"
#include "ops/sparse.h"
#include "support/golden.h"

namespace grm::test {
namespace {

using torch::Tensor;

constexpr double kTolerance = 1e-9;

void expect_golden(const Tensor& is, const Tensor& expected, const std::string& what) {
  ASSERT_TRUE(is.defined()) << what;
  ASSERT_EQ(is.sizes(), expected.sizes()) << what;
  EXPECT_LE((is - expected).abs().max().item<double>(), kTolerance) << what;
}

// Edge id of every pair source[k] -> target[k].
Tensor edge_ids(const Adjacency& a, const Tensor& source, const Tensor& target) {
  Tensor ids = torch::empty({source.numel()}, torch::kInt64);
  for (int64_t k = 0; k < source.numel(); ++k) {
    const int64_t i = target[k].item<int64_t>();
    int64_t e = a.in.offset()[i];
    while (a.in.index()[e] != source[k].item<int64_t>()) ++e;
    ids[k] = e;
  }
  return ids;
}

class GoldenConvolution : public testing::TestWithParam<std::string> {};

// out = P x W^T + b, with P = the stored weights ("sum") or their normalisation with self-loops,
// where an existing self-loop keeps its weight ("kipf").
TEST_P(GoldenConvolution, OutputAndGradientsAgree) {
  const Golden golden("layers.npz");
  const std::string name = GetParam();
  const bool kipf = name.find("kipf") != std::string::npos;
  const bool weighted = name.find("weighted") != std::string::npos;
  const Tensor pairs = golden.at("graph__edge_index");
  AdjacencyPtr edges = make_adjacency(9, 9, pairs[0], pairs[1]);
  ASSERT_EQ(edges->nnz(), pairs.size(1));
  if (kipf) edges = with_self_loops(*edges);

  const auto leaf = [&](const std::string& array) {
    return golden.at(array).detach().clone().requires_grad_();
  };
  const Tensor x = leaf("graph__x"), weight = leaf(name + "__param.lin.weight");
  const Tensor bias = leaf(name + "__param.bias"), stored = leaf("graph__edge_weight");
  Tensor w = torch::ones({edges->nnz()}, torch::kFloat64);
  if (weighted) w = w.index_copy(0, edge_ids(*edges, pairs[0], pairs[1]), stored);
  if (kipf) w = ops::normalise(edges, w);
  const bool plain = !kipf && !weighted;
  const Tensor out = ops::spmm(edges, plain ? Tensor() : w, x.mm(weight.t())) + bias;
  (out * golden.at(name + "__cotangent")).sum().backward();

  expect_golden(out.detach(), golden.at(name + "__out"), "out");
  expect_golden(x.grad(), golden.at(name + "__grad_x"), "grad_x");
  expect_golden(weight.grad(), golden.at(name + "__grad.lin.weight"), "grad weight");
  expect_golden(bias.grad(), golden.at(name + "__grad.bias"), "grad bias");
  if (weighted) {
    expect_golden(stored.grad(), golden.at(name + "__grad_edge_weight"), "grad edge weight");
  }
}

INSTANTIATE_TEST_SUITE_P(Gcn, GoldenConvolution,
                         testing::Values("gcn_sum", "gcn_sum_weighted", "gcn_kipf",
                                         "gcn_kipf_weighted"),
                         [](const auto& test) { return test.param; });

AdjacencyPtr all_pairs_of(int64_t n) {
  const Tensor every = torch::arange(n * n, torch::kInt64);
  return make_adjacency(n, n, every.remainder(n), every.div(n, "floor"));
}

TEST(GoldenGeneratedTile, OutputDivergenceAndGradientsAgree) {
  const Golden golden("layers.npz");
  const auto tile = [&](const std::string& array) { return golden.at("generated_tile__" + array); };
  const auto leaf = [&](const std::string& array) {
    return tile(array).detach().clone().requires_grad_();
  };
  const double theta = tile("theta").item<double>();
  // Once from plain sigmoid and edge_kl, once from the fused operator.
  for (const bool fused : {false, true}) {
    const Tensor z = leaf("z"), we = leaf("W_e"), be = leaf("b_e"), values = leaf("values");
    const AdjacencyPtr pairs = all_pairs_of(z.size(0));
    const Tensor f = z.mm(we.t()) + be;
    const Tensor logits = ops::sddmm(pairs, f, f);
    const ops::GeneratedEdges edges =
        fused ? ops::generate_edges(logits, theta)
              : ops::GeneratedEdges{torch::sigmoid(logits), ops::edge_kl(logits, theta)};
    const Tensor out = ops::spmm(pairs, ops::normalise(pairs, edges.weights), values);
    const Tensor kl = edges.kl.mean();
    ((out * tile("cotangent_out")).sum() + tile("cotangent_kl") * kl).backward();

    // Pair j -> i of the pattern is element [i, j].
    expect_golden(edges.weights.detach().view({z.size(0), z.size(0)}), tile("edges"), "edges");
    expect_golden(out.detach(), tile("out"), "out");
    expect_golden(kl.detach(), tile("kl_edges"), "kl");
    expect_golden(z.grad(), tile("grad_z"), "grad_z");
    expect_golden(we.grad(), tile("grad_W_e"), "grad_W_e");
    expect_golden(be.grad(), tile("grad_b_e"), "grad_b_e");
    expect_golden(values.grad(), tile("grad_values"), "grad_values");
  }
}

TEST(GoldenPool, SegmentMeanAgrees) {
  const Golden golden("layers.npz");
  const Tensor batch = golden.at("pool__batch");
  const Tensor sizes = torch::bincount(batch);
  const Tensor offsets = torch::cat({torch::zeros({1}, torch::kInt64), sizes.cumsum(0)});
  expect_golden(ops::segment_mean(offsets, golden.at("graph__x")), golden.at("pool__mean"), "mean");
}

TEST(GoldenVgae, MeanOfGaussianKlAgrees) {
  const Golden golden("layers.npz");
  const Tensor kl = ops::gaussian_kl(golden.at("vgae_kl__mu"), golden.at("vgae_kl__log_sigma"));
  expect_golden(kl.mean(), golden.at("vgae_kl__kl_mean_over_nodes"), "kl");
}

}  // namespace
}  // namespace grm::test
