// What makes LiSA LiSA: the hard mask with its straight-through gradient, the two objectives, and
// that generators and classifier are trained apart.
#include "methods/lisa.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <stdexcept>

#include "../support/expect_error.h"
#include "grm/methods/method.h"
#include "methods/frozen.h"
#include "nn/backbone.h"
#include "nn/losses.h"
#include "small_task.h"

namespace grm::lisa_tests {
namespace {

using torch::Tensor;

Tensor numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

std::unique_ptr<Method> build(const std::string& method, const Task& task,
                              const std::vector<std::pair<std::string, std::string>>& values) {
  MethodChoice choice(method);
  for (const auto& [key, value] : values) choice.options().set("method", key, value);
  return choice.build(task.train_view(), Rng(1));
}

void expect_same_parameters(Method& a, Method& b, double tolerance) {
  for (size_t k = 0; k < a.parameters().parameters().size(); ++k) {
    const auto& [name, tensor] = a.parameters().parameters()[k];
    const Tensor& other = b.parameters().parameters()[k].second;
    EXPECT_LE((tensor - other).abs().max().item<double>(), tolerance) << name;
  }
}

TEST(Lisa, MaskKeepsTheFlooredShareOfTheLargest) {
  const Tensor p = numbers({0.3, 0.9, 0.1, 0.8, 0.7, 0.2, 0.6});
  // floor(0.5 * 7) = 3 largest: 0.9, 0.8, 0.7.
  EXPECT_TRUE(torch::equal(lisa::hard_mask(p, 0.5), numbers({0, 1, 0, 1, 1, 0, 0})));
  EXPECT_TRUE(torch::equal(lisa::hard_mask(p, 0.1), torch::zeros_like(p)));
  EXPECT_TRUE(torch::equal(lisa::hard_mask(p, 1.0), torch::ones_like(p)));
}

TEST(Lisa, MaskBreaksTiesByTheLowestEdge) {
  const Tensor p = numbers({0.2, 0.5, 0.5, 0.9, 0.5, 0.5});
  EXPECT_TRUE(torch::equal(lisa::hard_mask(p, 0.5), numbers({0, 1, 1, 1, 0, 0})));
  EXPECT_TRUE(torch::equal(lisa::hard_mask(torch::full({9}, 0.5), 0.34).to(torch::kFloat64),
                           numbers({1, 1, 1, 0, 0, 0, 0, 0, 0})));
}

TEST(Lisa, GradientPassesTheMaskForAllEdgesAndStopsAtTheClamp) {
  Tensor b = numbers({-11, -2, 0, 3, 12}).set_requires_grad(true);
  const Tensor weights = numbers({1, 2, 3, 4, 5});
  (lisa::hard_mask(lisa::keep_probability(b), 0.4) * weights).sum().backward();
  for (int64_t e = 0; e < 5; ++e) {
    const double score = b[e].item<double>(), p = 1 / (1 + std::exp(-score));
    const double expected = std::abs(score) > 10 ? 0.0 : (e + 1.0) * p * (1 - p);
    EXPECT_NEAR(b.grad()[e].item<double>(), expected, 1e-12) << e;
  }
}

TEST(Lisa, ScoresThatAreNotNumbersAreAnError) {
  const std::string message = test::error_of(ErrorKind::config, [] {
    lisa::hard_mask(numbers({0.5, std::nan("")}), 0.5);
  });
  EXPECT_NE(message.find("generator_lr"), std::string::npos);
}

// Four nodes, conv = sum, no normalisation: O = A relu(M X W1) W2 with M the masked adjacency.
// dL/dO = (softmax - onehot) / n, dL/dH = A^T dL/dO W2^T, dL/dZ = dL/dH where Z > 0, and
// dL/db_e = <dL/dZ_i, (X W1)_j> p_e (1 - p_e) for the edge e = j -> i.
TEST(Lisa, StraightThroughGradientOfAGcnFollowsItsFormula) {
  const std::vector<int64_t> from = {1, 3, 0, 2, 3, 0, 1}, to = {0, 0, 1, 1, 2, 3, 3};
  const AdjacencyPtr edges =
      make_adjacency(4, 4, torch::tensor(from, torch::kInt64), torch::tensor(to, torch::kInt64));
  nn::ParameterSet set(Rng(3), torch::kFloat64);
  nn::BackboneOptions options;
  options.conv = nn::Conv::sum;
  options.hidden = 5;
  options.batch_norm = false;
  const auto gcn = nn::make_backbone(set, "", options, 3, 2);
  Features x;
  x.dense = torch::empty({4, 3}, torch::kFloat64);
  Rng(4).stream("x").fill_normal(x.dense.data_ptr<double>(), 12);
  const Tensor y = torch::tensor({0, 1, 1, 0}, torch::kInt64);
  Tensor b = numbers({0.3, -0.2, 1.5, -0.7, 0.9, 0.1, -1.1}).set_requires_grad(true);
  const Tensor mask = lisa::hard_mask(lisa::keep_probability(b), 0.6);  // floor(4.2) = 4 edges
  EXPECT_EQ(mask.sum().item<double>(), 4);
  nn::Pass pass = nn::Pass::evaluate();
  nn::supervised_loss(LossKind::softmax, gcn->forward({edges, x, mask}, pass).logits, y).backward();

  const auto weights = set.snapshot();
  Tensor full = torch::zeros({4, 4}, torch::kFloat64), kept = torch::zeros({4, 4}, torch::kFloat64);
  const auto [source, target] = edge_list(*edges);
  for (int64_t e = 0; e < 7; ++e) {
    const int64_t j = source[e].item<int64_t>(), i = target[e].item<int64_t>();
    full[i][j] = 1;
    kept[i][j] = mask[e].item<double>();
  }
  const Tensor xw = x.dense.matmul(weights.at("conv1.weight"));
  const Tensor z = kept.matmul(xw) + weights.at("conv1.bias");
  const Tensor o =
      full.matmul(torch::relu(z).matmul(weights.at("conv2.weight"))) + weights.at("conv2.bias");
  const Tensor d_o = (torch::softmax(o, 1) - torch::one_hot(y, 2)) / 4;
  const Tensor d_z =
      full.t().matmul(d_o).matmul(weights.at("conv2.weight").t()) * (z > 0).to(torch::kFloat64);
  for (int64_t e = 0; e < 7; ++e) {
    const double p = 1 / (1 + std::exp(-b[e].item<double>()));
    const double slope =
        (d_z[target[e].item<int64_t>()] * xw[source[e].item<int64_t>()]).sum().item<double>();
    EXPECT_NEAR(b.grad()[e].item<double>(), slope * p * (1 - p), 1e-12) << "edge " << e;
  }
}

TEST(Lisa, DivergenceIsThatFromACoinFlip) {
  double expected = 0;
  for (const double p : {0.1, 0.5, 0.9}) {
    expected += (p * std::log(2 * p + 1e-8) + (1 - p) * std::log(2 * (1 - p) + 1e-9)) / 3;
  }
  EXPECT_NEAR(lisa::mask_kl(numbers({0.1, 0.5, 0.9})).item<double>(), expected, 1e-14);
  EXPECT_NEAR(lisa::mask_kl(numbers({0.5})).item<double>(), 0.0, 1e-8);
}

// Roots 1, 2, 4 have mean 7/3 and sample variance 7/3; losses 4, 1, 4, 16 have mean 25/4 and sample
// variance (81 + 441 + 81 + 1521) / 16 / 3 = 44.25.
TEST(Lisa, ObjectivesByHand) {
  const std::vector<Tensor> views = {numbers({1})[0], numbers({4})[0], numbers({16})[0]};
  const std::vector<Tensor> kl = {numbers({0.1})[0], numbers({0.2})[0], numbers({0.6})[0]};
  EXPECT_NEAR(lisa::generator_objective(views, kl, 0.5, 0.25).item<double>(),
              21.0 / 4 + 0.5 * 0.3 - 0.25 * 7 / 3, 1e-12);
  EXPECT_NEAR(
      lisa::classifier_objective({numbers({4})[0], views[0], views[1], views[2]}).item<double>(),
      6.25 + 44.25, 1e-12);
  // One view has no variance, and none at all leaves the plain loss.
  EXPECT_NEAR(lisa::generator_objective({views[1]}, {kl[0]}, 0, 7).item<double>(), 2.0, 1e-12);
  EXPECT_EQ(lisa::classifier_objective({views[1]}).item<double>(), 4.0);
}

TEST(Lisa, WithoutViewsItIsErmWithOneStepPerGraph) {
  Task task = test::small_task();
  task.training.push_back(test::small_domain(9, 25, "second"));
  const auto lisa = build("lisa", task, {{"views", "0"}});
  const auto erm = build("erm", task, {{"dropout", "0.5"}, {"update", "per_domain"}});
  for (int64_t epoch = 1; epoch <= 5; ++epoch) {
    const double a = lisa->train_epoch(epoch).front().value;
    EXPECT_NEAR(a, erm->train_epoch(epoch).front().value, 1e-6);
  }
  expect_same_parameters(*lisa, *erm, 1e-6);
}

// With rho = 1 every mask keeps every edge, so what the generators learn cannot reach the
// classifier through the masks: it must end at the same weights for any number of their steps.
TEST(Lisa, GeneratorStepsLeaveTheClassifierAlone) {
  const Task task = test::small_task();
  const auto some = build("lisa", task, {{"rho", "1"}, {"dropout", "0"}, {"inner_steps", "4"}});
  const auto none = build("lisa", task, {{"rho", "1"}, {"dropout", "0"}, {"inner_steps", "0"}});
  const auto before = none->training_state();
  for (int64_t epoch = 1; epoch <= 3; ++epoch) {
    some->train_epoch(epoch);
    none->train_epoch(epoch);
  }
  expect_same_parameters(*some, *none, 0.0);
  ASSERT_EQ(before.size(), 3u);
  for (const auto& [name, b] : before) {
    EXPECT_TRUE(torch::equal(none->training_state().at(name), b)) << name;
    EXPECT_FALSE(torch::equal(some->training_state().at(name), b)) << name;
    EXPECT_GE(b.min().item<double>(), 0.0);
    EXPECT_LT(b.max().item<double>(), 1.0);
  }
  for (const auto& [name, tensor] : some->parameters().parameters()) {
    EXPECT_TRUE(tensor.requires_grad()) << name;
  }
}

TEST(Lisa, BackbonesWithoutEdgeWeightsAreRefused) {
  const Task task = test::small_task();
  const std::string message = test::error_of(ErrorKind::config, [&] {
    build("lisa", task, {{"backbone", "gat"}});
  });
  EXPECT_NE(message.find("gcn, sage or gin"), std::string::npos);
  test::error_of(ErrorKind::config, [&] { build("lisa", task, {{"layers", "1"}}); });
  EXPECT_GT(build("lisa", task, {{"backbone", "sage"}})->train_epoch(1).front().value, 0.0);
}

TEST(Frozen, PutsBackWhatParametersRequiredAlsoAfterAnException) {
  nn::ParameterSet set(Rng(1));
  const Tensor a = set.constant("a", {2}, 1.0), b = set.constant("b", {2}, 1.0);
  b.set_requires_grad(false);
  try {
    const Frozen frozen(set.parameters());
    EXPECT_FALSE(a.requires_grad());
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(a.requires_grad());
  EXPECT_FALSE(b.requires_grad());
}

}  // namespace
}  // namespace grm::lisa_tests
