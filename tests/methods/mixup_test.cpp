// What makes mixup: its draws, its network on nodes against dense matrices of the permuted graph, and
// the case without mixing.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <map>

#include "environment_checks.h"
#include "methods/mixup.h"
#include "nn/losses.h"
#include "small_graph_task.h"
#include "small_task.h"

namespace grm::mixup_tests {
namespace {

using torch::Tensor;

// Beta(a, a) has the mean 1/2 and the variance 1 / (4 (2 a + 1)).
TEST(MixupDraws, HaveTheMomentsOfBeta) {
  for (const double alpha : {0.4, 1.0, 2.0}) {
    const int64_t n = 20000;
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; ++k) {
      const double l = draw_beta(Rng(1).stream("beta", k), alpha);
      ASSERT_GE(l, 0.0);
      ASSERT_LE(l, 1.0);
      sum += l / n;
      squares += (l - 0.5) * (l - 0.5) / n;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(sum, 0.5, 4 * std::sqrt(variance / n)) << alpha;
    EXPECT_NEAR(squares, variance, 0.03 * variance) << alpha;
  }
  EXPECT_EQ(draw_beta(Rng(1).stream("beta"), 0.0), 1.0);
  for (int64_t k = 0; k < 100; ++k) {
    EXPECT_TRUE(std::isfinite(draw_beta(Rng(2).stream("beta", k), 1e-3)));
  }
}

TEST(MixupDraws, OnlyTheGivenItemsChangePlaces) {
  const Tensor ids = torch::tensor({1, 4, 5, 8}, torch::kInt64);
  bool moved = false;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Tensor order = shuffled_among(10, ids, Rng(seed).stream("order"));
    const Tensor back = std::get<0>(order.sort());
    EXPECT_TRUE(torch::equal(back, torch::arange(10, torch::kInt64)));
    for (const int64_t i : {0, 2, 3, 6, 7, 9}) EXPECT_EQ(order[i].item<int64_t>(), i);
    moved = moved || !torch::equal(order, back);
  }
  EXPECT_TRUE(moved);
}

// D^-1/2 (A + I) D^-1/2 of a graph whose edges were renamed by `order`: node i has the place of
// node order[i].
Tensor dense_operator(const Graph& graph, const Tensor& order) {
  const int64_t n = graph.nodes();
  const Tensor a = torch::eye(n, torch::kFloat64);
  const auto [source, target] = edge_list(*graph.edges);
  for (int64_t e = 0; e < source.numel(); ++e) {
    a[target[e].item<int64_t>()][source[e].item<int64_t>()] = 1;
  }
  const Tensor scale = torch::diag(a.sum(1).rsqrt());
  return scale.mm(a).mm(scale).index_select(0, order).index_select(1, order);
}

class MixupNetwork : public testing::Test {
 protected:
  MixupNetwork() {
    options_.hidden = 5;
    options_.layers = 3;
    const int64_t n = domain_.graph.nodes();
    x_ = torch::zeros({n, 9}, torch::kFloat64);
    const Adjacency& sparse = *domain_.graph.x.sparse;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = sparse.in.offset()[i]; k < sparse.in.offset()[i + 1]; ++k) {
        x_[i][sparse.in.index()[k]] = 1;
      }
    }
    x_.slice(1, 7, 9).copy_(domain_.graph.x.dense);
  }
  Tensor normalised(const Tensor& rows) const {
    if (!options_.batch_norm) return torch::relu(rows);
    const Tensor off = rows - rows.mean(0, true);
    return torch::relu(off / (off.square().mean(0, true) + 1e-5).sqrt());
  }
  // The formulas, with the permuted graph and its rows built as they stand there.
  std::pair<Tensor, Tensor> expected(const std::map<std::string, Tensor>& weights,
                                     const Tensor& order, double l) const {
    const auto at = [&](const std::string& name) { return weights.at(name); };
    const Tensor whole = torch::arange(domain_.graph.nodes(), torch::kInt64);
    const Tensor a = dense_operator(domain_.graph, whole),
                 permuted = dense_operator(domain_.graph, order);
    Tensor plain = x_, mixed = l * x_ + (1 - l) * x_.index_select(0, order);
    for (int k = 1; k <= 3; ++k) {
      const std::string name = "layer" + std::to_string(k);
      const Tensor w1 = at(name + ".neighbours"), w2 = at(name + ".self.weight"),
                   b = at(name + ".self.bias");
      const auto f = [&](const Tensor& edges, const Tensor& rows, const Tensor& self) {
        return edges.mm(rows).mm(w1) + self.mm(w2) + b;
      };
      mixed = l * normalised(f(a, plain, mixed)) +
              (1 - l) * normalised(f(permuted, plain.index_select(0, order), mixed));
      plain = normalised(f(a, plain, plain));
    }
    const auto head = [&](const Tensor& rows) {
      return rows.mm(at("head.weight")) + at("head.bias");
    };
    return {head(plain), head(mixed)};
  }
  const Domain domain_ = test::small_domain(1, 18);
  MixupNetOptions options_;
  Tensor x_;
};

