// What makes GSAT: attention and its law, what it costs, both directions of an edge, and the case in
// which it is ERM.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "environment_checks.h"
#include "methods/graph/gsat.h"
#include "small_graph_task.h"

namespace grm::gsat_tests {
namespace {

using environment_tests::check_gradients;
using environment_tests::normal;
using torch::Tensor;
namespace gsat = graph_level::gsat;

TEST(GsatPrior, FallsInStepsToItsLastValue) {
  EXPECT_DOUBLE_EQ(gsat::prior(0.7, 10, 0), 0.9);
  EXPECT_DOUBLE_EQ(gsat::prior(0.7, 10, 9), 0.9);
  EXPECT_DOUBLE_EQ(gsat::prior(0.7, 10, 10), 0.8);
  EXPECT_DOUBLE_EQ(gsat::prior(0.7, 10, 500), 0.7);
  EXPECT_DOUBLE_EQ(gsat::prior(0.5, 20, 60), 0.6);
}

TEST(GsatInformation, IsTheDivergenceOfTwoCoins) {
  const Tensor scores = normal(6, 1, 1).squeeze(1), r = torch::full({}, 0.7, torch::kFloat64);
  const Tensor attention = torch::sigmoid(scores), cost = gsat::information(attention, r);
  for (int64_t k = 0; k < 6; ++k) {
    const double a = attention[k].item<double>();
    EXPECT_NEAR(cost[k].item<double>(), a * std::log(a / 0.7) + (1 - a) * std::log((1 - a) / 0.3),
                1e-5);
  }
  EXPECT_NEAR(gsat::information(torch::full({1}, 0.7, torch::kFloat64), r).item<double>(), 0.0,
              1e-5);
  for (const double edge : {0.0, 1.0}) {  // finite where attention is sure
    EXPECT_TRUE(std::isfinite(gsat::information(torch::full({1}, edge), r).item<double>()));
  }
  check_gradients({scores}, [&] { return gsat::information(torch::sigmoid(scores), r).mean(); });
}

// A sample of the law is above one half as often as sigmoid(score) says.
TEST(GsatAttention, IsDrawnFromTheBinaryConcreteLaw) {
  const int64_t n = 20000;
  Tensor u = torch::empty({n}, torch::kFloat64);
  Rng(3).stream("u").fill_uniform(u.data_ptr<double>(), n, 1e-6, 1 - 1e-6);
  for (const double score : {-1.5, 0.0, 0.8}) {
    const Tensor scores = torch::full({n}, score, torch::kFloat64);
    const double p = 1 / (1 + std::exp(-score));
    const double above =
        gsat::attention_of(scores, u).gt(0.5).to(torch::kFloat64).mean().item<double>();
    EXPECT_NEAR(above, p, 4 * std::sqrt(p * (1 - p) / n)) << score;
    EXPECT_NEAR(gsat::attention_of(scores, {})[0].item<double>(), p, 1e-12);
  }
}

TEST(GsatAttention, OfBothDirectionsIsTheirMeanWhereThereAreTwo) {
  const Tensor source = torch::tensor({0, 1, 2, 0, 3, 3, 4}, torch::kInt64);
  const Tensor target =
      torch::tensor({1, 0, 1, 3, 0, 3, 2}, torch::kInt64);  // a loop, and one-way pairs
  const AdjacencyPtr edges = make_adjacency(5, 5, source, target);
  const Tensor values = normal(edges->nnz(), 1, 2).squeeze(1);
  const Tensor both = gsat::both_directions(values, *edges);
  const auto [from, to] = edge_list(*edges);
  for (int64_t e = 0; e < edges->nnz(); ++e) {
    double expected = values[e].item<double>();
    for (int64_t f = 0; f < edges->nnz(); ++f) {
      if (from[f].item<int64_t>() == to[e].item<int64_t>() &&
          to[f].item<int64_t>() == from[e].item<int64_t>()) {
        expected = (values[e].item<double>() + values[f].item<double>()) / 2;
      }
    }
    EXPECT_DOUBLE_EQ(both[e].item<double>(), expected) << e;
  }
  check_gradients({values}, [&] { return gsat::both_directions(values, *edges).square().sum(); });
}

TEST(GsatAttention, RowsBehindTheLastGraphDoNotCount) {
  const Tensor values = normal(7, 1, 3).squeeze(1);
  const Tensor offsets = torch::tensor({0, 2, 2, 7}, torch::kInt64);
  EXPECT_NEAR(gsat::mean_of_graphs(values, offsets).item<double>(), values.mean().item<double>(),
              1e-12);
}

TEST(GsatScorer, OfNodesEqualsItsFormula) {
  nn::ParameterSet set(Rng(5), torch::kFloat64);
  const gsat::NodeScorer scorer(set, "scorer", 3, 0.0);
  nn::GraphInput batch;
  batch.node_offsets = torch::tensor({0, 4, 9}, torch::kInt64);
  const Tensor rows = normal(9, 3, 4);
  nn::Pass pass = nn::Pass::evaluate();
  const Tensor scores = scorer.forward(rows, batch, pass);
  const auto state = set.snapshot();
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 4}, {4, 9}}) {
    Tensor h = rows.slice(0, begin, end);
    for (const std::string map : {"1", "2"}) {
      h = h.mm(state.at("scorer.linear" + map + ".weight")) +
          state.at("scorer.linear" + map + ".bias");
      h = torch::relu((h - h.mean(0, true)) / (h.var(0, /*unbiased=*/false, true) + 1e-5).sqrt());
    }
    h = h.mm(state.at("scorer.linear3.weight")) + state.at("scorer.linear3.bias");
    EXPECT_TRUE(torch::allclose(scores.slice(0, begin, end), h.squeeze(1), 1e-9, 1e-10));
  }
}

