// What train.batch asks for, of whom, and what it saves.
#include "train/sampling.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/core/context.h"
#include "methods/small_task.h"
#include "support/expect_error.h"
#include "train/memory.h"

namespace grm::sampling_tests {
namespace {

using ::testing::HasSubstr;

RunConfig config(const std::string& dataset, const std::string& method,
                 const std::vector<std::pair<std::string, std::string>>& values) {
  RunConfig config(dataset, method);
  for (const auto& [key, value] : values) config.set(key, value);
  return config;
}

TEST(SamplingOptions, AreForMethodsThatTakeBatches) {
  const auto message = [](const std::string& dataset, const std::string& method,
                          const std::vector<std::pair<std::string, std::string>>& values) {
    return test::error_of(ErrorKind::config, [&] { sampling_of(config(dataset, method, values)); });
  };
  for (const std::string method : {"eerm", "lisa", "mario"}) {
    EXPECT_THAT(message("sbm", method, {{"train.batch", "10"}}),
                HasSubstr("samples are erm, grm, drnn, mmd, arm, isgib"));
  }
  EXPECT_THAT(message("sbm", "erm", {{"train.batch", "10"}, {"method.backbone", "gpr"}}),
              HasSubstr("method.backbone = gcn, sage, gat, gatv2, gin or mlp"));
  EXPECT_THAT(message("spmotif", "erm", {{"train.batch", "10"}}), HasSubstr("method.batch"));
  EXPECT_THAT(message("sbm", "erm", {{"train.fanout", "5,5"}}), HasSubstr("train.batch as well"));
  const Sampling sampling =
      sampling_of(config("sbm", "erm", {{"train.batch", "10"}, {"train.fanout", "5,0"}}));
  EXPECT_EQ(sampling.batch, 10);
  EXPECT_EQ(sampling.fanout, (std::vector<int64_t>{5, 0}));
}

TEST(SamplingOptions, OfRunsThatDoNotUseThemAreNotRecorded) {
  EXPECT_THAT(config("sbm", "erm", {}).to_toml(1), ::testing::Not(HasSubstr("fanout")));
  const std::string used = config("sbm", "erm", {{"train.batch", "10"}}).to_toml(1);
  EXPECT_THAT(used, HasSubstr("batch = 10\nfanout = []"));
  EXPECT_EQ(config_from_toml(used, "a test").train.batch, 10);
}

TEST(SamplingMemory, FollowsTheBatchAndNotTheGraph) {
  const Task task = config("scale", "erm", {{"dataset.nodes", "120000"}}).dataset.load({});
  const auto held = [&](const std::string& method, const std::string& batch) {
    const RunConfig run = config(
        "scale", method, {{"train.batch", batch}, {"train.fanout", batch == "0" ? "[]" : "5,3"}});
    double bytes = 0;
    for (const MemoryPart& part : estimate_memory(run, task, torch::kCPU).parts) {
      if (part.what != "data" && part.what != "program") bytes += part.host;
    }
    return bytes;
  };
  for (const std::string method : {"erm", "isgib", "arm"}) {
    const double whole = held(method, "0"), small = held(method, "200"), more = held(method, "800");
    EXPECT_LT(small, 0.5 * whole) << method;
    EXPECT_LT(small, more) << method;
  }
  const RunConfig whole = config("scale", "erm", {});
  const RunConfig batches =
      config("scale", "erm", {{"train.batch", "1024"}, {"train.fanout", "15,10"}});
  const double needed = estimate_memory(whole, task, torch::kCPU).host();
  context().memory_limit = (needed + estimate_memory(batches, task, torch::kCPU).host()) / 2;
  const std::string message =
      test::error_of(ErrorKind::memory, [&] { check_memory(whole, task, torch::kCPU); });
  context().memory_limit = 0;
  EXPECT_THAT(message, HasSubstr("--set train.batch=1024 --set train.fanout=15,10  (about"));
}

TEST(SamplingGraphs, OfOneDirectionAreNotTrainedOnAsAWhole) {
  Task task = test::small_task();
  auto one_way = std::make_shared<Adjacency>();
  one_way->in = task.training[0].graph.edges->in;
  task.training[0].graph.edges = one_way;
  EXPECT_NO_THROW(check_both_ways(task, {10, {}}));
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { check_both_ways(task, {}); }),
              HasSubstr("--set train.batch=1024"));
  // Samples need no more.
  TrainView view = task.train_view();
  view.sampling = {10, {}};
  const auto method = MethodChoice("erm").build(view, Rng(1));
  view.training = test::small_task().training;
  const auto other = MethodChoice("erm").build(view, Rng(1));
  EXPECT_EQ(method->train_epoch(1)[0].value, other->train_epoch(1)[0].value);
}

}  // namespace
}  // namespace grm::sampling_tests