TEST_F(MixupNetwork, EqualsDenseMatricesOfThePermutedGraph) {
  for (const bool batch_norm : {true, false}) {
    options_.batch_norm = batch_norm;
    nn::ParameterSet set(Rng(4), torch::kFloat64);
    MixupNet net(set, options_, 9, 3);
    const Tensor order = shuffled_among(18, torch::tensor({0, 3, 4, 9, 11, 17}, torch::kInt64),
                                        Rng(7).stream("order"));
    nn::Pass pass = nn::Pass::train(Rng(1).stream("dropout"));
    const Tensor l = torch::full({}, 0.3, torch::kFloat64);
    const MixupNet::Output out = net.forward(domain_.graph, pass, order, l);
    const auto [plain, mixed] = expected(set.snapshot(), order, 0.3);
    EXPECT_TRUE(torch::allclose(out.plain, plain, 1e-9, 1e-10));
    EXPECT_TRUE(torch::allclose(out.mixed, mixed, 1e-9, 1e-10));
  }
}

TEST_F(MixupNetwork, GradientsEqualFiniteDifferences) {
  options_.batch_norm = false;
  nn::ParameterSet set(Rng(4), torch::kFloat64);
  MixupNet net(set, options_, 9, 3);
  const Tensor order = shuffled_among(18, torch::arange(18, torch::kInt64), Rng(7).stream("order"));
  const Tensor l = torch::full({}, 0.3, torch::kFloat64);
  std::vector<Tensor> some;
  for (const auto& [name, tensor] : set.parameters()) some.push_back(tensor);
  const Tensor y = torch::arange(18, torch::kInt64).remainder(3);
  environment_tests::check_gradients(
      some,
      [&] {
        nn::Pass pass = nn::Pass::train(Rng(1).stream("dropout"));
        return nn::supervised_loss(LossKind::softmax,
                                   net.forward(domain_.graph, pass, order, l).mixed, y);
      },
      1e-4);
}

TEST_F(MixupNetwork, ANodeMixedWithItselfIsItself) {
  nn::ParameterSet set(Rng(4), torch::kFloat64);
  MixupNet net(set, options_, 9, 3);
  const Tensor whole = torch::arange(18, torch::kInt64), l = torch::full({}, 0.6, torch::kFloat64);
  nn::Pass pass = nn::Pass::train(Rng(1).stream("dropout"));
  const MixupNet::Output out = net.forward(domain_.graph, pass, whole, l);
  EXPECT_TRUE(torch::allclose(out.plain, out.mixed, 1e-9, 1e-10));
}

double term(const std::vector<LossTerm>& terms, const std::string& name) {
  for (const LossTerm& t : terms) {
    if (t.name == name) return t.value;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(Mixup, WithoutMixingItMinimisesTheRiskOfTheNodes) {
  const Task task = test::small_task();
  MethodChoice choice("mixup");
  choice.options().set("method", "alpha", "0");
  const auto method = choice.build(task.train_view(), Rng(1));
  for (int64_t e = 1; e <= 3; ++e) {
    const std::vector<LossTerm> terms = method->train_epoch(e);
    EXPECT_NEAR(terms.front().value, term(terms, "risk"), 1e-6);
  }
}

// Environments of one graph, as GOOD has them, mix their nodes with each other.
TEST(Mixup, NodesOfOneGraphAreMixedWhateverTheirDomain) {
  Task task = test::small_task();
  Domain half = task.training[0], rest = half;
  half.labels.loss = torch::arange(0, 15, torch::kInt64);
  rest.labels.loss = torch::arange(15, 30, torch::kInt64);
  const auto first_loss = [](const Task& of) {
    return MethodChoice("mixup").build(of.train_view(), Rng(1))->train_epoch(1).front().value;
  };
  const double together = first_loss(task);  // equal halves: the mean of means is the mean
  task.training = {half, rest};
  EXPECT_NEAR(first_loss(task), together, 1e-6);
}

TEST(GraphMixup, WithoutMixingItIsErm) {
  const Task task = test::small_graph_task();
  const auto method = test::build_graph_method("mixup", task, {{"dropout", "0.2"}, {"alpha", "0"}});
  const auto erm = test::build_graph_method("erm", task, {{"dropout", "0.2"}});
  for (int64_t e = 1; e <= 3; ++e) {
    EXPECT_NEAR(method->train_epoch(e).front().value, erm->train_epoch(e).front().value, 1e-5);
  }
  const auto expected = erm->parameters().snapshot();
  for (const auto& [name, tensor] : method->parameters().snapshot()) {
    EXPECT_LE((tensor - expected.at(name)).abs().max().item<double>(), 1e-4) << name;
  }
}

// With a linear head the loss is that of mixed logits: the rows are linear in them.
TEST(GraphMixup, MixedRowsHaveMixedLogitsUnderALinearHead) {
  const Task task = test::small_graph_task();
  const auto loss = [&](const std::string& pool) {
    const auto method =
        test::build_graph_method("mixup", task, {{"head_layers", "1"}, {"pool", pool}});
    return method->train_epoch(1).front().value;
  };
  EXPECT_NEAR(loss("rows"), loss("logits"), 1e-5);
}

}  // namespace
}  // namespace grm::mixup_tests
