#include "study/fit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "core/files.h"
#include "grm/core/error.h"
#include "study/fit_runs.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::fit_tests {

using study::Candidate;
using study::FitPlan;
using study::FitRequest;
using study::FitResult;
using study::Tried;

Candidate small(const std::string& name, const std::string& lr, const std::string& epochs) {
  return {name,
          "",
          "erm",
          "kipf",
          {{"dataset.nodes", "40"},
           {"method.hidden", "8"},
           {"method.lr", lr},
           {"train.epochs", epochs}}};
}

FitRequest request_in(const std::string& folder, double minutes = 10.0) {
  FitRequest request;
  request.data = "sbm";
  request.out = folder;
  request.minutes = minutes;
  request.candidates = {small("still", "1e-9", "12"), small("good", "0.01", "12"),
                        small("twin", "0.01", "12"), small("wild", "0.3", "12")};
  return request;
}

std::string weights_of(const FitResult& result) {
  return read_file(result.model);
}

double counted(const FitPlan& plan, const std::vector<double>& seconds) {
  double sum = 0.0;
  for (const size_t k : plan.candidates) sum += seconds[k];
  return sum;
}

TEST(FitPlan, TakesTheRichestScheduleThatFits) {
  const std::vector<double> seconds = {1, 2, 3, 4};
  EXPECT_EQ(study::plan_fit(seconds, 10.0).rungs.front().seeds, 3);  // 30 s of 420
  EXPECT_EQ(study::plan_fit(seconds, 30.0 / 42).rungs.front().seeds, 3);
  EXPECT_EQ(study::plan_fit(seconds, 29.9 / 42).rungs.size(), 3U);  // the second one costs as much
  const FitPlan poor = study::plan_fit(seconds, 5.0 / 42);
  EXPECT_LT(poor.rungs.front().share, 0.2);
  for (const double minutes : {0.05, 0.1, 0.3, 0.5, 1.0, 5.0}) {
    const FitPlan plan = study::plan_fit(seconds, minutes);
    EXPECT_EQ(plan.candidates.size() + plan.left_out.size(), seconds.size());
    EXPECT_TRUE(plan.seconds <= plan.budget || plan.candidates.size() == 1) << minutes;
  }
}

