// Steps on samples of graphs: with all neighbours and all targets they are steps on the whole graph,
// layer by layer a prediction is that of one pass.
#include "methods/mini_batches.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>

#include "grm/methods/method.h"
#include "methods/layer_wise.h"
#include "small_task.h"
#include "support/expect_error.h"

namespace grm::mini_batches_tests {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

struct Case {
  std::string name;
  Values values;
};

void PrintTo(const Case& each, std::ostream* out) {
  *out << each.name;
  for (const auto& [key, value] : each.values) *out << " " << key << "=" << value;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* backbone : {"gcn", "sage", "gat", "gatv2", "gin", "mlp"}) {
    all.push_back({"erm", {{"backbone", backbone}, {"layers", "3"}, {"hidden", "8"}}});
  }
  all.push_back({"erm", {{"conv", "sum"}, {"update", "per_domain_accumulate"}, {"hidden", "8"}}});
  all.push_back({"drnn", {{"eta", "0.5"}, {"hidden", "8"}}});
  all.push_back({"mmd", {{"support", "9"}, {"hidden", "8"}}});
  all.push_back({"arm", {{"support", "9"}, {"hidden", "8"}, {"steps_cap", "1"}}});
  all.push_back({"isgib", {{"w_second", "0.1"}, {"pair_nodes", "10"}, {"hidden", "8"}}});
  return all;
}

// Two domains with weights and features of edges. Where `part`, every other node has a label that
// counts.
Task two_domains(bool part) {
  Task task = test::small_task();
  task.training = {test::small_domain(1, 40, "a"), test::small_domain(5, 30, "e")};
  for (std::vector<Domain>* domains : {&task.training, &task.test}) {
    for (Domain& domain : *domains) {
      Graph& graph = domain.graph;
      graph.edge_weights = torch::rand({graph.edges->nnz()}) + 0.5;
      graph.edge_x.dense = torch::rand({graph.edges->nnz(), 2});
      if (part) domain.labels.loss = torch::arange(1, graph.nodes(), 2, torch::kInt64);
    }
  }
  return task;
}

std::unique_ptr<Method> build(const Case& c, const Task& task, const Sampling& sampling,
                              bool batch_norm) {
  MethodChoice choice(c.name);
  for (const auto& [key, value] : c.values) choice.options().set("method", key, value);
  for (const auto& [key, value] :
       Values{{"dropout", "0"}, {"batch_norm", batch_norm ? "true" : "false"}}) {
    choice.options().set("method", key, value);
  }
  TrainView view = task.train_view();
  view.sampling = sampling;
  return choice.build(view, Rng(3));
}

class OnSamples : public testing::TestWithParam<Case> {};

// With normalisation all nodes are targets: its statistics are over the rows that a step computes.
TEST_P(OnSamples, OfAllNeighboursAndTargetsTheGradientIsThatOfTheWholeGraph) {
  for (const bool part : {true, false}) {
    if (!part && GetParam().name == "arm") continue;  // its batches are some of the nodes
    const Task task = two_domains(part);
    const auto whole = build(GetParam(), task, {}, !part);
    const auto sampled = build(GetParam(), task, {1000, {}}, !part);
    const std::vector<LossTerm> expected = whole->train_epoch(1), terms = sampled->train_epoch(1);
    ASSERT_EQ(terms.size(), expected.size());
    for (size_t k = 0; k < terms.size(); ++k) {
      EXPECT_NEAR(terms[k].value, expected[k].value, 1e-4 * std::abs(expected[k].value) + 1e-5)
          << terms[k].name;
    }
    const auto& parameters = whole->parameters().parameters();
    double largest = 0;
    for (size_t k = 0; k < parameters.size(); ++k) {
      const torch::Tensor a = parameters[k].second.grad();
      const torch::Tensor b = sampled->parameters().parameters()[k].second.grad();
      ASSERT_EQ(a.defined(), b.defined()) << parameters[k].first;
      if (!a.defined()) continue;
      largest = std::max(largest, a.abs().max().item<double>());
      EXPECT_LT((a - b).abs().max().item<double>(), 1e-5 * (1 + a.abs().max().item<double>()))
          << parameters[k].first;
    }
    EXPECT_GT(largest, 1e-3);
  }
}

