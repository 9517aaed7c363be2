// What makes IS-GIB: its four terms against double loops, and its whole objective against a dense
// computation written here.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <functional>

#include "grm/methods/method.h"
#include "methods/isgib.h"
#include "small_task.h"

namespace grm::isgib_tests {
namespace {

using torch::Tensor;

Tensor normal(int64_t rows, int64_t cols, uint64_t seed) {
  const Tensor t = torch::empty({rows, cols}, torch::kFloat64);
  Rng(seed).stream("rows").fill_normal(t.data_ptr<double>(), t.numel());
  return t;
}

double row_product(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t k = 0; k < a.numel(); ++k) sum += a[k].item<double>() * b[k].item<double>();
  return sum;
}

double logistic(double u) {
  return 1 / (1 + std::exp(-u));
}

class IsGibTerms : public testing::Test {
 protected:
  static constexpr int64_t kRows = 11;
  const Tensor a_ = normal(kRows, 5, 1), z_ = normal(kRows, 4, 2), critic_ = normal(kRows, 4, 3);
  const Tensor y_ = torch::tensor({0, 1, 2, 0, 1, 1, 2, 0, 0, 2, 1}, torch::kInt64);
};

TEST_F(IsGibTerms, EqualDoubleLoopsForEveryBlockSize) {
  double same = 0, diff = 0, individual = 0, second = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    individual -= std::log(1 - logistic(row_product(critic_[i], z_[i])));
    for (int64_t j = 0; j < kRows; ++j) {
      const double u = row_product(z_[i], z_[j]);
      const bool agree = y_[i].item<int64_t>() == y_[j].item<int64_t>();
      (agree ? same : diff) -= std::log(agree ? logistic(u) : 1 - logistic(u));
      second += std::pow(row_product(a_[i], a_[j]) - u, 2);
    }
  }
  second = std::sqrt(second);
  EXPECT_NEAR(isgib::individual(critic_, z_).item<double>(), individual, 1e-9);
  for (const int64_t block : {1, 4, 11, 64}) {
    const Tensor relation = isgib::label_relation(z_, y_, block);
    EXPECT_NEAR(relation[0].item<double>(), same, 1e-9) << block;
    EXPECT_NEAR(relation[1].item<double>(), diff, 1e-9) << block;
    EXPECT_NEAR(isgib::second_order(a_, z_, block).item<double>(), second, 1e-9) << block;
  }
}

TEST_F(IsGibTerms, GradientsEqualFiniteDifferencesForEveryBlockSize) {
  for (const int64_t block : {3, 64}) {
    const Tensor a = a_.clone().set_requires_grad(true), z = z_.clone().set_requires_grad(true),
                 c = critic_.clone().set_requires_grad(true);
    const auto loss = [&] {
      const Tensor relation = isgib::label_relation(z, y_, block);
      return 0.3 * relation[0] + 0.7 * relation[1] + 1.1 * isgib::individual(c, z) +
             0.9 * isgib::second_order(a, z, block);
    };
    loss().backward();
    const at::NoGradGuard no_grad;
    for (const Tensor& x : {a, z, c}) {
      double* value = x.data_ptr<double>();
      for (int64_t k = 0; k < x.numel(); ++k) {
        const double before = value[k], h = 1e-6;
        value[k] = before + h;
        const double up = loss().item<double>();
        value[k] = before - h;
        const double down = loss().item<double>();
        value[k] = before;
        EXPECT_NEAR(x.grad().contiguous().data_ptr<double>()[k], (up - down) / (2 * h), 1e-6);
      }
    }
  }
}

TEST_F(IsGibTerms, EqualSimilaritiesHaveDistanceAndGradientZero) {
  const Tensor a = z_.clone().set_requires_grad(true), z = z_.clone().set_requires_grad(true);
  const Tensor distance = isgib::second_order(a, z, 4);
  distance.backward();
  EXPECT_EQ(distance.item<double>(), 0.0);
  EXPECT_TRUE(torch::equal(a.grad(), torch::zeros_like(a)));
  EXPECT_TRUE(torch::equal(z.grad(), torch::zeros_like(z)));
}

TEST_F(IsGibTerms, StayFiniteForHugeSimilarities) {
  const Tensor z = (z_ * 1e3).set_requires_grad(true);
  const Tensor relation = isgib::label_relation(z, y_, 4);
  (relation[0] + relation[1] + isgib::individual(critic_ * 1e3, z)).backward();
  EXPECT_TRUE(torch::isfinite(relation).all().item<bool>());
  EXPECT_TRUE(torch::isfinite(z.grad()).all().item<bool>());
}

struct Weights {
  double same, diff, individual, second, variance;
};

class IsGibObjective : public testing::Test {
 protected:
  IsGibObjective() {
    task_.training = {test::small_domain(1, 30, "a"), test::small_domain(5, 30, "e")};
  }