TEST(FitPlan, DearestAreLeftOutAndTheCheapestStays) {
  const std::vector<double> seconds = {50, 1, 900, 2};
  const FitPlan plan = study::plan_fit(seconds, 0.1);
  EXPECT_EQ(plan.left_out, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(study::plan_fit(seconds, 1e-6).candidates, (std::vector<size_t>{1}));
  EXPECT_EQ(counted(plan, seconds), 3.0);
}

TEST(FitPlan, RungsEndWhereThereIsAnEvaluation) {
  RunConfig config("sbm", "erm");
  config.set("train.epochs", "100");
  config.set("train.eval_every", "7");
  EXPECT_EQ(study::epochs_at(config, 0.1), 14);
  EXPECT_EQ(study::epochs_at(config, 0.001), 7);
  EXPECT_EQ(study::epochs_at(config, 1.0), 100);
  EXPECT_EQ(study::epochs_at(config, 0.999), 100);
}

TEST(Portfolio, EveryCandidateOfBothLevelsIsARunOfItsOwn) {
  for (const auto& [level, data] : {std::pair{Level::node, "sbm"}, {Level::graph, "spmotif"}}) {
    std::vector<std::string> texts;
    for (const Candidate& candidate : study::portfolio(level)) {
      texts.push_back(study::config_of(candidate, data, TestScoring::never).to_toml(1));
      EXPECT_NE(texts.back().find("test = \"never\""), std::string::npos);
    }
    std::sort(texts.begin(), texts.end());
    EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
    EXPECT_GE(texts.size(), 10U);
  }
}

TEST(Fit, ScoresOfARungAreTheBestUpToItsEpoch) {
  const std::string log =
      "{\"epoch\":1}\n{\"epoch\":2,\"validation\":50.0,\"validation_loss\":0.9}\n"
      "{\"epoch\":4,\"validation\":60.0,\"validation_loss\":0.8}\n"
      "{\"epoch\":6,\"validation\":60.0,\"validation_loss\":0.7}\n"
      "{\"epoch\":8,\"validation\":99.0,\"validation_loss\":0.1}\n";
  EXPECT_FALSE(study::found_by(log, 1, "x").any);
  EXPECT_EQ(study::found_by(log, 5, "x").loss, 0.8);
  EXPECT_EQ(study::found_by(log, 7, "x").loss, 0.7);  // of equal scores the smaller loss
  EXPECT_EQ(study::found_by(log, 8, "x").validation, 99.0);
}

TEST(Fit, OfErrorsTheSmallestIsTheBest) {
  const std::string log =
      "{\"epoch\":1,\"validation\":5.0,\"validation_loss\":0.9}\n"
      "{\"epoch\":2,\"validation\":2.0,\"validation_loss\":0.8}\n"
      "{\"epoch\":3,\"validation\":4.0,\"validation_loss\":0.7}\n"
      "{\"epoch\":4,\"validation\":1.0,\"validation_loss\":0.1}\n";
  EXPECT_EQ(study::found_by(log, 3, "x", /*errors=*/true).validation, 2.0);
  EXPECT_EQ(study::found_by(log, 3, "x", /*errors=*/true).loss, 0.8);
}

// The model is that of an undisturbed run of the chosen configuration, and so is a second fit's.
TEST(Fit, ChoiceAndModelAreRepeatableToTheBit) {
  const test::TempFolder one, two, three;
  const FitResult first = study::fit(request_in(one.path()), {});
  const FitResult again = study::fit(request_in(two.path()), {});
  EXPECT_EQ(first.chosen, again.chosen);
  EXPECT_EQ(weights_of(first), weights_of(again));
  EXPECT_NE(first.tried[first.chosen].candidate.name, "still");
  EXPECT_NE(first.chosen, 2U);  // the twin of an earlier candidate never wins
  const RunConfig config =
      study::config_of(first.tried[first.chosen].candidate, "sbm", TestScoring::selected);
  const RunRecord& best = first.runs[first.best_run];
  const RunFolder folder = create_run_folder(three.path(), config, best.seed);
  const RunRecord straight = train_run(config, config.dataset.load({}), best.seed, folder);
  EXPECT_EQ(read_file(folder.file("model.safetensors")), weights_of(first));
  EXPECT_EQ(straight.chosen.at("val").validation, best.chosen.at("val").validation);
}

// Halving stops and resumes runs; those that go on end as if they had never stopped.
TEST(Fit, HalvingGivesTheBitsOfUndisturbedRuns) {
  const test::TempFolder one, two;
  const FitResult rich = study::fit(request_in(one.path()), {});
  FitRequest request = request_in(two.path());
  double all = 0.0;
  for (const Tried& tried : study::plan_of(request).tried) all += tried.counted;
  request.minutes = 0.75 * all / 42.0;  // too little for every candidate in full length
  const FitResult poor = study::fit(request, {});
  EXPECT_GT(poor.plan.rungs.size(), 2U);
  EXPECT_TRUE(poor.complete);
  // More minutes in the same folder end where a rich fit does.
  request.minutes = 10.0;
  EXPECT_EQ(weights_of(study::fit(request, {})), weights_of(rich));
}

// The clock ends a search at any epoch: it is said, and the next call ends with the bits of a fit
// that was never stopped.
TEST(Fit, ClockStopsPlainlyAndTheNextCallGoesOn) {
  const test::TempFolder one, two;
  const FitResult whole = study::fit(request_in(one.path()), {});
  for (const int limit : {2, 40, 60}) {
    int epochs = 0;
    study::FitHooks hooks;
    hooks.on_epoch = [&](const EpochReport&) { ++epochs; };
    hooks.time_is_up = [&] { return epochs >= limit; };
    const std::string folder = two.path() + "/" + std::to_string(limit);
    if (limit == 2) {
      EXPECT_THROW(study::fit(request_in(folder), hooks), Error);  // nothing is comparable yet
    } else {
      const FitResult part = study::fit(request_in(folder), hooks);
      EXPECT_EQ(part.complete, false);
      EXPECT_TRUE(std::filesystem::exists(part.model));
    }
    const FitResult resumed = study::fit(request_in(folder), {});
    EXPECT_TRUE(resumed.complete);
    EXPECT_EQ(resumed.chosen, whole.chosen);
    EXPECT_EQ(weights_of(resumed), weights_of(whole));
  }
}

TEST(Fit, SearchRunsHaveNoTestScores) {
  const test::TempFolder folder;
  const FitResult result = study::fit(request_in(folder.path()), {});
  int64_t summaries = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder.path() + "/search")) {
    if (entry.path().filename() != "summary.json") continue;
    const RunRecord record = record_from_json(read_file(entry.path().string()), "summary.json");
    EXPECT_TRUE(record.chosen.at("val").test.empty());
    ++summaries;
  }
  EXPECT_EQ(summaries, 9);  // twins share their runs
  EXPECT_FALSE(result.runs.front().chosen.at("val").test.empty());
}

TEST(Fit, CandidateThatCannotTrainIsLeftOutWithItsReason) {
  const test::TempFolder folder;
  FitRequest request = request_in(folder.path());
  request.candidates.push_back({"broken",
                                "",
                                "erm",
                                "kipf",
                                {{"dataset.nodes", "40"},
                                 {"method.lr", "10"},
                                 {"method.hidden", "8"},
                                 {"train.epochs", "12"},
                                 {"method.weight_decay", "10"},
                                 {"train.average", "swa"},
                                 {"train.validate_on", "largest-tenth"}}});
  const FitResult result = study::fit(request, {});
  EXPECT_FALSE(result.tried.back().problem.empty());
  EXPECT_NE(result.tried[result.chosen].candidate.name, "broken");
}

}  // namespace grm::fit_tests
