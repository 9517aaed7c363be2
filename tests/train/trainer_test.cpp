// One run from start to summary: what it leaves behind, and that stopping anywhere changes nothing.
#include "train/trainer.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "grm/core/error.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "train/checkpoint.h"
#include "train/constant.h"
#include "train/divergence.h"
#include "train/evaluate.h"

namespace grm {
namespace {

class Training : public testing::TestWithParam<std::string> {
 protected:
  Training() : config_("sbm", spec().substr(0, 3), spec().size() > 3 ? spec().substr(4) : "") {
    setenv("GRM_CACHE", cache_.path().c_str(), 1);
    config_.set("dataset.nodes", "150");
    config_.set("train.epochs", "7");
    config_.set("train.eval_every", "2");
    config_.set("train.checkpoint_seconds", "0");
    task_ = config_.dataset.load({});
  }
  static std::string spec() { return GetParam(); }

  // The content of a run that must not depend on when it was stopped: the model's bytes and the
  // metrics without their timings.
  static std::pair<std::string, std::string> essence(const RunFolder& folder) {
    std::string metrics;
    std::istringstream lines(read_file(folder.file("metrics.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      auto j = nlohmann::ordered_json::parse(line);
      j.erase("seconds");
      metrics += j.dump() + "\n";
    }
    return {read_file(folder.file("model.safetensors")), metrics};
  }

  test::TempFolder cache_, runs_;
  RunConfig config_;
  Task task_;
};

// A diverged model must end a run with a message, not with a meaningless score or an endless loop.
TEST_P(Training, PredictionsThatAreNotNumbersAreAnErrorWithEveryMetric) {
  for (const MetricKind metric :
       {MetricKind::accuracy, MetricKind::roc_auc, MetricKind::macro_f1}) {
    task_.metric = metric;
    const auto broken = [&](const Graph&, const torch::Tensor& nodes) {
      torch::Tensor logits = torch::zeros({nodes.numel(), task_.classes});
      logits[1] = NAN;
      return logits;
    };
    const std::string message =
        test::error_of(ErrorKind::config, [&] { evaluate(broken, task_, Role::validation); });
    EXPECT_NE(message.find(task_.validation[0].group), std::string::npos) << message;
  }
}

TEST_P(Training, StoppedAfterAnyEpochAndResumedEndsWithTheSameBits) {
  const RunFolder straight = create_run_folder(runs_.path(), config_, 1);
  const RunRecord expected = train_run(config_, task_, 1, straight);
  for (int64_t stop = 1; stop < 7; stop += 2) {
    const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
    RunHooks hooks;
    int64_t seen = 0;
    hooks.on_epoch = [&](const EpochReport& r) { seen = r.epoch; };
    hooks.interrupted = [&] { return seen == stop; };
    EXPECT_THROW(train_run(config_, task_, 1, folder, hooks), Interrupted);
    EXPECT_FALSE(folder.finished());
    // Lines written after the last checkpoint by a process that was then killed.
    std::ofstream(folder.file("metrics.jsonl"), std::ios::app) << "{\"epoch\": 99, \"sec";
    const RunRecord record = train_run(config_, task_, 1, folder);
    EXPECT_EQ(essence(folder), essence(straight));
    EXPECT_EQ(record.chosen.at("val").epoch, expected.chosen.at("val").epoch);
  }
}

TEST_P(Training, EverySelectionRuleIsRecordedAndTheModelIsTheChosenOne) {
  const RunFolder folder = create_run_folder(runs_.path(), config_, 2);
  const RunRecord record = train_run(config_, task_, 2, folder);
  ASSERT_EQ(record.chosen.size(), 3u);
  EXPECT_EQ(record.chosen.at("last").epoch, 7);
  EXPECT_EQ(record.chosen.at("val").test.size(), 8u);
  EXPECT_GT(record.chosen.at("val").validation_loss, 0.0);
  EXPECT_EQ(record_from_json(to_json_text(record), "again").chosen.at("val").validation_loss,
            record.chosen.at("val").validation_loss);
  EXPECT_NE(read_file(folder.file("metrics.jsonl")).find("validation_loss"), std::string::npos);
  LoadedModel model = load_model(folder.path(), {});
  EXPECT_EQ(model.epoch, record.chosen.at("val").epoch);
  const std::vector<DomainScore> again = evaluate(*model.method, model.task, Role::test);
  for (size_t k = 0; k < again.size(); ++k) {
    EXPECT_EQ(again[k].value, record.chosen.at("val").test[k].value) << again[k].domain;
  }
  for (const char* name : {"config.toml", "env.json", "metrics.jsonl", "summary.json",
                           "model.safetensors", "state.safetensors"}) {
    EXPECT_TRUE(folder.has(name)) << name;
  }
}

TEST_P(Training, FinishedRunsAreReadBackAndFoundByTheirConfiguration) {
  const RunFolder folder = create_run_folder(runs_.path(), config_, 3);
  const RunRecord record = train_run(config_, task_, 3, folder);
  EXPECT_EQ(find_run_folder(runs_.path(), config_, 3).path(), folder.path());
  EXPECT_EQ(find_run_folder(runs_.path(), config_, 4).path(), "");
  const RunRecord back = train_run(config_, task_, 3, folder);
  EXPECT_EQ(to_json_text(back), to_json_text(record));
  config_.set("method.lr", "0.5");
  EXPECT_EQ(find_run_folder(runs_.path(), config_, 3).path(), "");
}

INSTANTIATE_TEST_SUITE_P(Methods, Training, testing::Values("erm", "grm", "grm:centred"),
                         [](const auto& each) {
                           return each.param == "grm:centred" ? "grm_centred" : each.param;
                         });

class TrainingErm : public Training {};
INSTANTIATE_TEST_SUITE_P(Erm, TrainingErm, testing::Values("erm"));

TEST_P(TrainingErm, WhenTestDomainsAreScoredDoesNotChangeTheResult) {
  std::map<std::string, RunRecord> records;
  for (const std::string when : {"every", "selected", "never"}) {
    config_.set("train.test", when);
    const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
    records[when] = train_run(config_, task_, 1, folder);
    const bool logged =
        read_file(folder.file("metrics.jsonl")).find("test_for_analysis") != std::string::npos;
    EXPECT_EQ(logged, when == "every") << when;
  }
  const Chosen& every = records["every"].chosen.at("val");
  const Chosen& selected = records["selected"].chosen.at("val");
  EXPECT_EQ(every.epoch, selected.epoch);
  ASSERT_EQ(every.test.size(), selected.test.size());
  for (size_t k = 0; k < every.test.size(); ++k) {
    EXPECT_EQ(every.test[k].value, selected.test[k].value);
  }
  EXPECT_EQ(records["selected"].chosen.size(), 1u);
  EXPECT_TRUE(records["never"].chosen.at("val").test.empty());
  EXPECT_EQ(records["never"].chosen.at("val").validation, every.validation);
}

TEST_P(TrainingErm, ARunWithoutTestDomainsTrainsAndSelects) {
  config_.set("train.test", "never");
  const RunRecord with = train_run(config_, task_, 1, create_run_folder(runs_.path(), config_, 1));
  task_.test.clear();
  const RunRecord without =
      train_run(config_, task_, 1, create_run_folder(runs_.path(), config_, 1));
  EXPECT_EQ(with.chosen.at("val").validation, without.chosen.at("val").validation);
}

TEST_P(TrainingErm, TheOracleRuleNeedsTestScoresAtEveryEvaluation) {
  config_.set("train.test", "selected");
  config_.set("train.selection", "oracle");
  EXPECT_THROW(train_run(config_, task_, 1, create_run_folder(runs_.path(), config_, 1)), Error);
}

TEST_P(TrainingErm, PatienceStopsEarly) {
  config_.set("train.epochs", "500");
  config_.set("train.eval_every", "1");
  config_.set("train.patience", "3");
  const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
  const RunRecord record = train_run(config_, task_, 1, folder);
  EXPECT_TRUE(record.stopped_early);
  // It counts from the first of the best scores; chosen is that of them with the smallest loss.
  std::istringstream lines(read_file(folder.file("metrics.jsonl")));
  int64_t first = 0, chosen = 0;
  double best = -1.0, loss = 0.0;
  for (std::string line; std::getline(lines, line);) {
    const auto j = nlohmann::json::parse(line);
    const double score = j["validation"], its_loss = j["validation_loss"];
    if (score > best) first = j["epoch"];
    if (score > best || (score == best && its_loss < loss)) {
      chosen = j["epoch"];
      best = score;
      loss = its_loss;
    }
  }
  EXPECT_EQ(record.epochs, first + 3);
  EXPECT_EQ(record.chosen.at("val").epoch, chosen);
}

// Epoch 4 takes the first small step, so its own loss is still the same and that of epoch 5 is not.
TEST_P(TrainingErm, LearningRatesFallBehindTheMilestone) {
  const auto losses = [&](const char* milestone) {
    config_.set("train.milestone", milestone);
    const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
    train_run(config_, task_, 1, folder);
    std::vector<double> all;
    std::istringstream lines(read_file(folder.file("metrics.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      all.push_back(nlohmann::json::parse(line)["loss"]["total"]);
    }
    return all;
  };
  const std::vector<double> plain = losses("0"), falls = losses("3"), late = losses("7");
  EXPECT_EQ(plain, late);
  ASSERT_EQ(plain.size(), 7u);
  for (size_t epoch = 1; epoch <= 4; ++epoch) EXPECT_EQ(plain[epoch - 1], falls[epoch - 1]);
  EXPECT_NE(plain[4], falls[4]);
  EXPECT_LT(std::abs(falls[4] - falls[3]), 0.5 * std::abs(plain[4] - plain[3]));
}

TEST_P(TrainingErm, ADamagedCheckpointIsAnErrorAndStaysAsItIs) {
  const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
  write_file_atomic(folder.file("env.json"), environment_json(task_));
  write_file_atomic(folder.file("state.safetensors"), "not a checkpoint");
  EXPECT_THROW(train_run(config_, task_, 1, folder), Error);
  EXPECT_EQ(read_file(folder.file("state.safetensors")), "not a checkpoint");
}

TEST_P(TrainingErm, EnoughEndsTheRunAtTheFirstEvaluation) {
  const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
  RunHooks hooks;
  hooks.enough = [] { return true; };  // evaluations are every second epoch
  const RunRecord record = train_run(config_, task_, 1, folder, hooks);
  EXPECT_EQ(record.epochs, 2);
  EXPECT_TRUE(record.stopped_early);
  EXPECT_TRUE(folder.finished());
}

TEST_P(TrainingErm, ARunDoesNotGoOnWithOtherData) {
  const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
  RunHooks hooks;
  hooks.interrupted = [] { return true; };
  EXPECT_THROW(train_run(config_, task_, 1, folder, hooks), Interrupted);
  task_.hashes["file.csv"] = "changed";
  EXPECT_THROW(train_run(config_, task_, 1, folder), Error);
}

TEST_P(TrainingErm, ALossThatIsNotFiniteStopsTheRunWithAHint) {
  config_.set("method.lr", "10");
  config_.set("method.batch_norm", "false");
  task_.training[0].graph.x.dense = task_.training[0].graph.x.dense / 0.0;
  try {
    train_run(config_, task_, 1, create_run_folder(runs_.path(), config_, 1));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("numbers up to inf (domain"), std::string::npos)
        << error.what();
  }
}

TEST(Trust19Features, TheLearningRateIsBlamedForOrdinaryDataOnly) {
  RunConfig config("sbm", "erm");
  config.set("dataset.nodes", "100");
  Task task = config.dataset.load({});
  EXPECT_EQ(huge_numbers(task), "");
  EXPECT_EQ(divergence_advice(task, "10"), "a smaller method.lr (now 10) usually helps");
  Features& x = task.test.back().graph.x;
  ASSERT_TRUE(x.dense.defined());
  x.dense = x.dense.clone();
  x.dense[3][1] = -1e30;
  const std::string expected = "numbers up to 1e+30 (domain '" + task.test.back().name +
                               "', column " + std::to_string(x.sparse_width() + 1);
  EXPECT_NE(huge_numbers(task).find(expected), std::string::npos) << huge_numbers(task);
  EXPECT_EQ(divergence_advice(task, "10"), huge_numbers(task));
}

TEST(ConstantScores, AreTheTrainingMajority) {
  RunConfig config("sbm", "erm");
  const Task task = config.dataset.load({});
  const torch::Tensor y = task.training[0].labels.y;
  const double share = torch::bincount(y).max().item<double>() / static_cast<double>(y.numel());
  for (const DomainScore& s : constant_scores(task, Role::test)) {
    EXPECT_NEAR(s.value, 100 * share, 1e-9);  // the labels are the same in all domains
  }
}

// Labels by hand: training has 0 0 1, test domain a has 1 1 0 1, b and c, scored together, 0 1 1.
TEST(Trust06Constant, EachTestDomainsOwnMajorityIsScoredToo) {
  const auto domain = [](const std::string& name, const std::string& group,
                         const std::vector<int64_t>& y) {
    Domain d;
    d.name = name;
    d.group = group;
    d.labels.y = torch::tensor(y);
    d.labels.loss = d.labels.evaluate = torch::arange(static_cast<int64_t>(y.size()));
    return d;
  };
  Task task;
  task.classes = 2;
  task.training = {domain("t", "t", {0, 0, 1})};
  task.test = {domain("a", "a", {1, 1, 0, 1}), domain("b", "late", {0}),
               domain("c", "late", {1, 1})};
  const auto values = [](const std::vector<DomainScore>& scores) {
    std::vector<double> list;
    for (const DomainScore& s : scores) list.push_back(std::round(s.value * 100) / 100);
    return list;
  };
  using List = std::vector<double>;
  task.metric = MetricKind::accuracy;
  EXPECT_EQ(values(constant_scores(task, Role::test)), (List{25, 33.33}));
  EXPECT_EQ(values(own_constant_scores(task, Role::test)), (List{75, 66.67}));
  // F1 of a class that is always answered is 2p / (1 + p), of the other one 0.
  task.metric = MetricKind::macro_f1;
  EXPECT_EQ(values(constant_scores(task, Role::test)), (List{20, 25}));
  EXPECT_EQ(values(own_constant_scores(task, Role::test)), (List{42.86, 40}));
  task.metric = MetricKind::roc_auc;
  EXPECT_EQ(values(constant_scores(task, Role::test)), (List{50, 50}));
  EXPECT_EQ(values(own_constant_scores(task, Role::test)), (List{50, 50}));
  EXPECT_EQ(constant_answers(task, Role::test).size(), 1u);

  RunRecord record;
  record.constant_own = {{"a", 75}};
  EXPECT_EQ(record_from_json(to_json_text(record), "x").constant_own[0].value, 75);
  nlohmann::json older = nlohmann::json::parse(to_json_text(record));
  older.erase("constant_own");
  EXPECT_TRUE(record_from_json(older.dump(), "x").constant_own.empty());
}

}  // namespace
}  // namespace grm