TEST_P(OnSamples, PredictionsLayerByLayerAreThoseOfOnePass) {
  const Task task = two_domains(false);
  const auto whole = build(GetParam(), task, {}, true);
  const auto sampled = build(GetParam(), task, {20, {}}, true);
  for (int64_t e = 1; e <= 2; ++e) whole->train_epoch(e);
  sampled->parameters().restore(whole->parameters().snapshot());
  for (const Domain& domain : task.test) {
    const torch::Tensor some = torch::tensor({7, 2, 2, 19, 0}, torch::kInt64);
    for (const torch::Tensor& nodes : {some, domain.labels.evaluate}) {
      const torch::Tensor expected = whole->logits(domain.graph, nodes);
      EXPECT_TRUE(torch::allclose(sampled->logits(domain.graph, nodes), expected, 1e-5, 1e-5));
    }
  }
}

TEST_P(OnSamples, EpochsAreStepsThatFollowFromTheStateBeforeThem) {
  Case small = GetParam();
  if (small.name == "arm") small.values.emplace_back("support", "3");
  const Task task = two_domains(true);
  const bool layers = small.name == "erm" && small.values[0].first == "backbone";
  const bool edges = !layers || small.values[0].second != "mlp";
  const Sampling sampling = {
      7, edges ? std::vector<int64_t>(layers ? 3 : 2, 2) : std::vector<int64_t>{}};
  const auto run = build(small, task, sampling, true);
  for (int64_t e = 1; e <= 2; ++e) run->train_epoch(e);
  const auto resumed = build(small, task, sampling, true);
  resumed->parameters().restore(run->parameters().snapshot());
  std::map<std::string, torch::Tensor> state;
  for (const auto& [name, tensor] : run->training_state()) state[name] = tensor.clone();
  resumed->restore_training_state(state);
  for (size_t k = 0; k < run->optimisers().size(); ++k) {
    resumed->optimisers()[k]->restore(run->optimisers()[k]->state());
  }
  run->train_epoch(3);
  resumed->train_epoch(3);
  const auto expected = run->parameters().snapshot();
  for (const auto& [name, tensor] : resumed->parameters().snapshot()) {
    EXPECT_TRUE(torch::equal(tensor, expected.at(name))) << name;
  }
}

TEST_P(OnSamples, LossFalls) {
  Case small = GetParam();
  small.values.emplace_back("lr", "0.01");
  if (small.name == "arm") small.values.emplace_back("support", "5");
  const bool edges = small.values[0].second != "mlp";
  const size_t layers = small.name == "erm" && small.values[0].first == "backbone" ? 3 : 2;
  const auto method =
      build(small, two_domains(true), {12, std::vector<int64_t>(edges ? layers : 0, 3)}, true);
  const double first = method->train_epoch(1).front().value;
  double last = 0;
  for (int64_t e = 2; e <= 30; ++e) last = method->train_epoch(e).front().value;
  EXPECT_LT(last, first);
}

INSTANTIATE_TEST_SUITE_P(Methods, OnSamples, testing::ValuesIn(cases()), [](const auto& each) {
  return each.param.name + std::to_string(each.index);
});

TEST(MiniBatches, VisitEveryTargetOfTheLargestDomainOnceInAnEpoch) {
  const Task task = two_domains(true);
  const MiniBatches batches({6, {1}}, Rng(1), 1);
  ASSERT_EQ(batches.steps(task.training), 4);  // 20 targets
  std::vector<std::vector<double>> orders;
  for (int64_t epoch = 1; epoch <= 2; ++epoch) {
    std::multiset<double> seen;
    std::vector<double> order;
    for (int64_t at = 0; at < 4; ++at) {
      const Domain drawn = batches.draw(task.training, {epoch, at})[0];
      for (int64_t k = 0; k < drawn.labels.loss.numel(); ++k) {
        order.push_back(drawn.graph.x.dense[k][0].item<double>());
      }
    }
    const torch::Tensor all =
        task.training[0].graph.x.dense.index_select(0, task.training[0].labels.loss);
    for (int64_t k = 0; k < all.size(0); ++k) seen.insert(all[k][0].item<double>());
    EXPECT_EQ(std::multiset<double>(order.begin(), order.end()), seen);
    orders.push_back(order);
  }
  EXPECT_NE(orders[0], orders[1]);
}

