// Predictions of a saved model: against the run that made it, and against formulas written out.
#include "grm/train/predict.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <sstream>

#include "grm/grm.h"
#include "io/csv.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "train/trainer.h"

namespace grm {
namespace {

using test::error_of;
using testing::HasSubstr;

class Predicting : public testing::Test {
 protected:
  Predicting() { setenv("GRM_CACHE", folder_.path().c_str(), 1); }

  // Trains a few epochs and returns the run's folder.
  std::string train(RunConfig& config, Task& task) {
    config.set("train.epochs", "4");
    config.set("train.eval_every", "1");
    task = config.dataset.load({});
    const RunFolder run = create_run_folder(folder_.file("runs"), config, 7);
    record_ = train_run(config, task, 7, run);
    return run.path();
  }
  std::string node_run(const std::string& method, const std::vector<std::string>& settings = {}) {
    RunConfig config("sbm", method);
    config.set("dataset.nodes", "60");
    config.set("dataset.words", "30");
    config.set("method.hidden", "8");
    for (size_t k = 0; k + 1 < settings.size(); k += 2) config.set(settings[k], settings[k + 1]);
    return train(config, task_);
  }
  std::string graph_run(const std::string& method) {
    RunConfig config("spmotif", method);
    for (const char* key : {"train_per_class", "val_per_class", "test_per_class"}) {
      config.set(std::string("dataset.") + key, "6");
    }
    return train(config, task_);
  }

  // All lines of predict_csv, cell by cell.
  static std::vector<std::vector<std::string>> cells(const std::string& text) {
    const test::TempFolder folder;
    std::vector<std::vector<std::string>> rows;
    io::read_csv(folder.write("p.csv", text), [&](const io::CsvRow& row) {
      rows.emplace_back(row.columns.begin(), row.columns.end());
    });
    return rows;
  }

