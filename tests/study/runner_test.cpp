// Studies on a small generated graph, run in child processes of this program (see main_test.cpp).
#include "study/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::study {
namespace {

using testing::HasSubstr;

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    setenv("GRM_CACHE", folder_.file("cache").c_str(), 1);
    options_.database = folder_.file("results.db");
    options_.runs = folder_.file("runs");
    options_.jobs = 2;
    options_.threads = 1;
    hooks_.on_cell = [this](const CellRow& cell, const Progress& progress) {
      ended_.push_back(cell_title(cell) + " " + cell.state);
      last_ = progress;
    };
    hooks_.on_start = [this](const Forecast& ahead) { ahead_ = ahead; };
  }

  static StudySpec spec(const std::string& more = "", const std::string& datasets = "\"sbm\"",
                        const std::string& name = "s") {
    return parse_spec("name = \"" + name + "\"\nseeds = 2\nmethods = [\"erm\"]\ndatasets = [" +
                          datasets +
                          "]\nexpected_minutes = 4\n[set]\ntrain.epochs = 3\n"
                          "train.test = \"selected\"\n" +
                          more,
                      "s.toml");
  }
  Outcome run(const StudySpec& study) { return run_study(study, options_, hooks_); }
  size_t finished_folders() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.runs)) {
      count += entry.path().filename() == "summary.json";
    }
    return count;
  }

  test::TempFolder folder_;
  RunnerOptions options_;
  RunnerHooks hooks_;
  Forecast ahead_;
  std::vector<std::string> ended_;
  Progress last_;
};

const char* kSmall = "dataset.nodes = 60\n";

TEST_F(RunnerTest, ResultsAreThoseOfTheSameRunsDoneByHandAndNothingIsRunTwice) {
  const Outcome outcome = run(spec(kSmall));
  EXPECT_EQ(outcome.states, (std::map<std::string, int64_t>{{"done", 2}}));
  EXPECT_THAT(ended_,
              testing::UnorderedElementsAre("sbm erm seed 1000 done", "sbm erm seed 1001 done"));
  EXPECT_EQ(last_.total, 2);
  EXPECT_EQ(ahead_.done, 0);
  EXPECT_EQ(ahead_.seconds, 240);  // what the specification expects
  const std::vector<ResultRow> rows = Store(options_.database).results("s", "run");
  ASSERT_EQ(rows.size(), 2u);

  RunConfig config("sbm", "erm");
  config.set("dataset.nodes", "60");
  config.set("train.epochs", "3");
  config.set("train.test", "selected");
  EXPECT_EQ(rows[1].config, config.to_toml(1001));
  const Task task = config.dataset.load({});
  const RunFolder folder = create_run_folder(folder_.file("by_hand"), config, 1001);
  const RunRecord expected = train_run(config, task, 1001, folder);
  ASSERT_EQ(rows[1].record.chosen.at("val").test.size(), expected.chosen.at("val").test.size());
  for (size_t k = 0; k < expected.chosen.at("val").test.size(); ++k) {
    EXPECT_NEAR(rows[1].record.chosen.at("val").test[k].value,
                expected.chosen.at("val").test[k].value, 1e-9);
  }
  EXPECT_EQ(rows[1].metric, "accuracy");
  EXPECT_THAT(rows[1].environment, HasSubstr("\"threads\": 1"));

  ended_.clear();
  EXPECT_EQ(run(spec(kSmall)).states.at("done"), 2);
  EXPECT_TRUE(ended_.empty());
  EXPECT_EQ(ahead_.done, 2);
  EXPECT_EQ(ahead_.seconds, 0);

  // Another study of the same runs copies them.
  EXPECT_EQ(run(spec(kSmall, "\"sbm\"", "other")).states.at("done"), 2);
  EXPECT_TRUE(ended_.empty());
  EXPECT_EQ(finished_folders(), 2u);
}

// A process goes on with the next cell, on the same data and on other data, and nothing of a cell shows
// in the one after it.
TEST_F(RunnerTest, OneProcessRunsCellAfterCellWithTheResultsOfProcessesOfTheirOwn) {
  const char* datasets =
      "\"sbm\", {name = \"sbm\", label = \"more\", set = {\"dataset.nodes\" = 80}}";
  const StudySpec study = spec("dataset.nodes = 60\ntrain.eval_every = 1\n", datasets);
  std::vector<ResultRow> rows[2];
  for (int apart = 0; apart < 2; ++apart) {
    options_.database = folder_.file(apart ? "apart.db" : "together.db");
    options_.runs = folder_.file(apart ? "apart" : "together");
    options_.jobs = apart ? 4 : 1;
    const Outcome outcome = run(study);
    EXPECT_EQ(outcome.states, (std::map<std::string, int64_t>{{"done", 4}}));
    EXPECT_EQ(outcome.processes, apart ? 4 : 1);
    rows[apart] = Store(options_.database).results("s", "run");
    ASSERT_EQ(rows[apart].size(), 4u);
  }
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(rows[0][k].config, rows[1][k].config);
    const auto test = [&](int apart) { return rows[apart][k].record.chosen.at("val").test; };
    ASSERT_EQ(test(0).size(), test(1).size());
    for (size_t t = 0; t < test(0).size(); ++t) EXPECT_EQ(test(0)[t].value, test(1)[t].value);
    EXPECT_LT(rows[0][k].record.peak_memory_mib, 1.5 * rows[1][k].record.peak_memory_mib);
  }
}

