// What makes GIL: its closed-form gradients against autograd, the penalty against its definition
// and by finite differences, and the cases in which there is nothing to penalise.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/nn/layers.h"
#include "methods/graph/batches.h"
#include "methods/graph/gil.h"
#include "nn/checks.h"
#include "nn/losses.h"
#include "small_graph_task.h"

namespace grm {
namespace {

using torch::Tensor;
namespace gil = graph_level::gil;

// Seven inputs through a hidden layer and a head, in double; environment 1 has no member.
class GilPenalty : public testing::Test {
 protected:
  void build(int64_t classes) {
    hidden_ = nn::Linear(set_, "hidden", 4, 5);
    head_ = nn::Linear(set_, "head", 5, classes);
  }
  Tensor inputs() const { return torch::tanh(hidden_.forward(x_)); }
  Tensor gradients(LossKind kind) const {
    const Tensor h = inputs();
    return gil::head_gradients(gil::environment_weights(environments_, torch::kFloat64),
                               nn::loss_residuals(kind, head_.forward(h), y_), h);
  }
  const Tensor x_ = test::uniform({7, 4}, 5);
  const Tensor y_ = torch::tensor({0, 1, 1, 0, 1, 0, 0}, torch::kInt64);
  const Tensor environments_ = torch::tensor({2, 0, 3, 0, 2, 2, 0}, torch::kInt64);
  nn::ParameterSet set_{Rng(1), torch::kFloat64};
  nn::Linear hidden_, head_;
};

TEST_F(GilPenalty, EnvironmentsWeighTheirMembersEquallyAndAbsentOnesAreLeftOut) {
  const double third = 1.0 / 3;
  const Tensor expected = torch::tensor({{0.0, third, 0.0, third, 0.0, 0.0, third},
                                         {third, 0.0, 0.0, 0.0, third, third, 0.0},
                                         {0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0}},
                                        torch::kFloat64);
  test::expect_close(gil::environment_weights(environments_, torch::kFloat64), expected, 1e-15);
}

TEST_F(GilPenalty, TheClosedFormEqualsAutogradOfEachRisk) {
  for (const LossKind kind : {LossKind::softmax, LossKind::binary_pair}) {
    const Tensor h = test::uniform({7, 5}, 8);
    nn::ParameterSet set(Rng(2), torch::kFloat64);
    nn::Linear head(set, "head", 5, 2);
    const Tensor logits = head.forward(h);
    const Tensor closed =
        gil::head_gradients(gil::environment_weights(environments_, torch::kFloat64),
                            nn::loss_residuals(kind, logits, y_), h);
    ASSERT_EQ(closed.sizes(), (at::IntArrayRef{3, 2, 6}));
    int64_t row = 0;
    for (const int64_t e : {0, 2, 3}) {
      const Tensor members = environments_.eq(e).nonzero().squeeze(1);
      head.weight.mutable_grad().reset();
      head.bias.mutable_grad().reset();
      nn::supervised_loss(kind, head.forward(h.index_select(0, members)),
                          y_.index_select(0, members))
          .backward();
      test::expect_close(closed[row].narrow(1, 0, 5), head.weight.grad().t(), 1e-12);
      test::expect_close(closed[row].select(1, 5), head.bias.grad(), 1e-12);
      ++row;
    }
  }
}

// pool = logits: the head acts on every node and the largest logit of a graph is its own.
TEST_F(GilPenalty, TheClosedFormOfPooledLogitsEqualsAutograd) {
  const Tensor rows = test::uniform({21, 5}, 8);  // seven graphs of three nodes
  nn::ParameterSet set(Rng(2), torch::kFloat64);
  nn::Linear head(set, "head", 5, 2);
  const auto logits_of = [&](const Tensor& x) {
    return std::get<0>(head.forward(x).view({-1, 3, 2}).max(1));
  };
  const Tensor extended = torch::cat({rows, torch::ones({21, 1}, torch::kFloat64)}, 1);
  const Tensor largest = std::get<1>(head.forward(rows).view({7, 3, 2}).max(1));  // [7, 2]
  Tensor inputs = torch::zeros({7, 2, 6}, torch::kFloat64);
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t c = 0; c < 2; ++c) inputs[i][c] = extended[3 * i + largest[i][c].item<int64_t>()];
  }
  const Tensor closed = gil::head_gradients(
      gil::environment_weights(environments_, torch::kFloat64),
      nn::loss_residuals(LossKind::softmax, logits_of(rows), y_).detach(), inputs);
  ASSERT_EQ(closed.sizes(), (at::IntArrayRef{3, 2, 6}));
  int64_t row = 0;
  for (const int64_t e : {0, 2, 3}) {
    const Tensor members = environments_.eq(e).nonzero().squeeze(1);
    head.weight.mutable_grad().reset();
    head.bias.mutable_grad().reset();
    nn::supervised_loss(LossKind::softmax, logits_of(rows).index_select(0, members),
                        y_.index_select(0, members))
        .backward();
    test::expect_close(closed[row].narrow(1, 0, 5), head.weight.grad().t(), 1e-12);
    test::expect_close(closed[row].select(1, 5), head.bias.grad(), 1e-12);
    ++row;
  }
}

