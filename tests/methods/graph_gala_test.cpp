// What makes GALA: its pairs by hand, copies of hard graphs, normalised scores, and an assistant
// whose tags are made once and survive a restart.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "methods/graph/batches.h"
#include "methods/graph/contrastive.h"
#include "methods/graph/gala.h"
#include "small_graph_task.h"
#include "support/expect_error.h"

namespace grm::graph_level {
namespace {

using torch::Tensor;

Tensor ints(std::vector<int64_t> values) {
  return torch::tensor(values, torch::kInt64);
}

Tensor matrix(int64_t rows, int64_t cols, uint64_t seed) {
  Tensor t = torch::empty({rows, cols}, torch::kFloat64);
  Rng(seed).stream("rows").fill_normal(t.data_ptr<double>(), t.numel());
  return t;
}

Tensor pattern(int64_t n, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  Tensor t = torch::zeros({n, n}, torch::kBool);
  for (const auto& [i, j] : pairs) t[i][j] = true;
  return t;
}

TEST(GalaPairs, AreThoseWhereLabelAndTagDisagree) {
  const Pairs pairs = assisted_pairs(ints({0, 0, 0, 1, 1}), ints({0, 1, 0, 0, 1}));
  EXPECT_TRUE(
      torch::equal(pairs.positive, pattern(5, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {3, 4}, {4, 3}})));
  EXPECT_TRUE(torch::equal(pairs.compared, pattern(5, {{0, 1},
                                                       {0, 3},
                                                       {1, 0},
                                                       {1, 2},
                                                       {1, 4},
                                                       {2, 1},
                                                       {2, 3},
                                                       {3, 0},
                                                       {3, 2},
                                                       {3, 4},
                                                       {4, 1},
                                                       {4, 3}})));
  // All products of the rows of the identity are 0, so row i gives log |A_i|: 2, 3, 2, 3, 2.
  EXPECT_NEAR(contrast(torch::eye(5, torch::kFloat64), pairs, 1e-12).item<double>(),
              (3 * std::log(2.0) + 2 * std::log(3.0)) / 5, 1e-9);
}

TEST(GalaPairs, WithoutPositivesArePairsOfOneLabelAgainstTheSameComparisons) {
  const Pairs pairs = assisted_pairs(ints({0, 0, 1}), ints({0, 0, 0}));
  EXPECT_TRUE(torch::equal(pairs.positive, pattern(3, {{0, 1}, {1, 0}})));
  EXPECT_TRUE(torch::equal(pairs.compared, pattern(3, {{0, 2}, {1, 2}, {2, 0}, {2, 1}})));
  // Rows 1 and 2: log(e^0) - 1.
  const Tensor u = torch::tensor({{1.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}}, torch::kFloat64);
  EXPECT_NEAR(contrast(u, pairs, 1e-12).item<double>(), -1.0, 1e-9);
}

TEST(GalaPairs, OfAnAssistantThatIsAlwaysRightAreCigas) {
  const Tensor y = ints({0, 0, 1, 2});
  const Pairs pairs = assisted_pairs(y, ints({4, 4, 2, 0})), plain = label_pairs(y);
  EXPECT_TRUE(torch::equal(pairs.positive, plain.positive));
  EXPECT_TRUE(torch::equal(pairs.compared, plain.compared));
}

TEST(GalaUpsampling, RepeatsWrongGraphsAtMostTwiceUnlessTold) {
  const auto counts = [](int64_t right, int64_t wrong, int64_t repeats) {
    const Tensor ok = torch::arange(right + wrong).lt(right);
    const Tensor c = upsampled_counts(ok, repeats);
    EXPECT_EQ(c.numel(), right + wrong);
    return std::pair<int64_t, int64_t>{right > 0 ? c[0].item<int64_t>() : 0,
                                       wrong > 0 ? c[-1].item<int64_t>() : 0};
  };
  using Both = std::pair<int64_t, int64_t>;
  EXPECT_EQ(counts(3, 2, 0), Both(1, 1));  // 3 div 2
  EXPECT_EQ(counts(5, 2, 0), Both(1, 2));
  EXPECT_EQ(counts(9, 1, 0), Both(1, 2));  // no more than two
  EXPECT_EQ(counts(9, 1, 4), Both(1, 5));
  EXPECT_EQ(counts(2, 5, 0), Both(1, 1));  // all count as wrong: 0 div 7, and nobody is dropped
  EXPECT_EQ(counts(2, 5, 4), Both(5, 5));
  EXPECT_EQ(counts(4, 0, 4), Both(1, 0));
}

TEST(GalaScorer, NormalisesTheRowsOfEachGraphByThemselves) {
  const Tensor offsets = ints({0, 4, 4, 5, 11}), x = matrix(11, 3, 1) * 5 + 2;
  const Tensor y = instance_norm(offsets, x);
  for (const auto& [begin, end] : {std::pair{0, 4}, std::pair{4, 5}, std::pair{5, 11}}) {
    for (int64_t c = 0; c < 3; ++c) {
      double mean = 0, variance = 0;
      for (int64_t r = begin; r < end; ++r) mean += x[r][c].item<double>() / (end - begin);
      for (int64_t r = begin; r < end; ++r) {
        variance += std::pow(x[r][c].item<double>() - mean, 2) / (end - begin);
      }
      for (int64_t r = begin; r < end; ++r) {
        EXPECT_NEAR(y[r][c].item<double>(),
                    (x[r][c].item<double>() - mean) / std::sqrt(variance + 1e-5), 1e-9);
      }
    }
  }
}

TEST(GalaScorer, GradientOfTheNormalisationEqualsFiniteDifferences) {
  const Tensor offsets = ints({0, 4, 4, 5, 9}), weights = matrix(9, 2, 2);
  Tensor x = matrix(9, 2, 1).set_requires_grad(true);
  const auto loss = [&] { return (instance_norm(offsets, x) * weights).square().sum(); };
  loss().backward();
  const at::NoGradGuard no_grad;
  double* value = x.data_ptr<double>();
  for (int64_t k = 0; k < x.numel(); ++k) {
    const double before = value[k], h = 1e-6;
    value[k] = before + h;
    const double up = loss().item<double>();
    value[k] = before - h;
    const double down = loss().item<double>();
    value[k] = before;
    EXPECT_NEAR(x.grad().view({-1})[k].item<double>(), (up - down) / (2 * h), 1e-5) << k;
  }
}

TEST(GalaScorer, EqualsTheSameMapsOnConcatenatedRows) {
  const Task task = test::small_graph_task();
  const nn::GraphInput batch = nn::pick_input(task.training[0].graph, torch::arange(5));
  nn::ParameterSet set(Rng(3), torch::kFloat64);
  const NormalisedScorer scorer(set, "s", 4, 0.0);
  nn::Pass pass = nn::Pass::evaluate();
  const Tensor h = matrix(batch.edges->rows(), 4, 9);
  const auto p = set.snapshot();
  const auto map = [&](const Tensor& x, const std::string& name) {
    return torch::mm(x, p.at("s." + name + ".weight")) + p.at("s." + name + ".bias");
  };
  const auto hidden = [&](const Tensor& x) {
    std::vector<Tensor> parts;
    const Tensor edge = edge_offsets(batch);
    for (int64_t b = 0; b < 5; ++b) {
      const Tensor own = x.slice(0, edge[b].item<int64_t>(), edge[b + 1].item<int64_t>());
      const Tensor centred = own - own.mean(0);
      parts.push_back(torch::relu(centred / torch::sqrt(centred.square().mean(0) + 1e-5)));
    }
    return torch::cat(parts);
  };
  const auto [source, target] = edge_list(*batch.edges);
  const Tensor ends = torch::cat({h.index_select(0, source), h.index_select(0, target)}, 1);
  const Tensor expected =
      map(hidden(map(hidden(map(ends, "linear1")), "linear2")), "linear3").squeeze(1);
  EXPECT_TRUE(torch::allclose(scorer.forward(h, batch, pass), expected, 1e-9, 1e-9));
}

TEST(GalaModel, TheSpuriousBranchIsWeightedOneMinusTheScore) {
  const Task task = test::small_graph_task();
  const nn::GraphInput batch = nn::pick_input(task.training[0].graph, torch::arange(6));
  nn::Pass pass = nn::Pass::evaluate();
  SplitOptions options;
  options.encoder.hidden = 6;
  options.r = -1.0;
  nn::ParameterSet set{Rng(2)};
  SplitModel model(set, options, nn::ReadoutOptions{}, {1.0, true, false}, task.train_view(),
                   SplitModel::Kind::gala);
  auto state = set.snapshot();
  for (const char* part : {"linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"}) {
    state[std::string("spurious.") + part] = state[std::string("head.") + part];
  }
  state["spurious_last.weight"] = torch::eye(2);
  state["spurious_last.bias"] = torch::zeros({2});
  set.restore(state);
  SplitModel::Wanted wanted;
  wanted.spurious = true;
  const SplitModel::Output out = model.forward(batch, pass, wanted);
  EXPECT_FALSE(torch::allclose(out.spurious, out.logits));
  // 1 - sig(s) = sig(-s): turning the last map of the scorer round exchanges the branches.
  state["scorer.linear3.weight"].neg_();
  state["scorer.linear3.bias"].neg_();
  set.restore(state);
  const SplitModel::Output turned = model.forward(batch, pass, wanted);
  EXPECT_TRUE(torch::allclose(turned.logits, out.spurious, 1e-4, 1e-6));
  EXPECT_TRUE(torch::allclose(turned.spurious, out.logits, 1e-4, 1e-6));
}

const test::Values kSmall = {{"hidden", "8"}, {"layers", "2"},           {"batch", "16"},
                             {"lr", "0.01"},  {"assistant_epochs", "4"}, {"pe", "1"}};

test::Values with(test::Values more) {
  test::Values all = kSmall;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Gala, TagsArePredictedClassesWithOneEnvironmentAndWrongGraphsAreRepeated) {
  const Task task = test::small_graph_task();
  const auto method = test::build_graph_method(
      "gala", task, with({{"envs", "1"}, {"repeats", "2"}, {"assistant_epochs", "1"}}));
  EXPECT_TRUE(method->training_state().empty());
  method->train_epoch(1);
  const auto state = method->training_state();
  const Tensor wrong = state.at("tags").ne(task.training[0].labels.y);
  ASSERT_GT(wrong.sum().item<int64_t>(), 0);
  ASSERT_LT(wrong.sum().item<int64_t>(), 20);
  EXPECT_TRUE(torch::equal(state.at("counts"), 1 + 2 * wrong.to(torch::kInt64)));
  // 40 graphs and two more copies of each wrong one, in steps of 16.
  const int64_t seen = 40 + 2 * wrong.sum().item<int64_t>();
  EXPECT_EQ(method->optimisers()[0]->state().at("head.linear1.weight.steps").item<int64_t>(),
            (seen + 15) / 16);
}

TEST(Gala, TagsAreClustersOfTheEmbeddings) {
  Task task = test::small_graph_task();
  for (const char* assistant : {"erm", "extractor"}) {
    const auto method =
        test::build_graph_method("gala", task, with({{"envs", "3"}, {"assistant", assistant}}));
    method->train_epoch(1);
    const Tensor tags = method->training_state().at("tags");
    EXPECT_GE(tags.min().item<int64_t>(), 0);
    EXPECT_LE(tags.max().item<int64_t>(), 2);
    EXPECT_GT(tags.max().item<int64_t>(), tags.min().item<int64_t>());
    // The assistant depends on the seed alone.
    const auto again =
        test::build_graph_method("gala", task, with({{"envs", "3"}, {"assistant", assistant}}));
    again->train_epoch(7);
    EXPECT_TRUE(torch::equal(tags, again->training_state().at("tags")));
  }
}

TEST(Gala, KeepsTheAssistantsBestEpochOnValidation) {
  const Task task = test::small_graph_task();
  TrainView view = task.train_view();
  AssistantOptions options;
  options.envs = 1;
  options.epochs = 1;
  options.keep = AssistantKeep::last;
  SplitOptions split;
  split.encoder.hidden = 8;
  GraphTrainOptions training;
  training.optimiser.lr = 0.05;
  const Assistance first = train_assistant(options, split, training, view, Rng(1));
  options.epochs = 12;
  const Assistance last = train_assistant(options, split, training, view, Rng(1));
  options.keep = AssistantKeep::best;
  int64_t calls = 0;
  view.validate = [&](const Predictor& predict) {
    EXPECT_EQ(predict(task.validation[0].graph, torch::arange(20)).size(0), 20);
    return 100.0 - static_cast<double>(calls++);  // the first epoch looks best
  };
  const Assistance best = train_assistant(options, split, training, view, Rng(1));
  EXPECT_EQ(calls, 12);
  EXPECT_TRUE(torch::equal(best.tags, first.tags));
  EXPECT_FALSE(torch::equal(last.tags, first.tags));
}

TEST(Gala, TagsChooseThePairsAndSurviveARestart) {
  const Task task = test::small_graph_task();
  const auto whole = test::build_graph_method("gala", task, kSmall);
  for (int64_t e = 1; e <= 2; ++e) whole->train_epoch(e);
  const auto parameters = whole->parameters().snapshot();
  const auto moments = whole->optimisers()[0]->state();
  std::map<std::string, Tensor> state;
  for (const auto& [name, tensor] : whole->training_state()) state[name] = tensor.clone();
  whole->train_epoch(3);
  const auto resumed_with = [&](const std::map<std::string, Tensor>& tags) {
    auto method = test::build_graph_method("gala", task, kSmall);
    method->parameters().restore(parameters);
    method->optimisers()[0]->restore(moments);
    method->restore_training_state(tags);
    method->train_epoch(3);
    EXPECT_TRUE(torch::equal(method->training_state().at("tags"), tags.at("tags")));
    return method->parameters().snapshot();
  };
  const auto resumed = resumed_with(state);
  for (const auto& [name, tensor] : whole->parameters().snapshot()) {
    EXPECT_TRUE(torch::equal(tensor, resumed.at(name))) << name;
  }
  auto other = state;
  other["tags"] = (state.at("tags") + torch::arange(40)).remainder(3);
  EXPECT_FALSE(torch::equal(resumed_with(other).at("head.linear1.weight"),
                            resumed.at("head.linear1.weight")));
  auto broken = state;
  broken.erase("counts");
  EXPECT_THAT(test::error_of(ErrorKind::data, [&] { whole->restore_training_state(broken); }),
              testing::HasSubstr("'counts'"));
}

TEST(Gala, WithoutContrastAndCopiesNeedsNoAssistantAndEqualsTheEpochsBeforeTheContrast) {
  const Task task = test::small_graph_task();
  std::map<std::string, Tensor> results[2];
  for (int k = 0; k < 2; ++k) {
    const auto method = test::build_graph_method(
        "gala", task,
        with({{"upsample", "false"}, {"alpha", k == 0 ? "0" : "8"}, {"pe", k == 0 ? "0" : "3"}}));
    for (int64_t e = 1; e <= 3; ++e) method->train_epoch(e);
    EXPECT_EQ(method->training_state().empty(), k == 0);
    results[k] = method->parameters().snapshot();
  }
  for (const auto& [name, tensor] : results[0]) {
    EXPECT_TRUE(torch::equal(tensor, results[1].at(name))) << name;
  }
}

TEST(Gala, LearnsATinyTaskWithAndWithoutACutAndHinge) {
  const Task task = test::small_graph_task();
  const std::vector<test::Values> settings = {{{"r", "-1"}, {"alpha", "1"}},
                                              {{"r", "0.5"}, {"beta", "1"}, {"alpha", "1"}}};
  for (const test::Values& setting : settings) {
    const auto method = test::build_graph_method("gala", task, with(setting));
    method->train_epoch(1);
    const double before = method->train_epoch(2).front().value;  // the first with the contrast
    double after = 0;
    for (int64_t e = 3; e <= 40; ++e) after = method->train_epoch(e).front().value;
    EXPECT_LT(after, before);
    const Domain& domain = task.training[0];
    const Tensor right = method->logits(domain.graph, domain.labels.evaluate)
                             .argmax(1)
                             .eq(domain.labels.y)
                             .to(torch::kFloat64);
    EXPECT_GT(right.mean().item<double>(), 0.9);
    EXPECT_EQ(method->edge_scores(domain.graph, domain.labels.evaluate).numel(),
              domain.graph.edges->nnz());
  }
}

}  // namespace
}  // namespace grm::graph_level
