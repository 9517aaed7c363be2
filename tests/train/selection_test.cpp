#include "grm/train/selection.h"

#include <gtest/gtest.h>

#include "train/summary.h"

namespace grm {
namespace {

TEST(Selection, RulesChooseAsTheirNamesSay) {
  const std::vector<Evaluation> history = {
      {1, 50.0, {60, 60}}, {2, 70.0, {10, 20}}, {3, 70.0, {90, 80}}, {4, 65.0, {40, 40}}};
  EXPECT_EQ(choose(Selection::val, history), 1u);  // the first of two equal maxima
  EXPECT_EQ(choose(Selection::oracle, history), 2u);
  EXPECT_EQ(choose(Selection::last, history), 3u);
}

TEST(Selection, OfEqualScoresTheSmallestLossIsChosen) {
  EXPECT_EQ(choose_by_validation({90, 100, 100, 100}, {0.1, 0.5, 0.2, 0.3}), 2u);
  EXPECT_EQ(choose_by_validation({100, 99}, {0.5, 0.1}), 0u);       // the score comes first
  EXPECT_EQ(choose_by_validation({100, 100}, {0.2, 0.2}), 0u);      // then the first epoch
  EXPECT_EQ(choose_by_validation({100, 100}, {kNoLoss, 0.2}), 0u);  // an unknown loss decides
  EXPECT_EQ(choose_by_validation({100, 100}, {0.2, kNoLoss}), 0u);  // nothing
  const std::vector<Evaluation> history = {{1, 100.0, {}, 0.3}, {2, 100.0, {}, 0.1}};
  EXPECT_EQ(choose(Selection::val, history), 1u);
}

TEST(Selection, ChoiceByValidationDoesNotMoveWithTestScores) {
  std::vector<Evaluation> history = {{1, 50.0, {1}}, {2, 70.0, {2}}, {3, 60.0, {3}}};
  const size_t before = choose(Selection::val, history);
  for (Evaluation& e : history) e.test[0] = 100.0 - e.test[0];
  EXPECT_EQ(choose(Selection::val, history), before);
}

std::vector<Evaluation> scored(const std::vector<double>& validation) {
  std::vector<Evaluation> history;
  for (const double v : validation) {
    history.push_back({static_cast<int64_t>(history.size()) + 1, v, {}});
  }
  return history;
}

TEST(EarlyStop, NoGainCountsEvaluationsSinceTheBest) {
  EXPECT_FALSE(stops_early(StopRule::no_gain, 2, 0, scored({5, 7, 6})));
  EXPECT_TRUE(stops_early(StopRule::no_gain, 2, 0, scored({5, 7, 6, 7})));
  EXPECT_FALSE(stops_early(StopRule::no_gain, 0, 0, scored({5, 1, 1, 1, 1})));
  std::vector<Evaluation> history = scored({7, 7, 7});
  for (size_t k = 0; k < 3; ++k) history[k].validation_loss = 1.0 - 0.1 * static_cast<double>(k);
  EXPECT_EQ(choose(Selection::val, history), 2u);
  EXPECT_TRUE(stops_early(StopRule::no_gain, 2, 0, history));  // a smaller loss is no gain
}

TEST(EarlyStop, BelowMeanComparesWithTheScoresBeforeIt) {
  EXPECT_FALSE(stops_early(StopRule::below_mean, 2, 0, scored({6, 5})));    // two scores come first
  EXPECT_TRUE(stops_early(StopRule::below_mean, 2, 0, scored({9, 4, 6})));  // 6 < 6.5
  EXPECT_FALSE(stops_early(StopRule::below_mean, 2, 0, scored({8, 4, 6})));  // 6 is not below 6
  EXPECT_FALSE(stops_early(StopRule::below_mean, 2, 3, scored({9, 4, 6})));  // still warming up
}

TEST(Summary, MeanAndSampleDeviation) {
  const MeanStd value = mean_std({1.0, 2.0, 4.0});
  EXPECT_NEAR(value.mean, 7.0 / 3, 1e-12);
  EXPECT_NEAR(value.std, 1.5275252316519468, 1e-12);  // sqrt(7 / 3)
  EXPECT_EQ(mean_std({3.0}).std, 0.0);
}

TEST(Summary, MinIsTheSmallestMeanAndAvgTheMeanOfMeans) {
  std::vector<RunRecord> runs(2);
  runs[0].chosen["val"] = {3, 80.0, {{"a", 60.0}, {"b", 90.0}}};
  runs[1].chosen["val"] = {5, 82.0, {{"a", 80.0}, {"b", 50.0}}};
  const Summary s = summarise(runs, "val");
  EXPECT_DOUBLE_EQ(s.test[0].score.mean, 70.0);
  EXPECT_DOUBLE_EQ(s.test[1].score.mean, 70.0);
  EXPECT_DOUBLE_EQ(s.min, 70.0);
  EXPECT_DOUBLE_EQ(s.avg, 70.0);
  EXPECT_DOUBLE_EQ(s.min_per_run.mean, 55.0);  // (60 + 50) / 2
  EXPECT_EQ(s.epochs, (std::vector<int64_t>{3, 5}));
}

}  // namespace
}  // namespace grm
