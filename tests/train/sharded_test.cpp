// Steps that are cut into shards: the same bits whoever computes them, and the sum of the shards is
// the step on the whole batch wherever nothing but sums goes over it.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <atomic>
#include <cmath>
#include <cstring>

#include "core/files.h"
#include "grm/train/config.h"
#include "methods/graph/batches.h"
#include "nn/recorded_step.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "support/world.h"
#include "train/same_run.h"
#include "train/trainer.h"

namespace grm::sharded_tests {

using Values = std::vector<std::pair<std::string, std::string>>;

struct Case {
  std::string dataset, method, preset;
  Values values;
  std::string name;
};

RunConfig config_of(const Case& each) {
  RunConfig config(each.dataset, each.method, each.preset);
  if (each.dataset == "sbm") {
    config.set("dataset.nodes", "60");
  } else {
    config.set("dataset.train_per_class", "6");
    config.set("dataset.val_per_class", "3");
    config.set("dataset.test_per_class", "2");
  }
  for (const auto& [key, value] : each.values) config.set(key, value);
  return config;
}

// All that training leaves: parameters, running statistics, moments and terms of the loss.
struct Left {
  std::map<std::string, torch::Tensor> tensors;
  std::vector<double> terms;
};

Left train(const RunConfig& config, const Task& task, int64_t shards,
           const std::shared_ptr<dist::Group>& group, int64_t epochs) {
  TrainView view = task.train_view();
  view.sharding = {shards, group};
  view.validate = [&](const Predictor& predict) {
    return mean_score(evaluate(predict, task, Role::validation, group));
  };
  const std::unique_ptr<Method> method = config.method.build(view, Rng(7));
  Left left;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    for (const LossTerm& term : method->train_epoch(epoch)) left.terms.push_back(term.value);
  }
  left.tensors = method->parameters().snapshot();
  for (const nn::Adam* optimiser : method->optimisers()) {
    for (const auto& [name, tensor] : optimiser->state()) left.tensors["moments/" + name] = tensor;
  }
  return left;
}

void expect_same_bits(const Left& a, const Left& b, const std::string& what) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    const torch::Tensor other = b.tensors.at(name);
    ASSERT_EQ(tensor.nbytes(), other.nbytes());
    EXPECT_EQ(std::memcmp(tensor.data_ptr(), other.data_ptr(), tensor.nbytes()), 0)
        << what << ": " << name;
  }
  ASSERT_EQ(a.terms.size(), b.terms.size());
  EXPECT_EQ(std::memcmp(a.terms.data(), b.terms.data(), a.terms.size() * sizeof(double)), 0)
      << what;
}

class Sharded : public testing::TestWithParam<Case> {};

TEST_P(Sharded, HasTheSameBitsOnAnyNumberOfProcesses) {
  if (!dist::can_join()) GTEST_SKIP() << "skipped: built without Gloo";
  const RunConfig config = config_of(GetParam());
  const Task task = config.dataset.load({});
  ASSERT_EQ(config.method.recipe().undivided(), "");
  const Left one = train(config, task, 4, nullptr, 2);
  EXPECT_TRUE(std::isfinite(one.terms.front()));
  for (const int world : {2, 4}) {
    test::as_world(world, [&](const std::shared_ptr<dist::Group>& group) {
      const Left left = train(config, task, 4, group, 2);
      expect_same_bits(left, one, fmt::format("{} processes, rank {}", world, group->rank()));
    });
  }
  // The shards are no decoration: another cut is another arithmetic.
  const Left other = train(config, task, 2, nullptr, 2);
  bool same = true;
  for (const auto& [name, tensor] : one.tensors) {
    same = same && torch::equal(tensor, other.tensors.at(name));
  }
  EXPECT_FALSE(same);
}

