// Steps that a GPU records and replays: they compute what the same steps compute one by one, to the
// bit, and the host hardly does anything.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <optional>

#include "core/stages.h"
#include "devices.h"
#include "graph/kernel_time.h"
#include "grm/methods/method.h"
#include "methods/small_graph_task.h"
#include "methods/small_task.h"
#include "nn/recorded_step.h"

namespace grm::recorded_tests {
namespace {

using test::gpu;
using test::OnDevice;

struct Case {
  std::string method, preset;
  std::vector<std::pair<std::string, std::string>> values;
  int64_t steps;  // recorded steps of an epoch; 0: an epoch does more than its steps
  Level level = Level::node;
};

Task two_domains() {
  Task task = test::small_task();
  task.training.push_back(test::small_domain(5, 30, "e"));
  return task;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"erm", "", {}, 1},
      {"erm", "", {{"update", "per_domain"}}, 1},
      {"erm", "", {{"backbone", "sage"}}, 1},
      {"drnn", "", {{"domains", "natural"}}, 1},
      {"mmd", "", {{"domains", "natural"}}, 1},
      {"mmd", "", {{"domains", "random"}, {"ce_nodes", "support"}}, 1},
      {"irm", "", {{"domains", "natural"}}, 1},
      {"vrex", "", {{"domains", "natural"}}, 1},
      {"groupdro", "", {{"domains", "natural"}}, 1},
      {"coral", "", {{"domains", "natural"}}, 1},
      {"dann", "", {{"domains", "natural"}}, 1},
      {"irm", "", {{"batch", "16"}}, 3, Level::graph},
      {"vrex", "", {{"batch", "16"}}, 3, Level::graph},
      {"groupdro", "", {{"batch", "16"}}, 3, Level::graph},
      {"coral", "", {{"batch", "16"}}, 3, Level::graph},
      {"dann", "", {{"batch", "16"}}, 3, Level::graph},
      {"mixup", "", {}, 1},
      {"mixup", "", {{"batch", "16"}}, 3, Level::graph},
      {"gsat", "", {{"batch", "16"}}, 3, Level::graph},
      {"gsat", "", {{"batch", "16"}, {"attention", "node"}}, 3, Level::graph},
      {"srgnn", "", {}, 1},
      {"leci", "", {{"batch", "16"}}, 3, Level::graph},
      {"leci",
       "",
       {{"batch", "16"}, {"feature_adversary", "1"}, {"information", "1"}},
       3,
       Level::graph},
      {"isgib", "", {}, 1},
      {"arm", "", {{"support", "5"}}, 6},
      {"lisa", "", {}, 2},
      {"eerm", "", {}, 1},
      {"eerm", "", {{"update", "per_domain"}, {"edits", "3"}, {"inner_steps", "2"}}, 2},
      {"eerm", "", {{"editor_memory_mib", "0"}, {"edits", "2"}, {"beta_ramp", "true"}}, 1},
      {"eerm", "", {{"editor_init", "uniform_each_epoch"}, {"conv", "sum"}}, 1},
      {"eerm", "", {{"mode", "random"}, {"edits", "2"}, {"dropout", "0.3"}}, 1},
      {"mario", "", {}, 2},
      {"mario", "", {{"contrast_nodes", "12"}, {"dropout", "0.3"}, {"conv", "sum"}}, 2},
      {"mario", "", {{"ad_aug", "false"}, {"lr_drop", "6"}}, 2},
      {"grm", "paper", {}, 1},
      {"grm", "best", {}, 1},
      {"erm", "", {{"batch", "16"}}, 3, Level::graph},
      {"erm",
       "",
       {{"batch", "16"}, {"layer", "gin"}, {"virtual_node", "true"}, {"dropout", "0.5"}},
       3,
       Level::graph},
      {"erm",
       "",
       {{"batch", "16"}, {"layer", "gcn"}, {"pooling", "log-mean-exp"}},
       3,
       Level::graph},
      {"dir", "", {{"batch", "16"}}, 3, Level::graph},
      {"gil", "", {{"batch", "16"}}, 0, Level::graph},
      {"ciga", "v2", {{"batch", "16"}}, 3, Level::graph},
      {"gala", "", {{"batch", "16"}, {"assistant_epochs", "1"}, {"pe", "1"}}, 0, Level::graph},
      {"grm", "paper", {{"batch", "16"}}, 3, Level::graph},
      {"grm", "best", {{"batch", "16"}}, 3, Level::graph},
      {"grm", "nodes", {{"batch", "16"}, {"presence_warm_up", "10"}}, 3, Level::graph},
  };
  return all;
}