TEST_F(GilPenalty, IsTheTraceOfTheVarianceOverEnvironments) {
  const Tensor g = test::uniform({3, 2, 4}, 9);
  double expected = 0;
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t d = 0; d < 4; ++d) {
      double mean = 0;
      for (int64_t e = 0; e < 3; ++e) mean += g[e][c][d].item<double>() / 3;
      for (int64_t e = 0; e < 3; ++e) expected += std::pow(g[e][c][d].item<double>() - mean, 2) / 3;
    }
  }
  EXPECT_NEAR(gil::gradient_variance(g).item<double>(), expected, 1e-14);
}

// A row for every environment, empty ones included, counts as the rows of those that are there.
TEST_F(GilPenalty, EnvironmentsWithoutMembersDoNotCount) {
  const Tensor some = gil::environment_weights(environments_, torch::kFloat64);
  const Tensor all = gil::weights_of_all(environments_, 6, torch::kFloat64);
  const Tensor there = gil::present(all);
  test::expect_close(all.index_select(0, there.nonzero().squeeze(1)), some, 0.0);
  EXPECT_EQ(there.sum().item<double>(), static_cast<double>(some.size(0)));
  const Tensor residuals = test::uniform({7, 2}, 4), inputs = test::uniform({7, 5}, 5);
  EXPECT_NEAR(
      gil::gradient_variance(gil::head_gradients(all, residuals, inputs), there).item<double>(),
      gil::gradient_variance(gil::head_gradients(some, residuals, inputs)).item<double>(), 1e-14);
}

TEST_F(GilPenalty, HasTheGradientOfFiniteDifferences) {
  build(2);
  for (const LossKind kind : {LossKind::softmax, LossKind::binary_pair}) {
    test::expect_gradients([&] { return gil::gradient_variance(gradients(kind)); },
                           set_.parameters());
  }
}

class GilTraining : public testing::Test {
 protected:
  using State = std::map<std::string, Tensor>;
  State trained(const test::Values& values, int64_t epochs = 3) {
    const auto method = test::build_graph_method("gil", task_, values);
    for (int64_t e = 1; e <= epochs; ++e) method->train_epoch(e);
    return method->parameters().snapshot();
  }
  static void expect_equal(const State& a, const State& b, bool equal) {
    bool same = true;
    for (const auto& [name, tensor] : a) same = same && torch::equal(tensor, b.at(name));
    EXPECT_EQ(same, equal);
  }
  Task task_ = test::small_graph_task();
};

TEST_F(GilTraining, OneEnvironmentHasNoPenalty) {
  expect_equal(trained({{"environments", "1"}, {"lambda", "10"}}),
               trained({{"environments", "1"}, {"lambda", "0"}}), true);
  expect_equal(trained({{"environments", "3"}, {"lambda", "10"}}),
               trained({{"environments", "3"}, {"lambda", "0"}}), false);
}

// All graphs of a set without variant edges are alike to k-means.
TEST_F(GilTraining, WithoutVariantEdgesThereIsOneEnvironment) {
  expect_equal(trained({{"t", "1"}, {"environments", "3"}, {"lambda", "10"}}),
               trained({{"t", "1"}, {"environments", "1"}, {"lambda", "0"}}), true);
}

TEST_F(GilTraining, NothingTrainsTheNetworkBehindTheEnvironments) {
  const State before = trained({{"lr", "0"}}), after = trained({});
  for (const auto& [name, tensor] : after) {
    if (name.rfind("variant", 0) == 0) {
      EXPECT_TRUE(torch::equal(tensor, before.at(name))) << name;
    }
    if (name.rfind("mask", 0) == 0 && name.find("weight") != std::string::npos) {
      EXPECT_FALSE(torch::equal(tensor, before.at(name))) << name;
    }
  }
  const State shared = trained({{"variant_encoder", "shared"}});
  for (const auto& entry : shared) EXPECT_NE(entry.first.rfind("variant", 0), 0u) << entry.first;
}

TEST_F(GilTraining, AStrongPenaltyMakesTheGradientsAlike) {
  const auto left = [&](const char* lambda) {
    const auto method =
        test::build_graph_method("gil", task_, {{"batch", "40"}, {"lambda", lambda}});
    std::vector<LossTerm> terms;
    for (int64_t e = 1; e <= 30; ++e) terms = method->train_epoch(e);
    EXPECT_EQ(terms[2].name, "gradient_variance");
    return terms[2].value;
  };
  EXPECT_LT(left("100"), 0.5 * left("0"));
}

TEST_F(GilTraining, LearnsTheTrainingGraphs) {
  const auto method = test::build_graph_method("gil", task_, {{"lr", "0.01"}, {"t", "0.5"}});
  for (int64_t e = 1; e <= 40; ++e) method->train_epoch(e);
  const Domain& domain = task_.training[0];
  const Tensor guess = method->logits(domain.graph, domain.labels.evaluate).argmax(1);
  EXPECT_GE(guess.eq(domain.labels.y).to(torch::kFloat64).mean().item<double>(), 0.9);
}

}  // namespace
}  // namespace grm