TEST(MiniBatches, OrderIsAPermutation) {
  for (const int64_t n : {1, 2, 3, 17, 1000, 4097}) {
    std::set<int64_t> seen;
    int64_t moved = 0;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = permuted(5, k, n);
      ASSERT_TRUE(at >= 0 && at < n);
      moved += at != k ? 1 : 0;
      seen.insert(at);
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), n);
    if (n > 100) {
      EXPECT_GT(moved, n * 9 / 10);
    }
  }
}

TEST(LayerWise, InChunksOfSomeRowsIsTheSameSumOverNeighbours) {
  const Graph graph = test::small_domain(3, 50).graph;
  const torch::Tensor nodes = torch::tensor({49, 3, 3, 20, 11, 0}, torch::kInt64);
  torch::Tensor dense = torch::zeros({50, 50});
  const auto [source, target] = edge_list(*graph.edges);
  dense.index_put_({target, source}, torch::ones({graph.edges->nnz()}));
  const torch::Tensor x = graph.x.to_dense();
  const torch::Tensor expected =
      torch::mm(dense, torch::mm(dense, torch::mm(dense, x))).index_select(0, nodes);
  for (const int64_t rows : {1, 4, 1000}) {
    const torch::Tensor found = layer_wise(
        graph, nodes, 3,
        [](int64_t, const Graph& part) {
          const torch::Tensor h = part.x.to_dense();
          torch::Tensor sum = torch::zeros({part.edges->rows(), h.size(1)});
          const auto [from, to] = edge_list(*part.edges);
          return sum.index_add(0, to, h.index_select(0, from));
        },
        rows);
    EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-4)) << rows;
  }
}

TEST(MiniBatches, OfGrmAreItsEgoNets) {
  const Task task = two_domains(true);
  MethodChoice own("grm", "best"), asked("grm", "best");
  for (const auto& [key, value] : Values{{"scope", "ego"},
                                         {"batch", "7"},
                                         {"steps", "0"},
                                         {"fanout", "3,2"},
                                         {"influence", "auto"},
                                         {"invariance_nodes", "1"}}) {
    own.options().set("method", key, value);
  }
  TrainView view = task.train_view();
  const auto expected = own.build(view, Rng(3));
  view.sampling = {7, {3, 2}};
  const auto sampled = asked.build(view, Rng(3));
  for (int64_t e = 1; e <= 2; ++e) {
    EXPECT_EQ(expected->train_epoch(e).front().value, sampled->train_epoch(e).front().value);
  }
  const Domain& domain = task.test[0];
  EXPECT_TRUE(torch::allclose(expected->logits(domain.graph, domain.labels.evaluate),
                              sampled->logits(domain.graph, domain.labels.evaluate), 1e-5, 1e-5));
}

TEST(MiniBatches, SayWhatDoesNotFit) {
  const Task task = two_domains(true);
  using ::testing::HasSubstr;
  const auto message = [&](const Case& c, const Sampling& sampling) {
    return test::error_of(ErrorKind::config, [&] { build(c, task, sampling, true); });
  };
  EXPECT_THAT(message({"erm", {}}, {10, {3}}),
              HasSubstr("train.fanout has 1 numbers, but the network has 2 layers"));
  EXPECT_THAT(message({"erm", {{"backbone", "gpr"}}}, {10, {}}),
              HasSubstr("train.batch needs a network whose layers look one hop"));
  EXPECT_THAT(message({"arm", {}}, {10, {}}), HasSubstr("use at least 100"));
}

}  // namespace
}  // namespace grm::mini_batches_tests