  std::unique_ptr<Method> build(const Weights& w) const {
    MethodChoice choice("isgib");
    const auto set = [&](const std::string& key, double value) {
      choice.options().set("method", key, std::to_string(value));
    };
    set("w_same", w.same);
    set("w_diff", w.diff);
    set("w_individual", w.individual);
    set("w_second", w.second);
    set("w_variance", w.variance);
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"dropout", "0"}, {"hidden", "6"}, {"input_width", "5"}, {"pair_block", "16"}}) {
      choice.options().set("method", key, value);
    }
    return choice.build(task_.train_view(), Rng(9));
  }

  // The objective in dense double arithmetic. All 30 nodes of a graph are fewer than the 128 that
  // are drawn, so the batch is every node.
  Tensor dense_total(const std::map<std::string, Tensor>& p, const Weights& w) const {
    std::vector<Tensor> losses, inputs, hidden, labels;
    for (const Domain& domain : task_.training) {
      const int64_t n = domain.graph.nodes();
      Tensor adjacency = torch::eye(n, torch::kFloat64);
      const auto [source, target] = edge_list(*domain.graph.edges);
      adjacency.index_put_({target, source}, torch::ones({1}, torch::kFloat64));
      const Tensor scale = adjacency.sum(1).rsqrt();
      const Tensor kipf = scale.unsqueeze(1) * adjacency * scale.unsqueeze(0);
      const Tensor x0 = domain.graph.x.to_dense().to(torch::kFloat64).mm(p.at("input.weight")) +
                        p.at("input.bias");
      const Tensor z1 = kipf.mm(x0.mm(p.at("conv1.weight"))) + p.at("conv1.bias");
      const Tensor centred = z1 - z1.mean(0);
      const Tensor h = torch::relu(centred * torch::rsqrt(centred.square().mean(0) + 1e-5) *
                                       p.at("norm1.gamma") +
                                   p.at("norm1.beta"));
      const Tensor logits = kipf.mm(h.mm(p.at("conv2.weight"))) + p.at("conv2.bias");
      losses.push_back(
          -torch::log_softmax(logits, 1).gather(1, domain.labels.y.unsqueeze(1)).mean());
      inputs.push_back(x0);
      hidden.push_back(h);
      labels.push_back(domain.labels.y);
    }
    const Tensor l = torch::stack(losses), a = torch::cat(inputs), z = torch::cat(hidden);
    const Tensor y = torch::cat(labels), u = z.mm(z.t());
    const Tensor agree = y.unsqueeze(1).eq(y.unsqueeze(0)).to(torch::kFloat64);
    const Tensor individual =
        -torch::log(1 - torch::sigmoid((a.mm(p.at("critic.weight")) * z).sum(1)));
    return l.mean() - w.same * (agree * torch::log(torch::sigmoid(u))).sum() -
           w.diff * ((1 - agree) * torch::log(1 - torch::sigmoid(u) + 1e-20)).sum() +
           w.individual * individual.sum() + w.second * (a.mm(a.t()) - u).square().sum().sqrt() +
           w.variance * (l - l.mean()).square().sum();  // the divisor is 2 - 1
  }

  void check(const Weights& w) const {
    const std::unique_ptr<Method> method = build(w);
    std::map<std::string, Tensor> p;
    for (const auto& [name, parameter] : method->parameters().parameters()) {
      p[name] = parameter.detach().to(torch::kFloat64).clone().set_requires_grad(true);
    }
    const Tensor expected = dense_total(p, w);
    expected.backward();
    const double total = expected.item<double>();
    EXPECT_NEAR(method->train_epoch(1).front().value, total, 1e-5 * std::max(1.0, total));
    for (const auto& [name, parameter] : method->parameters().parameters()) {
      const Tensor gradient = p.at(name).grad();
      const double scale = std::max(1.0, gradient.abs().max().item<double>());
      EXPECT_LE((parameter.grad() - gradient).abs().max().item<double>(), 2e-5 * scale) << name;
    }
  }

  Task task_ = test::small_task();
};

TEST_F(IsGibObjective, EqualsADenseComputationWithItsGradient) {
  check({0.01, 0.002, 0.5, 0.03, 4.0});
}

TEST_F(IsGibObjective, WithoutItsTermsIsErmOnItsNetwork) {
  check({0, 0, 0, 0, 0});
}

TEST_F(IsGibObjective, DrawsNoMoreNodesThanAsked) {
  // With one node per graph the pairs are two with themselves and two with each other.
  MethodChoice choice("isgib");
  choice.options().set("method", "pair_nodes", "1");
  const std::unique_ptr<Method> method = choice.build(task_.train_view(), Rng(9));
  const std::vector<LossTerm> one = method->train_epoch(1);
  EXPECT_EQ(one[2].name, "same");
  // softplus(-u) < log 2 for u > 0, and hidden rows are not negative.
  EXPECT_LE(one[2].value, 4 * std::log(2.0));
}

}  // namespace
}  // namespace grm::isgib_tests
