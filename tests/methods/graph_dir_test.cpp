// What makes DIR: the interventions against double loops, the schedule, and which loss moves what.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "methods/graph/dir.h"
#include "small_graph_task.h"

namespace grm::graph_dir_tests {
namespace {

using torch::Tensor;
namespace dir = graph_level::dir;

Tensor normal(at::IntArrayRef shape, uint64_t seed) {
  Tensor t = torch::empty(shape, torch::kFloat64);
  Rng(seed).stream("rows").fill_normal(t.data_ptr<double>(), t.numel());
  return t;
}

double logistic(double u) {
  return 1 / (1 + std::exp(-u));
}

// l(z, y) of one row, by its definition.
double naive_loss(LossKind kind, const std::vector<double>& z, int64_t y) {
  double sum = 0;
  if (kind == LossKind::softmax) {
    for (const double v : z) sum += std::exp(v);
    return std::log(sum) - z[y];
  }
  for (int64_t c = 0; c < 2; ++c) sum -= std::log(c == y ? logistic(z[c]) : 1 - logistic(z[c]));
  return sum / 2;
}

double naive_variance(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size() - 1);
}

TEST(DirSchedule, GrowsWithThePower1Point6FromZero) {
  EXPECT_EQ(dir::schedule(0.01, 0), 0.0);
  EXPECT_DOUBLE_EQ(dir::schedule(0.01, 1), 0.01);
  EXPECT_NEAR(dir::schedule(1.0, 32), 256.0, 1e-10);  // 2^(5 * 1.6) = 2^8
  EXPECT_NEAR(dir::schedule(1.0, 10), 39.810717055349725, 1e-10);
}

TEST(DirInterventions, EqualADoubleLoop) {
  const std::pair<LossKind, int64_t> cases[] = {{LossKind::softmax, 3}, {LossKind::binary_pair, 2}};
  for (const auto& [kind, classes] : cases) {
    const Tensor causal = normal({5, classes}, 1), confounder = normal({5, classes}, 2);
    const Tensor y = torch::tensor({0, 1, 1, 0, 1}, torch::kInt64);
    const Tensor q = dir::intervened_losses(kind, causal, confounder, y);
    ASSERT_EQ(q.sizes(), (at::IntArrayRef{5, 5}));
    std::vector<double> summed;
    double plain = 0;
    std::vector<std::vector<double>> rows(5);
    for (int64_t j = 0; j < 5; ++j) {
      summed.push_back(0);
      for (int64_t i = 0; i < 5; ++i) {
        std::vector<double> z;
        for (int64_t c = 0; c < classes; ++c) {
          z.push_back(causal[i][c].item<double>() * logistic(confounder[j][c].item<double>()));
        }
        const double loss = naive_loss(kind, z, y[i].item<int64_t>());
        EXPECT_NEAR(q[i][j].item<double>(), loss, 1e-12) << i << " " << j;
        summed.back() += loss;  // B times the mean over i
        rows[i].push_back(loss);
      }
    }
    for (const auto& row : rows) plain += naive_variance(row) / 5;
    EXPECT_NEAR(dir::spread(dir::Spread::scaled, q).item<double>(), naive_variance(summed), 1e-11);
    EXPECT_NEAR(dir::spread(dir::Spread::mean, q).item<double>(), naive_variance(summed) / 25,
                1e-12);
    EXPECT_NEAR(dir::spread(dir::Spread::plain, q).item<double>(), plain, 1e-12);
  }
}

TEST(DirInterventions, NoGradientReachesTheConfounderAndOneGraphHasNoSpread) {
  const Tensor causal = normal({3, 2}, 1).set_requires_grad(true);
  const Tensor confounder = normal({3, 2}, 2).set_requires_grad(true);
  const Tensor y = torch::tensor({0, 1, 1}, torch::kInt64);
  const Tensor q = dir::intervened_losses(LossKind::softmax, causal, confounder, y);
  (q.mean() + dir::spread(dir::Spread::scaled, q)).backward();
  EXPECT_TRUE(causal.grad().defined());
  EXPECT_FALSE(confounder.grad().defined());
  const Tensor one = dir::intervened_losses(LossKind::softmax, causal.narrow(0, 0, 1),
                                            confounder.narrow(0, 0, 1), y.narrow(0, 0, 1));
  for (const dir::Spread form : {dir::Spread::scaled, dir::Spread::plain, dir::Spread::mean}) {
    EXPECT_EQ(dir::spread(form, one).item<double>(), 0.0);
  }
}

class DirTraining : public testing::Test {
 protected:
  using State = std::map<std::string, Tensor>;
  // One step per epoch, over all 40 graphs.
  State trained(test::Values values, int64_t epochs) {
    values.insert(values.begin(), {{"batch", "40"}, {"hidden", "8"}, {"extractor_hidden", "6"}});
    const auto method = test::build_graph_method("dir", task_, values);
    for (int64_t e = 1; e <= epochs; ++e) terms_ = method->train_epoch(e);
    return method->parameters().snapshot();
  }
  static bool of_confounder(const std::string& name) { return name.rfind("confounder", 0) == 0; }
  double term(const std::string& name) const {
    for (const LossTerm& t : terms_) {
      if (t.name == name) return t.value;
    }
    ADD_FAILURE() << name;
    return 0;
  }
  Task task_ = test::small_graph_task();
  std::vector<LossTerm> terms_;
};

// In the first epoch a' = 0, so the extra map changes the confounder's own loss and nothing else.
TEST_F(DirTraining, TheConfoundersLossMovesItsHeadAlone) {
  const State start = trained({{"lr", "0"}}, 1);
  const State plain = trained({}, 1), extra = trained({{"extra_map", "true"}}, 1);
  bool head_moved = false;
  for (const auto& [name, tensor] : plain) {
    if (of_confounder(name)) {
      head_moved = head_moved || !torch::equal(tensor, start.at(name));
      EXPECT_FALSE(torch::equal(tensor, extra.at(name)) && name.find("weight") != name.npos)
          << name;
    } else {
      EXPECT_TRUE(torch::equal(tensor, extra.at(name))) << name;
    }
  }
  EXPECT_TRUE(head_moved);
  EXPECT_EQ(extra.size(), plain.size() + 2);
}

// In the second epoch both models start equal; the weight of the interventions differs.
TEST_F(DirTraining, TheInterventionsMoveEverythingButTheConfoundersHead) {
  const State without = trained({{"alpha", "0"}}, 2), with = trained({{"alpha", "100"}}, 2);
  bool others_differ = false;
  for (const auto& [name, tensor] : without) {
    const bool same = torch::equal(tensor, with.at(name));
    if (of_confounder(name)) {
      EXPECT_TRUE(same) << name;
    } else {
      others_differ = others_differ || !same;
    }
  }
  EXPECT_TRUE(others_differ);
}

TEST_F(DirTraining, TheTotalIsTheWeightedSumOfItsTerms) {
  trained({{"alpha", "0.5"}}, 4);
  const double a = 0.5 * std::pow(3.0, 1.6);
  EXPECT_NEAR(terms_.front().value,
              term("risk") + a * (term("interventions") + term("spread")) + term("confounder"),
              1e-4);
  trained({{"alpha", "0.5"}, {"variance", "mean"}}, 4);  // a batch of 40
  EXPECT_NEAR(terms_.front().value,
              term("risk") + a * (term("interventions") / 40 + term("spread")) + term("confounder"),
              1e-4);
  trained({{"alpha", "0.5"}, {"cap_mean", "true"}, {"variance", "plain"}}, 4);
  EXPECT_NEAR(terms_.front().value,
              term("risk") + term("interventions") + a * term("spread") + term("confounder"), 1e-4);
}

TEST_F(DirTraining, WithoutConfounderEdgesInterventionsDoNotDiffer) {
  trained({{"r", "1"}}, 2);
  EXPECT_NEAR(term("spread"), 0.0, 1e-9);
  EXPECT_GT(term("interventions"), 0.0);
}

TEST_F(DirTraining, LearnsTheTrainingGraphs) {
  const auto method =
      test::build_graph_method("dir", task_, {{"lr", "0.01"}, {"alpha", "0.0001"}, {"r", "0.5"}});
  for (int64_t e = 1; e <= 40; ++e) method->train_epoch(e);
  const Domain& domain = task_.training[0];
  const Tensor guess = method->logits(domain.graph, domain.labels.evaluate).argmax(1);
  EXPECT_GE(guess.eq(domain.labels.y).to(torch::kFloat64).mean().item<double>(), 0.9);
}

// The widths of the authors' networks; the small task has 3 features and 2 classes.
TEST(DirPresets, BuildTheAuthorsNetworksForEveryDataset) {
  struct Expected {
    const char* dataset;
    std::vector<int64_t> scorer, embedding, head;
  };
  const Expected all[] = {{"spmotif", {64, 128}, {32, 64}, {64, 128}},
                          {"mnist75sp", {64, 128}, {32, 32}, {32, 64}},
                          {"graph-sst2", {256, 512}, {}, {128, 256}},
                          {"sst2-tree", {256, 512}, {}, {128, 256}},
                          {"molhiv", {600, 1}, {}, {300, 2}}};
  const Task task = test::small_graph_task(LossKind::softmax, 2);
  for (const Expected& expected : all) {
    const MethodChoice choice("dir", "", expected.dataset);
    const std::unique_ptr<Method> method = choice.build(task.train_view(), Rng(1));
    const auto state = method->parameters().snapshot();
    EXPECT_EQ(state.at("scorer.linear1.weight").sizes(), expected.scorer) << expected.dataset;
    EXPECT_EQ(state.at("causal_head.linear1.weight").sizes(), expected.head) << expected.dataset;
    EXPECT_EQ(state.at("confounder_head.linear1.weight").sizes(), expected.head);
    EXPECT_EQ(state.count("predictor.embed.weight"), expected.embedding.empty() ? 0u : 1u);
    if (!expected.embedding.empty()) {
      EXPECT_EQ(state.at("predictor.embed.weight").sizes(), expected.embedding);
    }
    for (const LossTerm& term : method->train_epoch(2)) {
      EXPECT_TRUE(std::isfinite(term.value)) << expected.dataset << " " << term.name;
    }
  }
}

TEST(DirPresets, ErmAndGilRunOnTheSameBackbones) {
  const Task task = test::small_graph_task(LossKind::softmax, 2);
  for (const char* dataset : {"spmotif", "mnist75sp", "graph-sst2", "sst2-tree", "molhiv"}) {
    const MethodChoice dir_choice("dir", "", dataset);
    const auto dir_model = dir_choice.build(task.train_view(), Rng(1));
    const auto state = dir_model->parameters().snapshot();
    for (const char* name : {"erm", "gil"}) {
      const MethodChoice choice(name, "", dataset);
      const auto method = choice.build(task.train_view(), Rng(1));
      EXPECT_TRUE(std::isfinite(method->train_epoch(1).front().value)) << name << " " << dataset;
      const auto own = method->parameters().snapshot();
      for (const auto& [key, tensor] : own) {  // the last layer does not depend on the input
        const std::string prefix = "encoder.conv2";
        if (key.rfind(prefix, 0) != 0) continue;
        const auto found = state.find("predictor" + key.substr(std::string("encoder").size()));
        ASSERT_NE(found, state.end()) << key;
        EXPECT_EQ(tensor.sizes(), found->second.sizes()) << name << " " << dataset << " " << key;
      }
    }
  }
}

}  // namespace
}  // namespace grm::graph_dir_tests
