#include "train/scores.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "core/json.h"
#include "grm/core/rng.h"
#include "support/temp_folder.h"
#include "train/bootstrap.h"
#include "train/metrics.h"
#include "train/threshold.h"

namespace grm::scores_tests {

using nlohmann::ordered_json;

struct Case {
  torch::Tensor logits, y;
  double temperature = 1.0;
};

// Random items: few or many, two to six classes, logits of few distinct values in every other case
// (so that scores are equal), and classes that do not occur or are never predicted.
Case random_case(uint64_t number) {
  Stream draw = Rng(number).stream("scores-test");
  const auto n = static_cast<int64_t>(1 + draw.below(number % 4 == 0 ? 8 : 60));
  const auto classes = static_cast<int64_t>(2 + draw.below(5));
  const auto occurring = static_cast<int64_t>(1 + draw.below(static_cast<uint64_t>(classes)));
  Case made{torch::empty({n, classes}, torch::kFloat32), torch::empty({n}, torch::kInt64),
            draw.uniform(0.3, 3.0)};
  for (int64_t i = 0; i < n; ++i) {
    const auto y = static_cast<int64_t>(draw.below(static_cast<uint64_t>(occurring)));
    made.y.data_ptr<int64_t>()[i] = y;
    for (int64_t c = 0; c < classes; ++c) {
      const double value = draw.normal() + (c == y ? 1.0 : 0.0);
      made.logits.data_ptr<float>()[i * classes + c] =
          static_cast<float>(number % 2 == 0 ? std::round(value) : value);
    }
  }
  return made;
}

ordered_json number(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

template <class T>
std::vector<T> listed(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.contiguous();
  return {flat.data_ptr<T>(), flat.data_ptr<T>() + flat.numel()};
}

std::vector<int64_t> rows_of(const ItemCounts& counts) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < counts.size(); ++i) rows.insert(rows.end(), counts[i], i);
  return rows;
}

ordered_json thresholds_of(const Ranking& ranking) {
  ordered_json out = ordered_json::array();
  for (const Wanted wanted : all_values<Wanted>()) {
    for (const double value : {0.3, 0.6, 0.9, 1.0}) {
      const ThresholdChoice choice = choose_threshold(ranking, wanted, value);
      const Called again = called_at(ranking, choice.called.threshold);
      EXPECT_EQ(again.true_positives, choice.called.true_positives);
      EXPECT_EQ(again.false_positives, choice.called.false_positives);
      out.push_back({{"wanted", to_string(wanted)},
                     {"value", value},
                     {"reached", choice.reached ? 1 : 0},
                     {"threshold", choice.called.threshold},
                     {"precision", choice.called.precision()},
                     {"recall", choice.called.recall()}});
    }
  }
  return out;
}

ordered_json case_json(const Case& made, uint64_t seed) {
  const ScoredItems items(made.logits, made.y, made.temperature);
  const torch::Tensor odds = class_log_odds(made.logits, made.temperature);
  ordered_json out = {{"y", listed<int64_t>(made.y)},
                      {"predicted", listed<int64_t>(predicted_class(made.logits))}};
  for (int64_t i = 0; i < odds.size(0); ++i) out["scores"].push_back(listed<double>(odds[i]));
  for (const double value : items.values()) out["values"].push_back(number(value));
  const Confusion confusion = items.confusion();
  for (int64_t t = 0; t < items.classes(); ++t) {
    ordered_json row;
    for (int64_t p = 0; p < items.classes(); ++p) row.push_back(confusion.count(t, p));
    out["confusion"].push_back(row);
    ordered_json curve = ordered_json::array();
    for (const RankPoint& point : items.ranking(t).points()) {
      curve.push_back({point.threshold, point.true_positives, point.false_positives});
    }
    out["curves"].push_back(curve);
  }
  for (const ClassScores& c : items.by_class()) {
    out["classes"].push_back({number(c.precision), number(c.recall), number(c.f1),
                              number(c.roc_auc), number(c.average_precision)});
  }
  const auto positive = made.y[0].item<int64_t>();  // one that occurs
  out["positive"] = positive;
  out["thresholds"] = thresholds_of(items.ranking(positive));
  if (seed % 4 != 1) return out;
  const BootstrapOptions options{12, seed % 8 == 1 ? 95.0 : 80.0, seed};
  const BootstrapIntervals intervals = bootstrap({items}, items, options);
  out["level"] = options.level;
  for (int64_t b = 0; b < options.resamples; ++b) {
    out["resamples"].push_back(rows_of(resample_counts(items.items(), seed, 0, b)));
  }
  for (const Interval& interval : intervals.groups.front()) {
    out["intervals"].push_back({number(interval.low), number(interval.high), interval.resamples});
  }
  return out;
}