// A batch of 5 leaves shards empty, one of 13 is cut unevenly, the last one is smaller than the rest.
INSTANTIATE_TEST_SUITE_P(
    Methods, Sharded,
    testing::Values(
        Case{"sbm", "grm", "", {{"method.batch", "13"}}, "grm"},
        Case{"sbm", "grm", "", {{"method.steps", "0"}, {"method.batch", "40"}}, "grm_all"},
        Case{"sbm", "grm", "", {{"method.batch", "3"}}, "grm_few"},
        Case{"spmotif", "grm", "gin", {{"method.batch", "13"}}, "grm_gin"},
        Case{"spmotif", "grm", "", {{"method.batch", "5"}}, "graph_grm"},
        Case{"spmotif", "erm", "", {{"method.batch", "5"}}, "erm"},
        Case{"spmotif",
             "erm",
             "",
             {{"method.batch", "7"}, {"method.batch_norm", "true"}},
             "erm_norm"},
        Case{"spmotif",
             "erm",
             "",
             {{"method.batch", "7"}, {"method.accumulate", "true"}},
             "erm_sum"},
        Case{"spmotif",
             "erm",
             "",
             {{"method.batch", "7"}, {"method.dropout", "0.3"}},
             "erm_dropout"},
        Case{"spmotif", "dir", "", {{"method.batch", "9"}}, "dir"},
        Case{"spmotif", "gsat", "", {{"method.batch", "9"}}, "gsat"},
        Case{"spmotif", "gil", "", {{"method.batch", "9"}}, "gil"},
        Case{"spmotif", "ciga", "v1", {{"method.batch", "9"}}, "ciga"},
        Case{"spmotif", "ciga", "v2", {{"method.batch", "9"}}, "ciga_hinge"},
        Case{"spmotif",
             "gala",
             "",
             {{"method.batch", "9"}, {"method.assistant_epochs", "1"}, {"method.pe", "0"}},
             "gala"}),
    [](const auto& each) { return each.param.name; });

// A method that can be cut and is not listed above would go untested.
TEST(ShardedMethods, AreAllAmongTheCases) {
  std::vector<std::string> names;
  for (const MethodEntry& entry : methods()) {
    if (entry.make()->undivided().empty())
      names.push_back(entry.name + "/" + to_string(entry.level));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"erm/graph", "dir/graph", "gil/graph", "ciga/graph",
                                             "gala/graph", "gsat/graph", "grm/node", "grm/graph"}));
}

// The gradients that an epoch of one step leaves.
std::map<std::string, torch::Tensor> gradients(const RunConfig& config, const Task& task,
                                               int64_t shards, double& total) {
  TrainView view = task.train_view();
  view.sharding.shards = shards;
  const std::unique_ptr<Method> method = config.method.build(view, Rng(7));
  total = method->train_epoch(1).front().value;
  std::map<std::string, torch::Tensor> all;
  for (const auto& [name, parameter] : method->parameters().parameters()) {
    if (parameter.grad().defined()) all[name] = parameter.grad().clone();
  }
  return all;
}

void expect_whole_batch(const RunConfig& config, const Task& task) {
  double whole = 0, cut = 0;
  const auto expected = gradients(config, task, 1, whole);
  const auto got = gradients(config, task, 3, cut);
  EXPECT_NEAR(cut, whole, 1e-5 * std::abs(whole));
  ASSERT_EQ(expected.size(), got.size());
  for (const auto& [name, gradient] : expected) {
    const double scale = gradient.abs().max().item<double>();
    EXPECT_GT(scale, 0.0) << name;
    EXPECT_LE((gradient - got.at(name)).abs().max().item<double>(), 1e-4 * scale + 1e-8) << name;
  }
}

// 20 of the 24 graphs of which nothing but a mean is taken.
RunConfig plain_erm() {
  Case each{"spmotif", "erm", "", {{"method.batch", "20"}, {"method.batch_norm", "false"}}, ""};
  each.values.push_back({"method.dropout", "0"});
  return config_of(each);
}

Task one_batch(const RunConfig& config) {
  Task task = config.dataset.load({});
  Labels& labels = task.training.front().labels;
  labels.loss = labels.loss.slice(0, 0, 17);  // 5, 6 and 6
  return task;
}

TEST(ShardedStep, IsTheStepOnTheWholeBatch) {
  const RunConfig config = plain_erm();
  expect_whole_batch(config, one_batch(config));
}

TEST(ShardedStep, WeighsKnownLabelsAsTheWholeBatchDoes) {
  const RunConfig config = plain_erm();
  Task task = one_batch(config);
  task.loss = LossKind::multi_label;
  Labels& labels = task.training.front().labels;
  const int64_t n = labels.y.numel();
  torch::Tensor y = labels.y.unsqueeze(1).eq(torch::arange(task.classes)).to(torch::kFloat32);
  // Few of the first graphs are known, all of the last.
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < task.classes; ++c) {
      if ((i * 5 + c * 3) % 17 > i) y[i][c] = std::nanf("");
    }
  }
  labels.y = y;
  expect_whole_batch(config, task);
}

