// What all graph-level methods share (batches, losses of single graphs, the cut, the loop), and
// ERM.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "methods/graph/batches.h"
#include "nn/losses.h"
#include "small_graph_task.h"
#include "small_task.h"
#include "support/expect_error.h"

namespace grm {
namespace {

using graph_level::epoch_batches;
using torch::Tensor;

std::vector<int64_t> list(const Tensor& t) {
  const Tensor values = t.to(torch::kInt64).contiguous();
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

double accuracy(Method& method, const Domain& domain) {
  const Tensor guess = method.logits(domain.graph, domain.labels.evaluate).argmax(1);
  return guess.eq(domain.labels.y).to(torch::kFloat64).mean().item<double>();
}

int64_t steps_of(Method& method) {
  for (const auto& [name, tensor] : method.optimisers()[0]->state()) {
    if (name == "head.linear1.weight.steps") return tensor.item<int64_t>();
  }
  return -1;
}

TEST(GraphBatches, AnEpochVisitsEveryGraphOnceInItsOwnOrder) {
  const Tensor ids = torch::arange(10, 83, torch::kInt64);
  const Rng rng(3);
  const auto visited = [&](uint64_t epoch) {
    std::vector<int64_t> all;
    std::vector<int64_t> sizes;
    for (const Tensor& batch : epoch_batches(ids, 32, rng.stream("batches", epoch))) {
      sizes.push_back(batch.numel());
      for (const int64_t id : list(batch)) all.push_back(id);
    }
    EXPECT_EQ(sizes, (std::vector<int64_t>{32, 32, 9}));
    return all;
  };
  std::vector<int64_t> first = visited(1), second = visited(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, visited(1));
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, list(ids));
}

TEST(GraphBatches, LossesOfRowsAverageToTheSupervisedLoss) {
  Tensor logits = torch::empty({9, 2}, torch::kFloat64);
  Rng(1).stream("logits").fill_normal(logits.data_ptr<double>(), logits.numel());
  const Tensor y = torch::tensor({0, 1, 1, 0, 1, 0, 0, 1, 1}, torch::kInt64);
  for (const LossKind kind : {LossKind::softmax, LossKind::binary_pair}) {
    const Tensor rows = nn::row_losses(kind, logits, y);
    ASSERT_EQ(rows.sizes(), (at::IntArrayRef{9}));
    EXPECT_NEAR(rows.mean().item<double>(), nn::supervised_loss(kind, logits, y).item<double>(),
                1e-12);
    EXPECT_NEAR(rows[4].item<double>(),
                nn::supervised_loss(kind, logits.narrow(0, 4, 1), y.narrow(0, 4, 1)).item<double>(),
                1e-12);
  }
}

TEST(GraphBatches, TheCutKeepsTheHighestScoresOfEachGraphAndAtLeastOne) {
  const Domain domain = test::small_graphs(5, 20, "set");
  const nn::GraphInput batch = nn::pick_input(domain.graph, domain.labels.loss);
  Tensor scores = torch::empty({batch.edges->nnz()}, torch::kFloat32);
  Rng(2).stream("scores").fill_normal(scores.data_ptr<float>(), scores.numel());
  const std::vector<int64_t> offsets = list(graph_level::edge_offsets(batch));
  ASSERT_EQ(offsets.size(), 21u);
  ASSERT_EQ(offsets.back(), batch.edges->nnz());
  // A graph has 12 to 22 edges: 0.05 of the smaller ones is less than one.
  for (const double share : {0.05, 0.25, 0.6, 1.0}) {
    const Tensor keep = graph_level::top_share(scores, batch, share);
    bool some_tiny = false;
    for (int64_t b = 0; b < 20; ++b) {
      std::vector<float> kept, left;
      for (int64_t e = offsets[b]; e < offsets[b + 1]; ++e) {
        (keep[e].item<bool>() ? kept : left).push_back(scores[e].item<float>());
      }
      const auto edges = static_cast<double>(kept.size() + left.size());
      some_tiny = some_tiny || share * edges < 1;
      const double wanted = std::max(1.0, std::floor(share * edges + 1e-9));
      EXPECT_EQ(static_cast<double>(kept.size()), wanted) << share << " of graph " << b;
      if (!left.empty()) {
        EXPECT_GE(*std::min_element(kept.begin(), kept.end()),
                  *std::max_element(left.begin(), left.end()));
      }
    }
    EXPECT_EQ(some_tiny, share == 0.05);
  }
}

TEST(GraphErm, LearnsTheTrainingGraphsWithEveryLayerAndPooling) {
  const Task task = test::small_graph_task();
  for (const char* layer : {"gin", "gcn", "le", "graph", "arma"}) {
    for (const char* pooling : {"mean", "max"}) {
      const auto method = test::build_graph_method(
          "erm", task, {{"layer", layer}, {"pooling", pooling}, {"layers", "2"}, {"lr", "0.01"}});
      for (int64_t e = 1; e <= 30; ++e) method->train_epoch(e);
      EXPECT_GE(accuracy(*method, task.training[0]), 0.9) << layer << " " << pooling;
    }
  }
}

TEST(GraphReadouts, EveryMethodTrainsWithEachOfThem) {
  const Task task = test::small_graph_task();
  for (const char* name : {"erm", "dir", "gil", "ciga", "gala", "dann", "mixup", "gsat", "leci"}) {
    for (const nn::Pooling pooling : all_values<nn::Pooling>()) {
      for (const nn::Pooled pool : all_values<nn::Pooled>()) {
        test::Values values = {{"pooling", to_string(pooling)}, {"pool", to_string(pool)}};
        if (std::string(name) == "gala") values.emplace_back("assistant_epochs", "1");
        const auto method = test::build_graph_method(name, task, values);
        const auto before = method->parameters().snapshot();
        for (int64_t e = 1; e <= 2; ++e) {
          for (const LossTerm& term : method->train_epoch(e)) {
            EXPECT_TRUE(std::isfinite(term.value))
                << name << " " << to_string(pooling) << " " << to_string(pool) << " " << term.name;
          }
        }
        const Domain& domain = task.test[0];
        const Tensor logits = method->logits(domain.graph, domain.labels.evaluate);
        EXPECT_TRUE(torch::isfinite(logits).all().item<bool>()) << name;
        const bool gated = before.count("readout.gate.weight") > 0;
        EXPECT_EQ(gated, pooling == nn::Pooling::weighted) << name;
        if (!gated) continue;
        const Tensor gate = method->parameters().snapshot().at("readout.gate.weight");
        EXPECT_FALSE(torch::equal(gate, before.at("readout.gate.weight"))) << name;
      }
    }
  }
}

TEST(GraphErm, AMeanCommutesWithALinearHeadAndAMaxDoesNot) {
  const Task task = test::small_graph_task();
  const test::Values values = {{"pooling", "max"}, {"pool", "logits"}, {"head_layers", "1"}};
  const auto of_logits = test::build_graph_method("erm", task, values);
  const auto of_rows = test::build_graph_method(
      "erm", task, {{"pooling", "max"}, {"pool", "rows"}, {"head_layers", "1"}});
  const Domain& domain = task.test[0];
  const Tensor a = of_logits->logits(domain.graph, domain.labels.evaluate);
  const Tensor b = of_rows->logits(domain.graph, domain.labels.evaluate);
  EXPECT_FALSE(torch::allclose(a, b));  // a max does not commute with a linear map
  const auto mean_logits = test::build_graph_method(
      "erm", task, {{"pooling", "mean"}, {"pool", "logits"}, {"head_layers", "1"}});
  const auto mean_rows = test::build_graph_method(
      "erm", task, {{"pooling", "mean"}, {"pool", "rows"}, {"head_layers", "1"}});
  const Tensor c = mean_logits->logits(domain.graph, domain.labels.evaluate);
  const Tensor d = mean_rows->logits(domain.graph, domain.labels.evaluate);
  EXPECT_TRUE(torch::allclose(c, d, 1e-4, 1e-5));  // a mean does
}

TEST(GraphErm, AccumulatingTakesOneStepPerEpochOnTheMeanOfTheBatches) {
  const Task task = test::small_graph_task();
  // Without batch norm the losses of two batches of 20 average to that of one batch of 40.
  const test::Values plain{{"layer", "le"}, {"batch_norm", "false"}};
  const auto with = [&](test::Values more) {
    more.insert(more.begin(), plain.begin(), plain.end());
    return test::build_graph_method("erm", task, more);
  };
  const auto whole = with({{"batch", "40"}}),
             parts = with({{"batch", "20"}, {"accumulate", "true"}}),
             stepwise = with({{"batch", "20"}});
  for (int64_t e = 1; e <= 3; ++e) {
    whole->train_epoch(e);
    parts->train_epoch(e);
    stepwise->train_epoch(e);
  }
  EXPECT_EQ(steps_of(*whole), 3);
  EXPECT_EQ(steps_of(*parts), 3);
  EXPECT_EQ(steps_of(*stepwise), 6);
  const auto expected = whole->parameters().snapshot(), got = parts->parameters().snapshot();
  for (const auto& [name, tensor] : expected) {
    // Adam divides by the gradient's size, so that rounding may show where a gradient is tiny.
    EXPECT_TRUE(torch::allclose(got.at(name), tensor, 1e-3, 2e-4)) << name;
  }
}

TEST(GraphErm, ManyGraphsAreEvaluatedInPartsWithTheSameResult) {
  const Task task = test::small_graph_task();
  const auto method = test::build_graph_method("erm", task);
  method->train_epoch(1);
  const Domain many = test::small_graphs(9, 600, "many");
  const Tensor all = method->logits(many.graph, many.labels.evaluate);
  ASSERT_EQ(all.sizes(), (at::IntArrayRef{600, 2}));
  for (const int64_t id : {0, 255, 256, 599}) {
    const Tensor one = method->logits(many.graph, torch::tensor({id}, torch::kInt64));
    EXPECT_TRUE(torch::allclose(one[0], all[id], 1e-4, 1e-5)) << id;
  }
  EXPECT_EQ(method->logits(many.graph, torch::empty({0}, torch::kInt64)).sizes(),
            (at::IntArrayRef{0, 2}));
}

TEST(GraphErm, OneSetOfGraphsIsExpected) {
  Task task = test::small_graph_task();
  task.training.push_back(task.validation[0]);
  EXPECT_THAT(test::error_of(ErrorKind::data, [&] { test::build_graph_method("erm", task); }),
              testing::HasSubstr("2 training domains"));
  task.training = {test::small_domain(1)};
  EXPECT_THAT(test::error_of(ErrorKind::data, [&] { test::build_graph_method("erm", task); }),
              testing::HasSubstr("a single graph"));
}

}  // namespace
}  // namespace grm
