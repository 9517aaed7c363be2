// What makes MARIO MARIO besides its contrast (contrast_test.cpp): the views, the phases, and the
// head on a frozen encoder.
#include "methods/mario.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "graph/edge_data.h"
#include "grm/methods/method.h"
#include "small_task.h"

namespace grm::mario_tests {
namespace {

using torch::Tensor;

Tensor normal(uint64_t key, at::IntArrayRef shape) {
  Tensor x = torch::empty(shape, torch::kFloat64);
  Stream(key).fill_normal(x.data_ptr<double>(), x.numel());
  return x;
}

// ---- views and prototypes ----------------------------------------------------------------------

TEST(MarioViews, KeepTheExpectedShareOfEdgesEachOnItsOwn) {
  Stream draw(5);
  std::vector<int64_t> source, target;
  for (int k = 0; k < 20000; ++k) {
    source.push_back(static_cast<int64_t>(draw.below(300)));
    target.push_back(static_cast<int64_t>(draw.below(300)));
  }
  const AdjacencyPtr edges = make_adjacency(300, 300, torch::tensor(source, torch::kInt64),
                                            torch::tensor(target, torch::kInt64));
  const AdjacencyPtr kept = drop_edges(*edges, 0.4, Rng(1).stream("edges"));
  const double all = static_cast<double>(edges->nnz());
  // Five standard deviations of a binomial count.
  EXPECT_NEAR(static_cast<double>(kept->nnz()), 0.6 * all, 5 * std::sqrt(0.24 * all));
  const auto dense = [](const Adjacency& a) {
    const auto [from, to] = edge_list(a);
    return torch::zeros({300, 300}).index_put({to, from}, torch::ones({a.nnz()}));
  };
  const Tensor before = dense(*edges), after = dense(*kept);
  EXPECT_EQ(after.sum().item<double>(), static_cast<double>(kept->nnz()));
  EXPECT_TRUE(after.le(before).all().item<bool>());
  EXPECT_FALSE(torch::equal(before * after.t(), before.t() * after));  // directions go apart
  EXPECT_EQ(drop_edges(*edges, 0.0, Rng(1).stream("edges"))->nnz(), edges->nnz());
  EXPECT_EQ(drop_edges(*edges, 1.0, Rng(1).stream("edges"))->nnz(), 0);
}

// What a GPU takes in place of a thinned pattern gives the same operator.
TEST(MarioViews, WeightsOfZeroAreTheThinnedGraph) {
  Stream draw(6);
  std::vector<int64_t> source, target;
  for (int64_t k = 0; k < 30; k += 2) {
    source.push_back(k);
    target.push_back(k);  // self-pairs, some of them dropped
  }
  for (int k = 0; k < 150; ++k) {
    source.push_back(static_cast<int64_t>(draw.below(30)));
    target.push_back(static_cast<int64_t>(draw.below(30)));
  }
  Graph graph;
  graph.edges = make_adjacency(30, 30, torch::tensor(source, torch::kInt64),
                               torch::tensor(target, torch::kInt64));
  graph.x.dense = torch::zeros({30, 1});
  const Tensor rows = normal(8, {30, 4}), self = self_pairs(*graph.edges);
  for (const bool weighted : {false, true}) {
    if (weighted) graph.edge_weights = torch::rand({graph.edges->nnz()}) + 0.5;
    for (const nn::Conv conv : {nn::Conv::sum, nn::Conv::kipf}) {
      const Stream stream = Rng(2).stream("edges");
      const AdjacencyPtr kept = drop_edges(*graph.edges, 0.5, stream);
      ASSERT_FALSE(torch::equal(self.sum(), self_pairs(*kept).sum()));
      const nn::Propagation expected = nn::make_propagation(
          conv, kept, edge_data(graph, kept).weights, torch::kFloat64, torch::kCPU);
      nn::WeightedPropagation all(conv, torch::kFloat64, torch::kCPU);
      const nn::Propagation got =
          all.get(graph.edges,
                  thinned_weights(self, graph.edge_weights, 0.5, conv == nn::Conv::kipf, stream));
      EXPECT_TRUE(torch::allclose(got.apply(rows), expected.apply(rows), 1e-6, 1e-7));
    }
  }
}

TEST(MarioViews, KeepTheExpectedShareOfColumns) {
  const Tensor kept = keep_columns(10000, 0.3, Rng(1).stream("columns"));
  EXPECT_TRUE((kept.eq(0) | kept.eq(1)).all().item<bool>());
  EXPECT_NEAR(kept.sum().item<double>(), 7000.0, 5 * std::sqrt(0.21 * 10000));
}

// relu(P (X diag(m) + delta) W + b) from dense matrices, X with its shift, and its gradients.
TEST(MarioViews, MaskingRowsOfTheWeightsZeroesWholeColumnsOfTheFeatures) {
  Domain domain = test::small_domain(3);
  Features& x = domain.graph.x;
  x.shift = torch::linspace(-0.5, 0.5, x.width());
  MarioOptions options;
  options.hidden = 5;
  options.layers = 1;
  options.batch_norm = false;
  nn::ParameterSet set(Rng(1), torch::kFloat64);
  MarioEncoder encoder(set, "encoder", options, x.width());
  const Tensor m = torch::tensor({1, 0, 1, 0, 0, 1, 1, 0, 1}, torch::kFloat64);
  const MarioView view{
      nn::make_propagation(nn::Conv::kipf, domain.graph.edges, {}, torch::kFloat64), m};
  const Tensor delta = normal(6, {x.rows(), x.width()}).set_requires_grad(true);
  nn::Pass pass = nn::Pass::evaluate();
  const Tensor got = encoder.forward(x, view, delta, pass);
  const Tensor w = set.parameters()[0].second;
  const Tensor probe = normal(7, got.sizes());
  (got * probe).sum().backward();
  const Tensor got_w = w.grad().clone(), got_delta = delta.grad().clone();
  w.mutable_grad().reset();
  delta.mutable_grad().reset();

  const auto [source, target] = edge_list(*domain.graph.edges);
  Tensor a = torch::eye(x.rows(), torch::kFloat64);
  a = a.index_put({target, source}, torch::ones({source.numel()}, torch::kFloat64));
  const Tensor r = a.sum(1).rsqrt();
  const Tensor dense = x.to_dense().to(torch::kFloat64) * m;
  EXPECT_EQ(dense.select(1, 1).abs().max().item<double>(), 0.0);  // shift included
  const Tensor expected = torch::relu((r.unsqueeze(1) * a * r).matmul((dense + delta).matmul(w)));
  (expected * probe).sum().backward();
  EXPECT_TRUE(torch::allclose(got, expected, 1e-6, 1e-7));
  EXPECT_TRUE(torch::allclose(got_w, w.grad(), 1e-6, 1e-7));
  EXPECT_TRUE(torch::allclose(got_delta, delta.grad(), 1e-6, 1e-7));
}

TEST(MarioPrototypes, LossIsTheSwappedCrossEntropy) {
  const Tensor s1 = torch::tanh(normal(8, {6, 4})), s2 = torch::tanh(normal(9, {6, 4}));
  const Tensor q1 = torch::softmax(normal(10, {6, 4}), 1),
               q2 = torch::softmax(normal(11, {6, 4}), 1);
  double expected = 0;
  for (int64_t i = 0; i < 6; ++i) {
    const auto log_share = [&](const Tensor& s, int64_t k) {
      double sum = 0;
      for (int64_t c = 0; c < 4; ++c) sum += std::exp(s[i][c].item<double>() / 0.2);
      return s[i][k].item<double>() / 0.2 - std::log(sum);
    };
    for (int64_t k = 0; k < 4; ++k) {
      expected -=
          0.5 / 6 *
          (q1[i][k].item<double>() * log_share(s2, k) + q2[i][k].item<double>() * log_share(s1, k));
    }
  }
  EXPECT_NEAR(prototype_loss(s1, s2, q1, q2, 0.2).item<double>(), expected, 1e-12);
}

// ---- the method --------------------------------------------------------------------------------

std::unique_ptr<Method> build(const Task& task,
                              const std::vector<std::pair<std::string, std::string>>& values) {
  MethodChoice choice("mario");
  choice.options().set("method", "hidden", "8");
  choice.options().set("method", "prototypes", "5");
  for (const auto& [key, value] : values) choice.options().set("method", key, value);
  return choice.build(task.train_view(), Rng(1));
}

bool same(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b,
          const std::string& prefix) {
  for (const auto& [name, tensor] : a) {
    if (name.rfind(prefix, 0) == 0 && !torch::equal(tensor, b.at(name))) return false;
  }
  return true;
}

TEST(Mario, PhasesTrainTheirOwnParts) {
  const Task task = test::small_task();
  const auto still = build(task, {{"lr", "0"}});
  const auto start = still->parameters().snapshot();
  still->train_epoch(1);
  auto end = still->parameters().snapshot();
  EXPECT_TRUE(same(start, end, "encoder.conv"));
  EXPECT_FALSE(same(start, end, "prototypes"));
  EXPECT_FALSE(same(start, end, "projector.first"));
  EXPECT_TRUE(same(start, end, "head."));
  EXPECT_LE((end.at("prototypes").norm(2, 1) - 1).abs().max().item<double>(), 1e-6);

  const auto encoder = build(task, {{"prototype_steps", "0"}});
  encoder->train_epoch(1);
  end = encoder->parameters().snapshot();
  EXPECT_FALSE(same(start, end, "encoder.conv"));
  EXPECT_TRUE(same(start, end, "projector.first"));
  EXPECT_LE((end.at("prototypes") - start.at("prototypes")).abs().max().item<double>(), 1e-6);
  for (const auto& [name, tensor] : encoder->parameters().parameters()) {
    EXPECT_TRUE(tensor.requires_grad()) << name;
  }
}

TEST(Mario, EncoderLearnsTenTimesSlowerAfterTheDrop) {
  const Task task = test::small_task();
  const auto full = build(task, {{"lr_drop", "0"}}), dropped = build(task, {{"lr_drop", "1"}});
  const auto start = full->parameters().snapshot();
  // Epoch 2 is iteration 1, counted from 0. Adam's first step has the length of the rate.
  full->train_epoch(2);
  dropped->train_epoch(2);
  const std::string name = "encoder.conv2.weight";
  const Tensor far = full->parameters().snapshot().at(name) - start.at(name);
  const Tensor near = dropped->parameters().snapshot().at(name) - start.at(name);
  EXPECT_TRUE(torch::allclose(far, near * 10, 1e-2, 1e-6));
  EXPECT_GT(far.abs().max().item<double>(), 9e-4);
}

TEST(Mario, DrawnNodesAreContrastedAlone) {
  const Task task = test::small_task();
  const auto terms = build(task, {{"contrast_nodes", "1"}})->train_epoch(1);
  // One node alone has itself as its only candidate.
  EXPECT_NEAR(terms[1].value, 0.0, 1e-6);
  EXPECT_GT(build(task, {{"contrast_nodes", "29"}})->train_epoch(1)[1].value, 1.0);
}

// The frozen encoder from dense matrices in double, and Adam on softmax regression written out.
TEST(Mario, HeadIsSoftmaxRegressionOnTheFrozenEncoder) {
  Task task = test::small_task();
  task.training.push_back(test::small_domain(9, 20, "second"));
  const auto untrained = build(task, {{"head_epochs", "0"}});
  const auto method = build(task, {{"head_epochs", "6"}, {"head_lr", "0.05"}});
  for (Method* each : {untrained.get(), method.get()}) {
    each->train_epoch(1);
    each->prepare_evaluation(1);
  }
  const auto start = untrained->parameters().snapshot(), end = method->parameters().snapshot();
  const auto p = [&](const std::string& name) { return start.at(name).to(torch::kFloat64); };
  const auto encode = [&](const Graph& graph) {
    const auto [source, target] = edge_list(*graph.edges);
    Tensor a = torch::eye(graph.nodes(), torch::kFloat64);
    a = a.index_put({target, source}, torch::ones({source.numel()}, torch::kFloat64));
    const Tensor r = a.sum(1).rsqrt();
    Tensor h = graph.x.to_dense().to(torch::kFloat64);
    for (const std::string l : {"1", "2"}) {
      const std::string conv = "encoder.conv" + l, norm = "encoder.norm" + l;
      h = (r.unsqueeze(1) * a * r).matmul(h.matmul(p(conv + ".weight"))) + p(conv + ".bias");
      h = (h - p(norm + ".mean")) / torch::sqrt(p(norm + ".variance") + 1e-5) * p(norm + ".gamma") +
          p(norm + ".beta");
      h = torch::relu(h);
    }
    return h;
  };
  const Tensor h = torch::cat({encode(task.training[0].graph), encode(task.training[1].graph)});
  const Tensor y = torch::cat({task.training[0].labels.y, task.training[1].labels.y});
  Tensor head[2] = {p("head.weight"), p("head.bias")}, first[2], second[2];
  for (int k = 0; k < 2; ++k) first[k] = second[k] = torch::zeros_like(head[k]);
  for (int step = 1; step <= 6; ++step) {
    const Tensor shares = torch::softmax(h.matmul(head[0]) + head[1], 1);
    const Tensor d = (shares - torch::one_hot(y, 2)) / static_cast<double>(y.numel());
    const Tensor gradient[2] = {h.t().matmul(d), d.sum(0)};
    for (int k = 0; k < 2; ++k) {
      first[k] = 0.9 * first[k] + 0.1 * gradient[k];
      second[k] = 0.999 * second[k] + 0.001 * gradient[k].square();
      const Tensor m = first[k] / (1 - std::pow(0.9, step));
      const Tensor v = second[k] / (1 - std::pow(0.999, step));
      head[k] = head[k] - 0.05 * m / (torch::sqrt(v) + 1e-8);
    }
  }
  EXPECT_LE((end.at("head.weight") - head[0]).abs().max().item<double>(), 1e-6);
  EXPECT_LE((end.at("head.bias") - head[1]).abs().max().item<double>(), 1e-6);
  const Graph& graph = task.test[0].graph;
  const Tensor logits = method->logits(graph, torch::arange(graph.nodes()));
  EXPECT_LE((logits - (encode(graph).matmul(head[0]) + head[1])).abs().max().item<double>(), 1e-4);
}

}  // namespace
}  // namespace grm::mario_tests