// Running statistics move by the mean of what the shards move them.
TEST(ShardedStep, MovesRunningStatisticsByTheMeanOfTheShards) {
  RunConfig config = plain_erm();
  config.set("method.batch_norm", "true");
  Task task = one_batch(config);
  const torch::Tensor ids = task.training.front().labels.loss;
  const torch::Tensor batch =
      graph_level::epoch_batches(ids, 20, Rng(7).stream("batches", 1)).front();
  const auto statistics = [&](const torch::Tensor& of, int64_t shards) {
    task.training.front().labels.loss = of;
    return train(config, task, shards, nullptr, 1).tensors;
  };
  const auto cut = statistics(ids, 3);
  std::vector<std::map<std::string, torch::Tensor>> alone;
  std::vector<double> shares;
  for (int64_t shard = 0; shard < 3; ++shard) {
    const nn::When when{1, 0, shard, 3};
    alone.push_back(statistics(when.part_of(batch), 1));
    shares.push_back(when.share_of(batch));
  }
  int64_t compared = 0;
  for (const auto& [name, tensor] : cut) {
    const bool mean = name.size() > 5 && name.substr(name.size() - 5) == ".mean";
    const bool first = name.find("moments/") != 0 && mean;
    if (!first) continue;
    torch::Tensor expected = torch::zeros_like(tensor);
    for (size_t s = 0; s < 3; ++s) expected += alone[s].at(name) * shares[s];
    EXPECT_TRUE(torch::allclose(tensor, expected, 1e-4, 1e-6)) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST(ShardedRuns, RefuseWhatCannotBeShared) {
  RunConfig config("sbm", "mmd");
  config.set("train.shards", "2");
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { check_sharding(config, nullptr); }),
              testing::HasSubstr("mmd cannot be cut into shards"));
  RunConfig whole("sbm", "grm");
  whole.set("train.shards", "2");
  EXPECT_NO_THROW(check_sharding(whole, nullptr));
  whole.set("method.scope", "whole");
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { check_sharding(whole, nullptr); }),
              testing::HasSubstr("method.scope = whole"));
}

// A whole run, with choice, test scores and files, on one and on two processes; then one that stops
// on three and goes on alone.
TEST(ShardedRuns, LeaveTheSameFiles) {
  if (!dist::can_join()) GTEST_SKIP() << "skipped: built without Gloo";
  const Case each{"spmotif", "erm", "", {{"method.batch", "10"}, {"train.epochs", "4"}}, ""};
  RunConfig config = config_of(each);
  config.set("train.shards", "6");
  config.set("train.average", "ema");
  const Task task = config.dataset.load({});
  const auto model = [](const RunFolder& folder) {
    return read_file(folder.file("model.safetensors"));
  };
  const auto scores = [](const RunRecord& record) {
    std::vector<double> all;
    for (const auto& [rule, chosen] : record.chosen) {
      all.push_back(static_cast<double>(chosen.epoch));
      all.push_back(chosen.validation);
      for (const DomainScore& s : chosen.test) all.push_back(s.value);
    }
    return all;
  };
  test::TempFolder temp;
  const RunFolder alone = create_run_folder(temp.path() + "/alone", config, 5);
  const RunRecord expected = train_run(config, task, 5, alone);
  const RunFolder shared = create_run_folder(temp.path() + "/shared", config, 5);
  test::as_world(2, [&](const std::shared_ptr<dist::Group>& group) {
    RunHooks hooks;
    hooks.group = group;
    const RunRecord record = train_run(config, task, 5, shared, hooks);
    EXPECT_EQ(scores(record), scores(expected)) << "rank " << group->rank();
  });
  EXPECT_EQ(model(shared), model(alone));
  const RunFolder stopped = create_run_folder(temp.path() + "/stopped", config, 5);
  std::atomic<int> stops{0};
  test::as_world(3, [&](const std::shared_ptr<dist::Group>& group) {
    RunHooks hooks;
    hooks.group = group;
    // One of them is told, all stop after the same epoch.
    hooks.on_epoch = [&](const EpochReport&) {};
    hooks.interrupted = [&] { return group->rank() == 2; };
    try {
      train_run(config, task, 5, stopped, hooks);
    } catch (const Interrupted&) {
      ++stops;
    }
  });
  EXPECT_EQ(stops, 3);
  EXPECT_FALSE(stopped.finished());
  EXPECT_EQ(scores(train_run(config, task, 5, stopped)), scores(expected));
  EXPECT_EQ(model(stopped), model(alone));
}

}  // namespace grm::sharded_tests
