// Counts with a long tail: a few very large ones must neither hide a shift nor make one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "data/helpers.h"
#include "data/shift.h"
#include "grm/core/rng.h"

namespace grm {
namespace {

using ::testing::HasSubstr;

// Counts floor(exp(m + 2 z)) - 1 with normal z: the largest of thousands is a million times the
// median.
Domain draw(const std::string& name, double m, uint64_t seed, bool standardised) {
  constexpr int64_t kNodes = 1500, kWidth = 4;
  const Rng rng(seed);
  torch::Tensor z = torch::empty({kNodes, kWidth});
  rng.stream("counts").fill_normal(z.data_ptr<float>(), kNodes * kWidth);
  Graph graph;
  graph.name = name;
  graph.x.dense = (z * 2 + m).exp().floor().clamp_max(1e4);
  if (standardised) graph.x.dense = (graph.x.dense - 37.25) / 411.5;
  std::vector<int64_t> source, target, y;
  for (int64_t i = 0; i < kNodes; ++i) {
    source.push_back(i);
    target.push_back((i + 1) % kNodes);
    y.push_back(i % 2);
  }
  graph.edges = make_adjacency(kNodes, kNodes, torch::tensor(source), torch::tensor(target));
  return make_domain(graph, torch::tensor(y));
}

Task counts_task(double m, uint64_t seed, bool standardised = false) {
  Task task;
  task.name = "counts";
  task.classes = 2;
  task.training = {draw("a", 0, seed, standardised)};
  task.validation = {draw("v", 0, seed + 1, standardised)};
  task.test = {draw("t", m, seed + 2, standardised)};
  return task;
}

TEST(Trust08ShiftCounts, CountsOfOneLawShowNone) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const ShiftReport report = measure_shift(counts_task(0, 10 * seed));
    EXPECT_EQ(report.count_columns, 4);
    EXPECT_EQ(report.level, ShiftLevel::none) << report.text << "; " << report.domains[1].text;
  }
}

// log(1 + k) of the counts, by a plain loop: what the measure must be.
double expected_difference(const Task& task, int64_t column) {
  const auto law = [&](const Domain& domain) {
    const torch::Tensor x = domain.graph.x.dense;
    double sum = 0, squares = 0;
    const auto n = static_cast<double>(x.size(0));
    for (int64_t i = 0; i < x.size(0); ++i) sum += std::log1p(x[i][column].item<double>());
    for (int64_t i = 0; i < x.size(0); ++i) {
      squares += std::pow(std::log1p(x[i][column].item<double>()) - sum / n, 2);
    }
    return std::pair<double, double>{sum / n, squares / n};
  };
  const auto [mean, variance] = law(task.training[0]);
  const auto [other_mean, other_variance] = law(task.test[0]);
  return (other_mean - mean) / std::sqrt((variance + other_variance) / 2);
}

TEST(Trust08ShiftCounts, AShiftIsFoundInTheMeansAndNotInTheSpread) {
  const Task task = counts_task(1.5, 3);
  const ShiftReport report = measure_shift(task);
  const DomainShift& test = report.domains[1];
  EXPECT_EQ(test.level, ShiftLevel::strong);
  EXPECT_TRUE(test.most == "features" || test.most == "column") << test.text;
  EXPECT_EQ(test.find("spread")->value, 0.0);
  for (const ColumnShift& column : test.columns) {
    EXPECT_NEAR(column.difference, expected_difference(task, column.column), 1e-4);
  }
  EXPECT_GT(test.find("classifier")->value, 0.6);
  EXPECT_EQ(report.domains[0].level, ShiftLevel::none) << report.domains[0].text;
}

TEST(Trust08ShiftCounts, StandardisedCountsAreKnownAsWell) {
  const ShiftReport raw = measure_shift(counts_task(1.5, 3));
  const ShiftReport scaled = measure_shift(counts_task(1.5, 3, true));
  EXPECT_EQ(scaled.count_columns, 4);
  EXPECT_NEAR(scaled.domains[1].find("features")->value, raw.domains[1].find("features")->value,
              1e-2);
}

TEST(Trust08ShiftCounts, OtherColumnsAreLeftAlone) {
  Task task = counts_task(0, 5);
  for (auto* list : {&task.training, &task.validation, &task.test}) {
    torch::Tensor& x = list->front().graph.x.dense;
    x.select(1, 0) = torch::arange(x.size(0)).remainder(90) + 10;  // ages: no tail
    x.select(1, 1) = torch::arange(x.size(0)).remainder(2);        // two values
    x.select(1, 2) = torch::rand({x.size(0)}).pow(9);              // a tail, no counts
  }
  EXPECT_EQ(measure_shift(task).count_columns, 1);
}

// Domains of one law: about half of the scores fall below one half by chance.
TEST(Trust08ShiftCounts, AClassifierIsNeverWorseThanChance) {
  int below = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    for (const DomainShift& shift : measure_shift(counts_task(0, 7 * seed + 1), seed).domains) {
      const ShiftMeasure& score = *shift.find("classifier");
      EXPECT_GE(score.value, 0.5);
      EXPECT_EQ(score.value, std::max(0.5, score.raw));
      EXPECT_EQ(score.level, ShiftLevel::none);
      if (score.raw >= 0.5) continue;
      ++below;
      EXPECT_THAT(shift.text, HasSubstr("no better than chance"));
    }
  }
  EXPECT_GT(below, 0);
}

}  // namespace
}  // namespace grm