TEST(Scores, EqualScikitLearnOn200RandomCases) {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import sklearn' 2> /dev/null").c_str()) != 0) {
    GTEST_SKIP() << "skipped: scikit-learn is not installed (python3-sklearn)";
  }
  ordered_json cases = ordered_json::array();
  for (uint64_t k = 0; k < 200; ++k) cases.push_back(case_json(random_case(k), k));
  const test::TempFolder folder;
  const std::string path = folder.path() + "/cases.json";
  std::ofstream(path) << json_text(cases);
  const std::string script = std::string(GRM_SOURCE_DIR) + "/tests/train/scores_check.py";
  EXPECT_EQ(std::system((python + " " + script + " " + path).c_str()), 0);
}

// log(p / (1 - p)) from probabilities in double, where they are far from 0 and 1.
TEST(Scores, LogOddsAreThoseOfTheTemperedProbabilities) {
  const Case made = random_case(7);
  const torch::Tensor p = torch::softmax(made.logits.to(torch::kFloat64) / made.temperature, 1);
  EXPECT_TRUE(torch::allclose(class_log_odds(made.logits, made.temperature),
                              torch::log(p / (1.0 - p)), 1e-9, 1e-9));
}

// A probability of one in float is not the end of the order.
TEST(Scores, OrderSurvivesWhereProbabilitiesAreOne) {
  const torch::Tensor logits = torch::tensor({{0.0F, 60.0F}, {0.0F, 50.0F}, {0.0F, 55.0F}});
  const ScoredItems items(logits, torch::tensor({1, 0, 1}, torch::kInt64), 1.0);
  EXPECT_EQ(items.values()[static_cast<size_t>(ScoreKind::roc_auc)], 100.0);
}

TEST(Scores, OrderOfItemsWithTheSameNumbersIsATie) {
  const torch::Tensor odds =
      class_log_odds(torch::tensor({{0.1F, 0.7F, 0.3F}, {0.1F, 0.3F, 0.7F}}), 0.7);
  EXPECT_EQ(odds[0][0].item<double>(), odds[1][0].item<double>());
}

TEST(Bootstrap, DrawsWithReplacementAndTheSameForTheSameSeed) {
  const ItemCounts counts = resample_counts(50, 3, 1, 9);
  int64_t sum = 0, none = 0;
  for (const int32_t each : counts) {
    sum += each;
    none += each == 0;
  }
  EXPECT_EQ(sum, 50);
  EXPECT_GT(none, 5);  // about 50 / e are left out
  EXPECT_EQ(counts, resample_counts(50, 3, 1, 9));
  EXPECT_NE(counts, resample_counts(50, 3, 1, 10));
  EXPECT_NE(counts, resample_counts(50, 3, 2, 9));
}

// Items of two groups together: each resample draws within the groups.
TEST(Bootstrap, TogetherIsTheUnionOfTheGroupsResamples) {
  const Case a = random_case(13);
  Case b = random_case(13);
  b.y = (b.y + 1) % b.logits.size(1);
  const std::vector<ScoredItems> groups = {{a.logits, a.y, 1.0}, {b.logits, b.y, 1.0}};
  const ScoredItems all(torch::cat({a.logits, b.logits}), torch::cat({a.y, b.y}), 1.0);
  const BootstrapIntervals found = bootstrap(groups, all, {40, 90.0, 5});
  std::vector<double> accuracies;
  for (int64_t k = 0; k < 40; ++k) {
    double right = 0.0, count = 0.0;
    for (int64_t g = 0; g < 2; ++g) {
      const Case& of = g == 0 ? a : b;
      const torch::Tensor guess = predicted_class(of.logits);
      for (const int64_t i : rows_of(resample_counts(of.y.numel(), 5, g, k))) {
        right += guess[i].item<int64_t>() == of.y[i].item<int64_t>() ? 1.0 : 0.0;
        count += 1.0;
      }
    }
    accuracies.push_back(100.0 * right / count);
  }
  EXPECT_NEAR(found.together.front().low, percentile(accuracies, 5.0), 1e-9);
  EXPECT_NEAR(found.together.front().high, percentile(accuracies, 95.0), 1e-9);
}

}  // namespace grm::scores_tests