TEST_F(RunnerTest, AProcessThatDiesTakesNoOtherCellWithIt) {
  options_.jobs = 1;
  setenv("GRM_TEST_CRASH", "1000", 1);
  const Outcome outcome = run(spec(kSmall));
  unsetenv("GRM_TEST_CRASH");
  EXPECT_EQ(outcome.states, (std::map<std::string, int64_t>{{"done", 1}, {"failed", 1}}));
  EXPECT_EQ(outcome.processes, 2);
}

TEST_F(RunnerTest, AFailedCellDoesNotStopTheOthersAndIsRetriedOnRequest) {
  setenv("GRM_TEST_CRASH", "1001", 1);
  const StudySpec crash = spec(kSmall);
  const Outcome outcome = run(crash);
  unsetenv("GRM_TEST_CRASH");
  EXPECT_EQ(outcome.states, (std::map<std::string, int64_t>{{"done", 1}, {"failed", 1}}));
  ASSERT_EQ(outcome.failed.size(), 1u);
  EXPECT_EQ(outcome.failed[0].seed, 1001);
  EXPECT_THAT(outcome.failed[0].message, HasSubstr("signal 9"));
  EXPECT_THAT(Store(options_.database).missing("s")[0].reason, HasSubstr("failed: "));

  EXPECT_EQ(run(crash).states.at("failed"), 1) << "not without being asked";
  options_.retry_failed = true;
  EXPECT_EQ(run(crash).states, (std::map<std::string, int64_t>{{"done", 2}}));
}

TEST_F(RunnerTest, AnErrorOfTheRunIsKeptAsItsMessage) {
  options_.runs = folder_.write("a file", "where a folder should be");
  const Outcome outcome = run(spec(kSmall));
  ASSERT_EQ(outcome.failed.size(), 2u);
  EXPECT_THAT(outcome.failed[0].message, HasSubstr("a file/sbm/erm: folder cannot be made"));
}

TEST_F(RunnerTest, MissingDataIsNoFailureAndIsLookedForAgain) {
  options_.data.root = folder_.file("no data");
  Outcome outcome = run(spec("", "\"cora\", {name = \"sbm\", set = {\"dataset.nodes\" = 60}}"));
  EXPECT_EQ(outcome.states, (std::map<std::string, int64_t>{{"done", 2}, {"no_data", 2}}));
  EXPECT_TRUE(outcome.failed.empty());
  ASSERT_EQ(outcome.no_data.size(), 2u);
  EXPECT_THAT(outcome.no_data[1].message, HasSubstr("ind.cora"));
  EXPECT_THAT(Store(options_.database).missing("s")[0].reason, HasSubstr("data is missing: cora"));
  ended_.clear();
  run(spec("", "\"cora\", {name = \"sbm\", set = {\"dataset.nodes\" = 60}}"));
  EXPECT_FALSE(ended_.empty()) << "the data may have come";
}

TEST_F(RunnerTest, AnInterruptedStudyStopsStartingAndGoesOnLater) {
  hooks_.interrupted = [this] { return !ended_.empty(); };
  StudySpec study = spec(kSmall);
  study.seeds = 3;
  options_.jobs = 1;
  const Outcome outcome = run(study);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.states.at("done"), 1);
  EXPECT_EQ(outcome.states.at("todo"), 2);
  hooks_.interrupted = nullptr;
  EXPECT_EQ(run(study).states, (std::map<std::string, int64_t>{{"done", 3}}));
  EXPECT_EQ(finished_folders(), 3u);
}

TEST_F(RunnerTest, MemoryBoundsWhatRunsAtOnceButSomethingAlwaysRuns) {
  options_.memory_mib = 1;
  options_.jobs = 3;
  StudySpec study = spec(kSmall);
  study.seeds = 3;
  size_t most = 0;
  hooks_.on_tick = [&](const Progress& progress) {
    most = std::max(most, progress.running.size());
  };
  EXPECT_EQ(run(study).states.at("done"), 3);
  EXPECT_EQ(most, 1u);
}

}  // namespace
}  // namespace grm::study