void PrintTo(const Case& each, std::ostream* out) {
  *out << each.method << " " << each.preset;
}

class Recorded : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Method> build() {
    if (GetParam().level == Level::graph) {
      return test::build_graph_method(GetParam().method, task_, GetParam().values, 3,
                                      GetParam().preset);
    }
    MethodChoice choice(GetParam().method, GetParam().preset);
    for (const auto& [key, value] : GetParam().values) choice.options().set("method", key, value);
    return choice.build(task_.train_view(), Rng(3));
  }

  Task task_ = GetParam().level == Level::graph
                   ? test::small_graph_task(LossKind::softmax, /*edge_columns=*/2)
                   : two_domains();
};

TEST_P(Recorded, StepsGiveTheBitsOfTheSameStepsOneByOne) {
  const OnDevice here(gpu());
  std::map<std::string, torch::Tensor> state[2];
  std::vector<double> losses[2];
  for (int plain = 0; plain < 2; ++plain) {
    const std::unique_ptr<Method> method = build();
    // A replay has no stages, so under a recorder of stages every step runs as it is.
    std::optional<StageRecorder> stages;
    if (plain == 1) stages.emplace();
    for (int64_t epoch = 1; epoch <= 6; ++epoch) {
      for (const LossTerm& term : method->train_epoch(epoch)) losses[plain].push_back(term.value);
    }
    state[plain] = method->parameters().snapshot();
  }
  EXPECT_EQ(losses[0], losses[1]);
  for (const auto& [name, tensor] : state[0]) {
    EXPECT_TRUE(torch::equal(tensor, state[1].at(name))) << name;
  }
}

TEST_P(Recorded, TheHostLaunchesAFewThingsAndWaitsOnce) {
  if (GetParam().steps == 0) GTEST_SKIP() << "an epoch does more than its steps";
  const OnDevice here(gpu());
  const std::unique_ptr<Method> method = build();
  int64_t epoch = 0;
  // Every combination of domains that ARM may choose has a record of its own.
  while (epoch < 20) method->train_epoch(++epoch);
  const std::optional<DeviceWork> work = device_work([&] { method->train_epoch(++epoch); });
  ASSERT_TRUE(work.has_value());
  // What changes, the record, what was reported; then all reports in one transfer.
  EXPECT_LE(work->launches, 3 * GetParam().steps + 3);
  EXPECT_GT(work->launches, 0);
  EXPECT_LE(work->waits, 2);  // one, and the profiler's
}

INSTANTIATE_TEST_SUITE_P(Methods, Recorded, testing::ValuesIn(cases()));

// Lists and numbers of a step reach the replays, and what the step makes itself is refused.
TEST(RecordedStep, ChangesReachTheReplays) {
  const OnDevice here(gpu());
  nn::StepRecorder steps(gpu());
  const torch::Tensor x = torch::arange(10, torch::dtype(torch::kFloat64).device(gpu()));
  for (int64_t epoch = 1; epoch <= 5; ++epoch) {
    steps.run({epoch, 0}, [&](nn::Step& step) {
      const torch::Tensor at = step.indices(
          [](const nn::When& when) { return torch::full({2}, when.epoch, torch::kInt64); });
      const torch::Tensor factor =
          step.number([](const nn::When& when) { return 0.5 * static_cast<double>(when.epoch); });
      step.report({(x.index_select(0, at) * factor).sum()});
    });
    EXPECT_DOUBLE_EQ(steps.read().front().front(), static_cast<double>(epoch * epoch));
  }
  EXPECT_EQ(steps.replays(), 3);
}

TEST(RecordedStep, HostNumbersThatTheStepDrewAreRefused) {
  const OnDevice here(gpu());
  nn::StepRecorder steps(gpu());
  int64_t calls = 0;
  for (int64_t epoch = 1; epoch <= 4; ++epoch) {
    steps.run({epoch, 0}, [&](nn::Step& step) {
      const torch::Tensor drawn = torch::full({3}, ++calls, torch::kInt64);
      step.report({on_device(drawn, gpu()).sum().to(torch::kFloat64)});
    });
  }
  const std::vector<std::vector<double>> values = steps.read();
  ASSERT_EQ(values.size(), 4u);
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(values[k][0], 3.0 * static_cast<double>(k + 1));
  EXPECT_EQ(steps.replays(), 0);
  EXPECT_NE(steps.refused().find("drew themselves"), std::string::npos);
}

}  // namespace
}  // namespace grm::recorded_tests
