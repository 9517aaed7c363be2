// Probabilities that mean what they say: the error and the fit against naive computations.
#include "train/calibration.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "grm/core/rng.h"
#include "grm/train/predict.h"
#include "nn/losses.h"
#include "support/temp_folder.h"
#include "train/metrics.h"
#include "train/trainer.h"

namespace grm {
namespace {

// Items whose labels are drawn with the probabilities softmax(z), and the logits `factor` z.
GroupLogits drawn(int64_t n, int64_t classes, double factor, uint64_t seed) {
  torch::Tensor z = torch::empty({n, classes}, torch::kFloat64),
                u = torch::empty({n}, torch::kFloat64);
  Rng(seed).stream("z").fill_uniform(z.data_ptr<double>(), z.numel(), -2.0, 2.0);
  Rng(seed).stream("u").fill_uniform(u.data_ptr<double>(), n, 0.0, 1.0);
  const torch::Tensor below = torch::softmax(z, 1).cumsum(1).lt(u.unsqueeze(1));
  const torch::Tensor y = below.sum(1).clamp_max(classes - 1);
  return {"drawn", (factor * z).to(torch::kFloat32), y};
}

std::vector<std::vector<double>> naive_probabilities(const torch::Tensor& logits, double t) {
  std::vector<std::vector<double>> p;
  const auto z = logits.accessor<float, 2>();
  for (int64_t i = 0; i < logits.size(0); ++i) {
    p.emplace_back();
    double sum = 0.0;
    for (int64_t c = 0; c < logits.size(1); ++c) {
      p.back().push_back(std::exp(static_cast<double>(z[i][c]) / t));
      sum += p.back().back();
    }
    for (double& each : p.back()) each /= sum;
  }
  return p;
}

// The definition, bin by bin over all items.
double naive_ece(const GroupLogits& g, double t) {
  const auto p = naive_probabilities(g.logits, t);
  double ece = 0.0;
  for (int bin = 0; bin < 15; ++bin) {
    double right = 0.0, sure = 0.0;
    for (size_t i = 0; i < p.size(); ++i) {
      const auto top = std::max_element(p[i].begin(), p[i].end());
      if (*top <= bin / 15.0 || *top > (bin + 1) / 15.0) continue;
      right += top - p[i].begin() == g.y[static_cast<int64_t>(i)].item<int64_t>();
      sure += *top;
    }
    ece += std::abs(right - sure);
  }
  return 100.0 * ece / static_cast<double>(p.size());
}

double naive_nll(const GroupLogits& g, double t, double doubt = 0.0) {
  const auto p = naive_probabilities(g.logits, t);
  double sum = 0.0;
  for (size_t i = 0; i < p.size(); ++i) {
    const int64_t y = g.y.data_ptr<int64_t>()[i];
    for (size_t c = 0; c < p[i].size(); ++c) {
      const double target = (static_cast<int64_t>(c) == y ? 1.0 - doubt : 0.0) +
                            doubt / static_cast<double>(p[i].size());
      if (target > 0) sum -= target * std::log(p[i][c]);
    }
  }
  return sum / static_cast<double>(p.size());
}

TEST(Trust07Calibration, ErrorAndLikelihoodAreThoseOfTheDefinition) {
  for (const int64_t classes : {2, 5}) {
    for (const double t : {0.3, 1.0, 2.5}) {
      const GroupLogits g = drawn(400, classes, 2.0, 7);
      const Reliability r = reliability(g.logits, g.y, t);
      EXPECT_NEAR(r.ece, naive_ece(g, t), 1e-9);
      EXPECT_NEAR(r.nll, naive_nll(g, t), 1e-9);
      EXPECT_NEAR(r.accuracy, accuracy(g.logits, g.y), 1e-9);
      EXPECT_NEAR(r.confidence,
                  100.0 * std::get<0>(tempered_probabilities(g.logits, t).max(1))
                              .to(torch::kFloat64)
                              .mean()
                              .item<double>(),
                  1e-4);
      int64_t count = 0;
      double ece = 0.0;
      for (const ReliabilityBin& bin : r.bins) {
        count += bin.count;
        ece += static_cast<double>(bin.count) * std::abs(bin.accuracy - bin.confidence) / 400.0;
      }
      EXPECT_EQ(count, 400);
      EXPECT_NEAR(ece, r.ece, 1e-9);
    }
  }
}

TEST(Trust07Calibration, TheFitIsTheLeastOnAGrid) {
  for (const double factor : {0.2, 0.8, 4.0}) {
    const GroupLogits a = drawn(150, 3, factor, 1), b = drawn(90, 3, factor, 2);
    const GroupLogits both{"both", torch::cat({a.logits, b.logits}), torch::cat({a.y, b.y})};
    double best = 0.0, least = 1e300;
    for (double t = 0.05; t <= 20.0; t *= 1.005) {
      const double value = naive_nll(both, t, 1.0 / 241.0);
      if (value < least) least = value, best = t;
    }
    const double fitted = fit_temperature({a, b});
    EXPECT_NEAR(fitted, best, 0.006 * best) << factor;
    EXPECT_LE(naive_nll(both, fitted, 1.0 / 241.0), least + 1e-12);
    EXPECT_EQ(fitted, fit_temperature({a, b}));  // bits
  }
}

TEST(Trust07Calibration, FindsTheFactorThatLogitsAreOffBy) {
  for (const double factor : {0.25, 1.0, 3.0}) {
    const double fitted = fit_temperature({drawn(20000, 4, factor, 3)});
    EXPECT_NEAR(fitted / factor, 1.0, 0.04) << factor;
    const GroupLogits fresh = drawn(20000, 4, factor, 4);
    EXPECT_LT(reliability(fresh.logits, fresh.y, fitted).ece, 1.5);
  }
}

TEST(Trust07Calibration, DegenerateItemsStayInBounds) {
  EXPECT_EQ(fit_temperature({}), 1.0);
  EXPECT_EQ(fit_temperature({{"none", torch::empty({0, 3}), torch::empty({0}, torch::kInt64)}}),
            1.0);
  // All right: confident, but no surer than so many items can be.
  const torch::Tensor logits = torch::tensor({{2.0f, 0.0f}, {3.0f, 1.0f}, {0.0f, 2.0f}});
  const torch::Tensor right = torch::tensor({0, 0, 1});
  const double sure = fit_temperature({{"right", logits, right}});
  EXPECT_LT(sure, 1.2);
  EXPECT_NEAR(reliability(logits, right, sure).confidence, 87.5, 0.01);  // 1 - 1 / (2 (3 + 1))
  // All wrong, and nothing to choose from.
  EXPECT_EQ(fit_temperature({{"wrong", logits, torch::tensor({1, 1, 0})}}), kMostTemperature);
  EXPECT_EQ(fit_temperature({{"flat", torch::zeros({5, 3}), torch::zeros({5}, torch::kInt64)}}),
            1.0);
  const double huge =
      fit_temperature({{"huge", torch::full({1, 2}, 1e30f), torch::zeros({1}, torch::kInt64)}});
  EXPECT_TRUE(huge >= kLeastTemperature && huge <= kMostTemperature);
}

TEST(Trust07Calibration, OneLeavesTheBitsAndNoTemperatureChangesTheOrder) {
  const GroupLogits g = drawn(300, 2, 1.0, 5);
  EXPECT_TRUE(
      torch::equal(tempered_probabilities(g.logits, 1.0), nn::class_probabilities(g.logits)));
  for (const double t : {0.5, 7.0}) {
    const torch::Tensor p = tempered_probabilities(g.logits, t);
    EXPECT_TRUE(torch::equal(predicted_class(p), predicted_class(g.logits)));
    EXPECT_NEAR(roc_auc_of_scores(p.select(1, 1), g.y), roc_auc(g.logits, g.y), 1e-6);
  }
}

RunConfig small_run() {
  RunConfig config("sbm", "grm");
  config.set("dataset.nodes", "60");
  config.set("train.epochs", "4");
  config.set("method.hidden", "16");
  return config;
}

TEST(Trust07Calibration, ARunKeepsTheFitOfItsModelAndNoScoreChanges) {
  const test::TempFolder folder;
  RunConfig config = small_run(), plain = small_run();
  plain.set("train.calibrate", "false");
  Task task = config.dataset.load({});
  const RunRecord with =
      train_run(config, task, 1, create_run_folder(folder.file("with"), config, 1));
  const RunRecord without =
      train_run(plain, task, 1, create_run_folder(folder.file("without"), plain, 1));
  ASSERT_TRUE(with.calibration.has_value());
  EXPECT_FALSE(without.calibration.has_value());
  for (const char* rule : {"val", "last", "oracle"}) {
    EXPECT_EQ(with.chosen.at(rule).validation, without.chosen.at(rule).validation);
    for (size_t k = 0; k < task.test.size(); ++k) {
      EXPECT_EQ(with.chosen.at(rule).test[k].value, without.chosen.at(rule).test[k].value);
    }
  }
  LoadedModel model = load_model(with.folder, {});
  const std::vector<GroupLogits> validation =
      group_logits(*model.method, model.task, Role::validation);
  EXPECT_EQ(model.temperature, fit_temperature(validation));
  EXPECT_EQ(model.temperature, with.calibration->temperature);
  EXPECT_NE(model.temperature, 1.0);
  EXPECT_NEAR(with.calibration->validation.before.ece, naive_ece(validation[0], 1.0), 1e-6);
  EXPECT_NEAR(with.calibration->validation.after.ece, naive_ece(validation[0], model.temperature),
              1e-6);
  EXPECT_EQ(load_model(without.folder, {}).temperature, 1.0);
  // What summary.json says reads back.
  const RunRecord again = record_from_json(to_json_text(with), "x/summary.json");
  EXPECT_EQ(to_json_text(again), to_json_text(with));
  // Labels of test domains are not looked at.
  for (Domain& domain : task.test) domain.labels.y = (domain.labels.y + 1) % task.classes;
  const RunRecord other =
      train_run(config, task, 1, create_run_folder(folder.file("other"), config, 1));
  EXPECT_EQ(other.calibration->temperature, with.calibration->temperature);
}

TEST(Trust07Calibration, PredictionsAreCalibratedAndRawOnesAreThere) {
  const test::TempFolder folder;
  RunConfig config = small_run();
  const Task task = config.dataset.load({});
  const RunRecord run = train_run(config, task, 1, create_run_folder(folder.path(), config, 1));
  Model model = load(run.folder);
  const double t = model.temperature();
  const Domain& domain = task.test.front();
  const Prediction calibrated = model.predict(domain.graph);
  model.set_temperature(1.0);
  const Prediction raw = model.predict(domain.graph);
  EXPECT_TRUE(torch::equal(calibrated.logits, raw.logits));
  EXPECT_TRUE(torch::equal(calibrated.classes, raw.classes));
  EXPECT_TRUE(torch::equal(raw.probabilities, nn::class_probabilities(raw.logits)));
  const auto p = naive_probabilities(raw.logits, t);
  double entropy = 0.0;
  for (size_t c = 0; c < p[3].size(); ++c) {
    EXPECT_NEAR(calibrated.probabilities[3][static_cast<int64_t>(c)].item<double>(), p[3][c], 1e-6);
    entropy -= p[3][c] * std::log(p[3][c]);
  }
  EXPECT_NEAR(calibrated.entropy[3].item<double>(), entropy, 1e-5);
  // The spread: each sample under the temperature.
  const torch::Tensor samples =
      model.method().sampled_probabilities(domain.graph, torch::arange(domain.graph.items()));
  const int64_t chosen = raw.classes[3].item<int64_t>();
  std::vector<double> each;
  for (int64_t s = 0; s < samples.size(0); ++s) {
    double sum = 0.0;
    for (int64_t c = 0; c < samples.size(2); ++c) {
      sum += std::pow(samples[s][3][c].item<double>(), 1.0 / t);
    }
    each.push_back(std::pow(samples[s][3][chosen].item<double>(), 1.0 / t) / sum);
  }
  double mean = 0.0, square = 0.0;
  for (const double x : each) mean += x / static_cast<double>(each.size());
  for (const double x : each) square += (x - mean) * (x - mean) / static_cast<double>(each.size());
  EXPECT_NEAR(calibrated.spread[3].item<double>(), std::sqrt(square), 1e-5);
}

}  // namespace
}  // namespace grm
