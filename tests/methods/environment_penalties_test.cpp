// The objectives over environments against plain loops, finite differences and closed forms.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <functional>

#include "environment_checks.h"
#include "methods/environment_penalties.h"
#include "nn/losses.h"

namespace grm::environment_tests {
namespace {

using torch::Tensor;

// Eight items of three classes in four environments, of which number 2 is absent, one has a single
// item and one item has none.
class EnvironmentPenalties : public testing::Test {
 protected:
  EnvironmentPenalties() {
    items_.logits = normal(8, 3, 1);
    items_.hidden = normal(8, 5, 2);
    items_.y = torch::tensor({0, 1, 2, 0, 1, 1, 2, 0}, torch::kInt64);
    items_.environment = torch::tensor({0, 1, 0, 3, 1, 0, -1, 1}, torch::kInt64);
    items_.environments = 4;
  }
  EnvironmentRisks risks() const { return environment_risks(loss_, items_); }
  std::vector<int64_t> members(int64_t e) const {
    std::vector<int64_t> of;
    for (int64_t i = 0; i < 8; ++i) {
      if (items_.environment[i].item<int64_t>() == e) of.push_back(i);
    }
    return of;
  }
  // Softmax cross-entropy of the logits times w, by its definition.
  double naive_risk(int64_t e, double w) const {
    double sum = 0;
    for (const int64_t i : members(e)) {
      double total = 0;
      for (int64_t c = 0; c < 3; ++c) total += std::exp(w * items_.logits[i][c].item<double>());
      const int64_t y = items_.y[i].item<int64_t>();
      sum += std::log(total) - w * items_.logits[i][y].item<double>();
    }
    return sum / static_cast<double>(members(e).size());
  }
  const std::vector<int64_t> present_ = {0, 1, 3};
  TrainLoss loss_ = LossKind::softmax;
  EnvironmentItems items_;
};

TEST_F(EnvironmentPenalties, RisksAreTheMeanLossesOfTheMembers) {
  const EnvironmentRisks r = risks();
  for (const int64_t e : present_) {
    EXPECT_NEAR(r.each[e].item<double>(), naive_risk(e, 1), 1e-12) << e;
    EXPECT_EQ(r.present[e].item<double>(), 1.0);
  }
  EXPECT_EQ(r.each[2].item<double>(), 0.0);
  EXPECT_EQ(r.present[2].item<double>(), 0.0);
  EXPECT_NEAR(r.mean(r.each).item<double>(),
              (naive_risk(0, 1) + naive_risk(1, 1) + naive_risk(3, 1)) / 3, 1e-12);
}

// Of targets that may be unknown the mean goes over the known labels of an environment.
TEST_F(EnvironmentPenalties, UnknownLabelsDoNotCount) {
  loss_ = LossKind::multi_label;
  const double nan = std::nan("");
  items_.y = torch::tensor({{1.0, nan, 0.0},
                            {nan, nan, 1.0},
                            {0.0, 1.0, 1.0},
                            {nan, nan, nan},
                            {1.0, 1.0, nan},
                            {nan, 0.0, nan},
                            {1.0, 1.0, 1.0},
                            {0.0, nan, 0.0}});
  const EnvironmentRisks r = risks();
  for (const int64_t e : {0, 1}) {
    double sum = 0, known = 0;
    for (const int64_t i : members(e)) {
      for (int64_t c = 0; c < 3; ++c) {
        const double t = items_.y[i][c].item<double>();
        if (std::isnan(t)) continue;
        sum += std::log1p(std::exp((1 - 2 * t) * items_.logits[i][c].item<double>()));
        known += 1;
      }
    }
    EXPECT_NEAR(r.each[e].item<double>(), sum / known, 1e-12) << e;
  }
  EXPECT_EQ(r.present[3].item<double>(), 0.0);  // its one item has no known label
}

TEST_F(EnvironmentPenalties, IrmIsTheMeanSquareOfTheSlopesOfTheRisks) {
  double expected = 0;
  for (const int64_t e : present_) {
    const double slope = (naive_risk(e, 1 + 1e-5) - naive_risk(e, 1 - 1e-5)) / 2e-5;
    expected += slope * slope / 3;
  }
  EXPECT_NEAR(irm_penalty(loss_, items_, risks()).item<double>(), expected, 1e-9);
  check_gradients({items_.logits}, [&] { return irm_penalty(loss_, items_, risks()); });
}

TEST_F(EnvironmentPenalties, IrmOfTheTwoOutputLossHasItsSlopesToo) {
  loss_ = LossKind::binary_pair;
  items_.logits = normal(8, 2, 5);
  items_.y = torch::tensor({0, 1, 1, 0, 1, 1, 0, 0}, torch::kInt64);
  const EnvironmentItems given = items_;
  const auto each = [&](double w) {
    items_.logits = given.logits * w;
    return risks().each;
  };
  const Tensor slopes = (each(1 + 1e-5) - each(1 - 1e-5)) / 2e-5;
  items_ = given;
  EXPECT_NEAR(irm_penalty(loss_, items_, risks()).item<double>(),
              slopes.square().sum().item<double>() / 3, 1e-9);
}

TEST_F(EnvironmentPenalties, VarianceIsUnbiasedOverThoseThatArePresent) {
  double mean = 0, expected = 0;
  for (const int64_t e : present_) mean += naive_risk(e, 1) / 3;
  for (const int64_t e : present_) expected += std::pow(naive_risk(e, 1) - mean, 2) / 2;
  EXPECT_NEAR(risk_variance(risks()).item<double>(), expected, 1e-12);
  check_gradients({items_.logits}, [&] { return risk_variance(risks()); });
  items_.environment = torch::full({8}, 3, torch::kInt64);
  EXPECT_EQ(risk_variance(risks()).item<double>(), 0.0);
}

TEST_F(EnvironmentPenalties, GroupWeightsFollowTheRisksAndHaveNoGradient) {
  const double eta = 0.7;
  double sum = 0;
  for (const int64_t e : present_) sum += std::exp(eta * naive_risk(e, 1));
  const Tensor q = batch_group_weights(risks(), eta);
  for (const int64_t e : present_) {
    EXPECT_NEAR(q[e].item<double>(), std::exp(eta * naive_risk(e, 1)) / sum, 1e-12) << e;
  }
  EXPECT_EQ(q[2].item<double>(), 0.0);
  items_.logits.set_requires_grad(true);
  EXPECT_FALSE(batch_group_weights(risks(), eta).requires_grad());
  // A large factor leaves the worst alone, and does not overflow.
  const Tensor worst = batch_group_weights(risks(), 1e6);
  EXPECT_EQ(worst.argmax().item<int64_t>(), risks().each.argmax().item<int64_t>());
  EXPECT_NEAR(worst.max().item<double>(), 1.0, 1e-12);
}

// Covariances entry by entry; environment 3 has one item and is left out.
double naive_coral(Covariance form, const EnvironmentItems& items,
                   const std::vector<std::vector<int64_t>>& groups) {
  const int64_t width = items.hidden.size(1);
  std::vector<Tensor> all;
  for (const auto& group : groups) {
    const auto n = static_cast<double>(group.size());
    const Tensor s = torch::zeros({width, width}, torch::kFloat64);
    for (int64_t a = 0; a < width; ++a) {
      for (int64_t b = 0; b < width; ++b) {
        double mean_a = 0, mean_b = 0, sum = 0;
        for (const int64_t i : group) {
          const double x = items.hidden[i][a].item<double>(), y = items.hidden[i][b].item<double>();
          mean_a += x / n;
          mean_b += y / n;
          sum += x * y;
        }
        const double off = mean_a * mean_b * (form == Covariance::centred ? n : 1);
        s[a][b] = (sum - off) / (n - 1);
      }
    }
    all.push_back(s);
  }
  double sum = 0, pairs = 0;
  for (size_t e = 0; e < all.size(); ++e) {
    for (size_t f = 0; f < all.size(); ++f) {
      if (e == f) continue;
      sum += (all[e] - all[f]).square().mean().item<double>() / 4;
      pairs += 1;
    }
  }
  return sum / pairs;
}

TEST_F(EnvironmentPenalties, CoralEqualsLoopsOverEntriesAndPairs) {
  items_.environment = torch::tensor({0, 1, 0, 3, 1, 0, 2, 2}, torch::kInt64);
  const std::vector<std::vector<int64_t>> groups = {{0, 2, 5}, {1, 4}, {6, 7}};
  for (const Covariance form : {Covariance::centred, Covariance::as_coded}) {
    EXPECT_NEAR(coral_distance(form, items_, risks()).item<double>(),
                naive_coral(form, items_, groups), 1e-12);
    check_gradients({items_.hidden}, [&] { return coral_distance(form, items_, risks()); });
  }
  items_.environment = torch::tensor({0, 1, 0, 3, 2, 0, -1, -1}, torch::kInt64);
  EXPECT_EQ(coral_distance(Covariance::centred, items_, risks()).item<double>(), 0.0);
}

TEST_F(EnvironmentPenalties, CoralOfRowsThatLieTogetherIsTheSame) {
  items_.environment = torch::tensor({0, 0, 0, 1, 1, 3, 3, 3}, torch::kInt64);
  const double anywhere = coral_distance(Covariance::centred, items_, risks()).item<double>();
  items_.blocks = {0, 3, 5, 5, 8};
  EXPECT_NEAR(coral_distance(Covariance::centred, items_, risks()).item<double>(), anywhere, 1e-12);
}

TEST_F(EnvironmentPenalties, ReversedGradientsKeepTheRows) {
  const Tensor x = normal(3, 2, 4).set_requires_grad(true), weights = normal(3, 2, 6);
  const Tensor factor = torch::full({}, 0.3, torch::kFloat64);
  const Tensor y = reversed_gradient(x, factor);
  EXPECT_TRUE(torch::equal(x, y));
  (y * weights).sum().backward();
  EXPECT_TRUE(torch::allclose(x.grad(), -0.3 * weights, 1e-12, 1e-14));
}

TEST_F(EnvironmentPenalties, TheAdversaryCountsMoreAndMore) {
  EXPECT_EQ(adversary_ramp(0), 0.0);
  EXPECT_NEAR(adversary_ramp(0.1), std::tanh(0.5), 1e-12);  // 2 / (1 + exp(-2 u)) - 1 = tanh u
  EXPECT_NEAR(adversary_ramp(1), std::tanh(5.0), 1e-12);
}

TEST_F(EnvironmentPenalties, ItemsWithoutAnEnvironmentTellTheAdversaryNothing) {
  const Tensor logits = normal(8, 4, 7);
  double sum = 0;
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t e = items_.environment[i].item<int64_t>();
    if (e < 0) continue;
    double total = 0;
    for (int64_t c = 0; c < 4; ++c) total += std::exp(logits[i][c].item<double>());
    sum += std::log(total) - logits[i][e].item<double>();
  }
  EXPECT_NEAR(environment_cross_entropy(logits, items_.environment).item<double>(), sum / 7, 1e-12);
  EXPECT_EQ(environment_cross_entropy(logits, torch::full({8}, -1, torch::kInt64)).item<double>(),
            0.0);
}

}  // namespace
}  // namespace grm::environment_tests