  test::TempFolder folder_;
  Task task_;
  RunRecord record_;
};

TEST_F(Predicting, GivesTheScoresOfTheRunToTheLastBit) {
  for (const std::string method : {"grm", "erm", "arm"}) {
    Model model = load(node_run(method));
    std::string text;
    const PredictionSummary summary = predict_csv(model, data_to_predict(model, "sbm", {}),
                                                  [&](const std::string& t) { text += t; });
    const std::vector<DomainScore>& expected = record_.chosen.at("val").test;
    ASSERT_EQ(summary.scores.size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(summary.scores[k].domain, expected[k].domain);
      EXPECT_EQ(summary.scores[k].value, expected[k].value) << method;
    }
    EXPECT_EQ(summary.sampled, method == "grm");
    EXPECT_EQ(summary.items, 8 * 60);
  }
}

TEST_F(Predicting, GraphsArePredictedAsTheRunScoredThem) {
  Model model = load(graph_run("grm"));
  const PredictionSummary summary =
      predict_csv(model, data_to_predict(model, "spmotif", {}), [](const std::string&) {});
  ASSERT_EQ(summary.scores.size(), 1u);
  EXPECT_EQ(summary.scores[0].value, record_.chosen.at("val").test[0].value);
  EXPECT_TRUE(summary.sampled);
  EXPECT_EQ(summary.items, 18);
}

TEST_F(Predicting, TheFileHoldsWhatTheMethodSaysItemByItem) {
  const std::string run = node_run("grm");
  Model model = load(run);
  model.set_temperature(1.0);  // what it does is in calibration_test.cpp
  LoadedModel reference = load_model(run, {});
  std::string text;
  const std::vector<Asked> data = data_to_predict(model, "sbm", {});
  std::vector<int64_t> steps;
  const PredictionSummary summary = predict_csv(
      model, data, [&](const std::string& t) { text += t; },
      [&](int64_t done, int64_t) { steps.push_back(done); });
  const auto rows = cells(text);
  ASSERT_EQ(rows.size(), 1u + 8 * 60);
  ASSERT_EQ(rows[0].size(), 4u + 10 + 2);
  EXPECT_EQ(rows[0][3] + rows[0][4] + rows[0][13] + rows[0][14] + rows[0][15],
            "labelp_0p_9spreadentropy");
  EXPECT_EQ(steps.front(), 0);
  EXPECT_EQ(steps.back(), 480);
  size_t row = 1;
  double spreads = 0, entropies = 0;
  std::vector<int64_t> counts(10);
  for (const Domain& domain : reference.task.test) {
    const torch::Tensor all = torch::arange(60, torch::kInt64);
    const torch::Tensor p = torch::softmax(reference.method->logits(domain.graph, all), 1);
    const torch::Tensor samples = reference.method->sampled_probabilities(domain.graph, all);
    for (int64_t i = 0; i < 60; ++i, ++row) {
      const std::vector<std::string>& cell = rows[row];
      const int64_t c = p[i].argmax().item<int64_t>();
      ++counts[c];
      EXPECT_EQ(cell[0], domain.name);
      EXPECT_EQ(cell[1], std::to_string(i));
      EXPECT_EQ(cell[2], std::to_string(c));
      EXPECT_EQ(cell[3], std::to_string(c));
      double entropy = 0;
      for (int64_t k = 0; k < 10; ++k) {
        const float value = p[i][k].item<float>();
        EXPECT_EQ(std::stof(cell[4 + k]), value);  // the text keeps all bits
        entropy -= value > 0 ? static_cast<double>(value) * std::log(value) : 0.0;
      }
      double mean = 0, square = 0;
      for (int64_t s = 0; s < 5; ++s) mean += samples[s][i][c].item<double>() / 5;
      for (int64_t s = 0; s < 5; ++s) {
        square += std::pow(samples[s][i][c].item<double>() - mean, 2) / 5;
      }
      EXPECT_NEAR(std::stod(cell[14]), std::sqrt(square), 1e-6);
      EXPECT_NEAR(std::stod(cell[15]), entropy, 1e-6);
      spreads += std::sqrt(square) / 480;
      entropies += entropy / 480;
    }
  }
  EXPECT_EQ(summary.count, counts);
  EXPECT_NEAR(summary.mean_spread, spreads, 1e-6);
  EXPECT_NEAR(summary.mean_entropy, entropies, 1e-6);
}

TEST_F(Predicting, NamesOfItemsAndLabelsAreQuotedAndUnknownLabelsDoNotCount) {
  RunConfig config("sbm", "erm");
  config.set("dataset.nodes", "30");
  Task task = config.dataset.load({});
  for (int64_t c = 0; c < task.classes; ++c)
    task.label_names.push_back("a, \"" + std::to_string(c));
  const std::string path = folder_.file("m.safetensors");
  write_model(path, *config.method.build(task.train_view(), Rng(1)), config, task, 1, 1);
  Model model = load(path);
  Domain domain = task.test.front();
  domain.name = "March, 2026";
  for (int64_t i = 0; i < 30; ++i) domain.item_names.push_back("n;" + std::to_string(i));
  domain.labels.y = domain.labels.y.clone();
  domain.labels.y.slice(0, 10) = -1;
  std::string text;
  const PredictionSummary summary = predict_csv(model, {{domain, torch::arange(30, torch::kInt64)}},
                                                [&](const std::string& t) { text += t; });
  const auto rows = cells(text);
  EXPECT_EQ(rows[0][5], "p_a, \"1");
  EXPECT_EQ(rows[7][0] + rows[7][1], "March, 2026n;6");
  EXPECT_EQ(rows[7][3], "a, \"" + rows[7][2]);
  EXPECT_EQ(rows[7][14], "");  // no samples, no spread
  ASSERT_EQ(summary.scores.size(), 1u);
  EXPECT_EQ(summary.scores[0].labelled, 10);
  const torch::Tensor first = torch::arange(10, torch::kInt64);
  const Prediction p = model.predict(task.test.front().graph, first);
  EXPECT_NEAR(
      summary.scores[0].value,
      100 * p.classes.eq(task.test.front().labels.y.slice(0, 0, 10)).sum().item<double>() / 10,
      1e-9);
  EXPECT_FALSE(p.spread.defined());
}

TEST_F(Predicting, AScoreThatIsNotDefinedIsANoteNotAnError) {
  RunConfig config("sbm", "erm");
  config.set("dataset.nodes", "30");
  Task task = config.dataset.load({});
  task.classes = 2;
  task.metric = MetricKind::roc_auc;
  for (Domain& d : task.training) d.labels.y = d.labels.y.remainder(2);
  const std::string path = folder_.file("m.safetensors");
  write_model(path, *config.method.build(task.train_view(), Rng(1)), config, task, 1, 1);
  Model model = load(path);
  Domain domain = task.training.front();
  domain.labels.y = torch::zeros_like(domain.labels.y);
  const std::vector<Asked> data = {{domain, torch::arange(30, torch::kInt64)}};
  const PredictionSummary summary = predict_csv(model, data, [](const std::string&) {});
  EXPECT_TRUE(summary.scores.empty());
  EXPECT_EQ(summary.notes.size(), 1u);
}

TEST_F(Predicting, SymmetriseAndCentreOfTheModelApplyToNewGraphs) {
  const std::string run =
      node_run("erm", {"dataset.symmetrise", "true", "dataset.centre", "domain"});
  Model model = load(run);
  LoadedModel reference = load_model(run, {});
  RunConfig plain("sbm", "erm");
  plain.set("dataset.nodes", "60");
  plain.set("dataset.words", "30");
  const Task task = plain.dataset.load({});
  const torch::Tensor all = torch::arange(60, torch::kInt64);
  EXPECT_TRUE(torch::equal(model.predict(task.test[0].graph).logits,
                           reference.method->logits(reference.task.test[0].graph, all)));
}

TEST_F(Predicting, GraphsOfAnotherShapeAreRefusedWithBothWidths) {
  Model model = load(node_run("erm"));
  const torch::Tensor pair = torch::tensor({{0}, {1}});
  EXPECT_THAT(error_of(ErrorKind::shape,
                       [&] {
                         model.predict(make_graph(pair, torch::ones({2, 7})));
                       }),
              HasSubstr("7 features came, the model was trained on 40"));
  const torch::Tensor x = torch::ones({2, 40});
  EXPECT_THAT(
      error_of(ErrorKind::shape,
               [&] { model.predict(make_graph(pair, x, torch::zeros({2}, torch::kInt64))); }),
      HasSubstr("set of graphs"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { model.predict(make_graph(pair, x / 0.0)); }),
              HasSubstr("finite"));
  EXPECT_THAT(
      error_of(ErrorKind::shape, [&] { model.predict(make_graph(pair, x), torch::tensor({2})); }),
      HasSubstr("0..1"));
  EXPECT_EQ(model.predict(make_graph(pair, x), torch::empty({0}, torch::kInt64)).items(), 0);
  EXPECT_THAT(error_of(ErrorKind::data, [&] { data_to_predict(model, "spmotif", {}); }),
              HasSubstr("graph level"));
}

TEST_F(Predicting, OneGraphIsASetOfOneForAModelOfGraphs) {
  Model model = load(graph_run("erm"));
  const torch::Tensor path = torch::tensor({{0, 1, 1, 2}, {1, 0, 2, 1}});
  const torch::Tensor x = torch::ones({3, model.features()});
  const Prediction one = model.predict(make_graph(path, x));
  ASSERT_EQ(one.items(), 1);
  const torch::Tensor twice = torch::cat({path, path + 3}, 1);
  const torch::Tensor graph = torch::tensor({0, 0, 0, 1, 1, 1});
  const Prediction two = model.predict(make_graph(twice, torch::cat({x, x}), graph));
  ASSERT_EQ(two.items(), 2);
  EXPECT_TRUE(torch::allclose(two.probabilities[1], one.probabilities[0]));
}

TEST(MakeGraph, TakesPairsFeaturesAndDataOfPairsInAnyOrder) {
  const torch::Tensor pairs = torch::tensor({{2, 0, 1, 2}, {1, 1, 0, 1}}, torch::kInt32);
  const torch::Tensor x = torch::arange(6, torch::kFloat64).view({3, 2});
  const torch::Tensor data = torch::tensor({20.0f, 0.0f, 10.0f, 99.0f}).view({4, 1});
  const Graph graph = make_graph(pairs, x, {}, data);
  const auto [source, target] = edge_list(*graph.edges);
  EXPECT_TRUE(torch::equal(source, torch::tensor({1, 0, 2})));
  EXPECT_TRUE(torch::equal(target, torch::tensor({0, 1, 1})));
  EXPECT_TRUE(torch::equal(graph.edge_x.dense.flatten(), torch::tensor({10.0f, 0.0f, 20.0f})));
  EXPECT_TRUE(torch::equal(graph.x.dense, x.to(torch::kFloat32)));
  EXPECT_FALSE(graph.parts.defined());
}

TEST(MakeGraph, MistakesAreNamed) {
  const torch::Tensor pair = torch::tensor({{0}, {1}}), x = torch::ones({2, 3});
  EXPECT_THAT(error_of(ErrorKind::shape, [&] { make_graph(pair.t(), x); }), HasSubstr("[2, m]"));
  EXPECT_THAT(error_of(ErrorKind::shape, [&] { make_graph(pair.to(torch::kFloat32), x); }),
              HasSubstr("integers"));
  EXPECT_THAT(error_of(ErrorKind::shape, [&] { make_graph(pair, torch::ones({2})); }),
              HasSubstr("[n, d]"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { make_graph(pair + 5, x); }), HasSubstr("5 -> 6"));
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] {
                         make_graph(pair, x, torch::tensor({0, 2}));
                       }),
              HasSubstr("node 1 is of graph 2"));
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] {
                         make_graph(pair, x, torch::tensor({0, 1}));
                       }),
              HasSubstr("leaves graph 0"));
  EXPECT_THAT(error_of(ErrorKind::shape,
                       [&] {
                         make_graph(pair, x, {}, torch::ones({3, 1}));
                       }),
              HasSubstr("[1, k]"));
}

}  // namespace
}  // namespace grm
