// GOOD's sets train from end to end: a small network learns what is like its training data.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>

#include "grm/train/config.h"
#include "support/real_data.h"
#include "train/constant.h"
#include "train/evaluate.h"

namespace grm::good_training_tests {
namespace {

// The best of five evaluations on id_val, less the score of training's majority class.
double gain(RunConfig config, int64_t epochs, const std::string& root = "") {
  DataContext context;
  context.root = root;
  config.set("dataset.choose_by", "id_val");
  const Task task = config.dataset.load(context);
  const double constant = mean_score(constant_scores(task, Role::validation));
  const std::unique_ptr<Method> method = config.method.build(task.train_view(), Rng(1));
  double best = 0;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    method->train_epoch(epoch);
    if (epoch % (epochs / 5) != 0) continue;
    best = std::max(best, mean_score(evaluate(*method, task, Role::validation)));
  }
  return best - constant;
}

TEST(GoodTraining, ErmLearnsMotifs) {
  RunConfig config("good-motif", "erm");
  config.set("dataset.part", "0.05");
  EXPECT_GE(gain(config, 20), 15);
}

TEST(GoodTraining, ErmLearnsThePlacesOfCbasOverSeveralEnvironments) {
  const RunConfig config("good-cbas", "erm");
  EXPECT_GE(gain(config, 200), 10);
}

// Two epochs on published files: the loss falls, and validation has a score.
void train_two_epochs(RunConfig config) {
  DataContext context;
  context.root = *test::real_data_root();
  const Task task = config.dataset.load(context);
  const std::unique_ptr<Method> method = config.method.build(task.train_view(), Rng(1));
  const double first = method->train_epoch(1).front().value;
  EXPECT_LT(method->train_epoch(2).front().value, first);
  const double score = mean_score(evaluate(*method, task, Role::validation));
  EXPECT_GT(score, 0);
  EXPECT_LT(score, 100);
}

TEST(GoodTrainingData, ErmTakesTwoEpochsOfDrugsWithSeveralTasks) {
  if (!test::real_data_root()) GTEST_SKIP() << "needs real data: set GRM_DATA";
  RunConfig config("sider", "erm");
  config.set("dataset.part", "0.2");
  train_two_epochs(std::move(config));
}

TEST(GoodTrainingData, ErmTakesTwoEpochsOfWebPages) {
  if (!test::real_data_root()) GTEST_SKIP() << "needs real data: set GRM_DATA";
  train_two_epochs(RunConfig("webkb", "erm"));
}

}  // namespace
}  // namespace grm::good_training_tests
