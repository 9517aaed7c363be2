#include "train/bench.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/core/context.h"
#include "grm/core/error.h"
#include "methods/small_task.h"

namespace grm {
namespace {

double stage_sum(const BenchReport& report) {
  double sum = 0;
  for (const StageTime& stage : report.stages) sum += stage.seconds;
  return sum;
}

TEST(Bench, StagesOfGrmAddUpToTheEpochAndMostOfItIsMarked) {
  const Task task = test::small_task();
  RunConfig config("sbm", "grm");
  config.set("method.batch", "20");
  BenchOptions options;
  options.epochs = 3;
  const BenchReport report = run_bench(config, task, options);
  EXPECT_EQ(report.epochs, 3);
  EXPECT_GT(report.sgemm_gflops, 0);
  EXPECT_GT(report.copy_gbytes, 0);
  EXPECT_NEAR(stage_sum(report), report.seconds_per_epoch, 1e-9);
  EXPECT_EQ(report.staged_seconds, report.seconds_per_epoch);
  EXPECT_LE(report.fastest_epoch, report.seconds_per_epoch);
  EXPECT_EQ(report.targets_per_epoch, 20);
  EXPECT_EQ(report.evaluated_items, 60);
  EXPECT_GT(report.evaluate_seconds, 0);
  EXPECT_LT(report.stages.back().seconds, 0.5 * report.seconds_per_epoch);
  std::set<std::string> names;
  for (const StageTime& stage : report.stages) names.insert(stage.name);
  for (const char* name : {"sample", "batch", "encode", "generate", "classify", "losses",
                           "backward", "optimiser", "other"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
  ASSERT_TRUE(report.share_of_sgemm().has_value());
  EXPECT_GT(*report.share_of_sgemm(), 0);
}

TEST(Bench, CountsTheInfluentialNodesThatTheMethodFound) {
  const Task task = test::small_task();
  RunConfig config("sbm", "grm");
  config.set("method.batch", "20");
  config.set("method.influence", "sampled");
  config.set("method.influence_members", "2");
  BenchOptions options;
  options.epochs = 1;
  options.evaluate = false;
  const BenchReport report = run_bench(config, task, options);
  double flops = 0;
  for (const WorkTerm& term : report.work->terms) {
    if (term.name == "influence means") flops = term.flops;
  }
  // Two means of width 128, forward and backward; at least one and at most two members a node.
  const double width = 2 * 2 * 128 * 2;
  EXPECT_GE(flops, 30 * 1 * width);
  EXPECT_LE(flops, 30 * 2 * width);
  EXPECT_EQ(report.evaluate_seconds, 0);
}

TEST(Bench, WorksForEveryNodeLevelMethod) {
  const Task task = test::small_task();
  for (const MethodEntry& entry : methods()) {
    if (entry.level != Level::node) continue;
    RunConfig config("sbm", entry.name);
    for (const Option& o : config.method.options().options()) {
      if (o.key == "eerm_epochs" || o.key == "head_epochs") config.set("method." + o.key, "2");
    }
    BenchOptions options;
    options.epochs = 1;
    const BenchReport report = run_bench(config, task, options);
    EXPECT_GT(report.seconds_per_epoch, 0) << entry.name;
    EXPECT_NEAR(stage_sum(report), report.seconds_per_epoch, 1e-9) << entry.name;
    EXPECT_TRUE(report.work.has_value()) << entry.name;
  }
}

TEST(Bench, StopsAfterAnEpochWhenAsked) {
  const Task task = test::small_task();
  const RunConfig config("sbm", "erm");
  BenchOptions options;
  options.epochs = 1000;
  options.interrupted = [] { return true; };
  EXPECT_EQ(run_bench(config, task, options).epochs, 1);
}

TEST(Bench, DoesNotStartWhatWouldNotFit) {
  const Task task = test::small_task();
  const RunConfig config("sbm", "erm");
  context().memory_limit = 1024 * 1024;
  EXPECT_THROW(run_bench(config, task, {}), Error);
  context().memory_limit = 0;
}

TEST(Rates, ArePositive) {
  EXPECT_GT(product_rate(100, 20, 30, torch::kCPU), 0);
  EXPECT_GT(copy_rate(1 << 20, torch::kCPU), 0);
}

}  // namespace
}  // namespace grm