double term(const std::vector<LossTerm>& terms, const std::string& name) {
  for (const LossTerm& t : terms) {
    if (t.name == name) return t.value;
  }
  ADD_FAILURE() << name;
  return 0;
}

// Attention that is sure of every edge leaves messages as they are, and has no gradient.
TEST(Gsat, WithFullAttentionItIsErm) {
  const Task task = test::small_graph_task();
  for (const std::string attention : {"edge", "node"}) {
    const auto method = test::build_graph_method(
        "gsat", task, {{"lambda", "0"}, {"attention_dropout", "0"}, {"attention", attention}});
    {
      const at::NoGradGuard no_grad;
      for (const auto& [name, tensor] : method->parameters().with_prefix("attention.linear3")) {
        tensor.fill_(name.find("bias") == name.npos ? 0.0 : 60.0);
      }
    }
    const auto erm = test::build_graph_method("erm", task, {});
    for (int64_t e = 1; e <= 3; ++e) {
      EXPECT_NEAR(method->train_epoch(e).front().value, erm->train_epoch(e).front().value, 1e-4);
    }
    const Domain& domain = task.test[0];
    const Tensor scores = method->edge_scores(domain.graph, domain.labels.evaluate);
    EXPECT_TRUE(torch::equal(scores, torch::ones_like(scores)));
  }
}

TEST(Gsat, TheTotalIsTheWeightedSumAndItsWeightLowersTheInformation) {
  const Task task = test::small_graph_task();
  double information[2];
  for (int strong = 0; strong < 2; ++strong) {
    const double lambda = strong ? 50 : 0;
    const auto method = test::build_graph_method(
        "gsat", task, {{"lambda", strong ? "50" : "0"}, {"r", "0.9"}, {"lr", "0.01"}});
    std::vector<LossTerm> terms;
    for (int64_t e = 1; e <= 15; ++e) {
      terms = method->train_epoch(e);
      EXPECT_NEAR(terms.front().value, term(terms, "risk") + lambda * term(terms, "information"),
                  1e-4);
    }
    information[strong] = term(terms, "information");
  }
  EXPECT_LT(information[1], information[0]);
}

// GOOD's widths: [600 -> 1200 -> 300 -> 1] of two rows of 300.
TEST(Gsat, ScoresEdgesWithGoodsWidths) {
  const Task task = test::small_graph_task();
  const auto method = test::build_graph_method("gsat", task, {{"hidden", "300"}});
  const auto state = method->parameters().snapshot();
  EXPECT_EQ(state.at("attention.linear1.weight").sizes(), (at::IntArrayRef{600, 1200}));
  EXPECT_EQ(state.at("attention.linear2.weight").sizes(), (at::IntArrayRef{1200, 300}));
  EXPECT_EQ(state.at("attention.linear3.weight").sizes(), (at::IntArrayRef{300, 1}));
}

}  // namespace
}  // namespace grm::gsat_tests
