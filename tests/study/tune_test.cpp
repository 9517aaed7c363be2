// Searches: equal budgets, choice by validation alone, fresh seeds for the winner.
#include "study/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::study {
namespace {

using test::error_of;
using testing::HasSubstr;

StudySpec spec(const std::string& tune) {
  return parse_spec(R"(name = "s"
seeds = 3
methods = ["erm", "grm"]
datasets = [{name = "sbm", set = {"dataset.nodes" = 60}}]
[set]
train.epochs = 2
train.test = "every"
)" + tune,
                    "s.toml");
}

const char* kRandom = R"([tune]
trials = 5
seeds = 2
[tune.space]
"method.lr" = [1e-3, 1e-2]
[tune.methods.grm]
method.beta = { low = 0.5, high = 2, log = true }
method.hidden = { low = 4, high = 6 }
)";

std::vector<Setting> settings(const StudySpec& study, size_t method, int64_t trial) {
  return trial_settings(study, study.datasets[0], study.methods[method], study.variants[0], trial);
}

TEST(Tune, EveryMethodGetsTheSameTrialsAndTheFirstIsTheMethodAsItStands) {
  const std::vector<PlannedCell> cells = trial_cells(spec(kRandom));
  std::map<std::string, std::set<int64_t>> trials, seeds;
  for (const PlannedCell& cell : cells) {
    trials[cell.method].insert(cell.trial);
    seeds[cell.method].insert(cell.seed);
    EXPECT_THAT(cell.config, HasSubstr("test = \"never\""));
  }
  EXPECT_EQ(cells.size(), 2u * 5 * 2);
  EXPECT_EQ(trials.at("erm"), (std::set<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(trials.at("grm"), trials.at("erm"));
  EXPECT_EQ(seeds.at("grm"), (std::set<int64_t>{5000, 5001}));
  StudySpec plain = spec("");
  plain.set.push_back({"train.test", "never", ""});
  const auto config = configure(plain, plain.datasets[0], plain.methods[0], plain.variants[0]);
  EXPECT_EQ(cells[0].config, config.to_toml(5000));
}

TEST(Tune, DrawsAreRepeatableInsideTheirBoundsAndDifferByTrial) {
  const StudySpec study = spec(kRandom);
  std::set<std::string> betas, widths, rates;
  double log_sum = 0;
  constexpr int kDraws = 200;
  for (int64_t trial = 1; trial <= kDraws; ++trial) {
    const std::vector<Setting> values = settings(study, 1, trial);
    const std::vector<Setting> again = settings(study, 1, trial);
    ASSERT_EQ(values.size(), 3u);
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(values[k].value, again[k].value);
    EXPECT_EQ(values[0].key, "method.lr");
    rates.insert(values[0].value);
    const double beta = std::stod(values[1].value);
    EXPECT_GE(beta, 0.5);
    EXPECT_LE(beta, 2);
    log_sum += std::log(beta);
    betas.insert(values[1].value);
    widths.insert(values[2].value);
  }
  EXPECT_GT(betas.size(), 150u);
  EXPECT_EQ(widths, (std::set<std::string>{"4", "5", "6"}));
  EXPECT_EQ(rates, (std::set<std::string>{"0.001", "0.01"}));
  // log beta is uniform on [-log 2, log 2]: mean 0, deviation log 2 / sqrt 3; four deviations.
  EXPECT_LT(std::abs(log_sum / kDraws), 4 * std::log(2.0) / std::sqrt(3.0 * kDraws));
}

TEST(Tune, NoTrialRepeatsTheMethodAsItStands) {
  const StudySpec study = spec(R"([tune]
search = "random"
trials = 4
[tune.space]
"method.lr" = [0.01, 0.02]
"method.weight_decay" = [0.001, 0.002]
)");
  std::set<std::string> configs;
  const std::vector<PlannedCell> cells = trial_cells(study);
  for (const PlannedCell& cell : cells) configs.insert(cell.config);
  EXPECT_EQ(configs.size(), cells.size());
}

TEST(Tune, ASmallSpaceIsDrawnWithoutRepeats) {
  const StudySpec study = spec("[tune]\ntrials = 5\nspace.method.lr = [0.1, 0.2, 0.3, 0.4]\n");
  std::set<std::string> rates;
  for (int64_t trial = 1; trial < 5; ++trial) {
    rates.insert(settings(study, 0, trial)[0].value);
  }
  EXPECT_EQ(rates.size(), 4u);
  EXPECT_EQ(settings(study, 0, 5).size(), 1u) << "none is left, one is drawn";
}

TEST(Tune, AGridIsWalkedWholeAndMustBeOfEqualSizeForAllMethods) {
  const StudySpec study = spec(R"([tune]
search = "grid"
[tune.space]
"method.lr" = [0.1, 0.2, 0.3]
"method.hidden" = [4, 8]
)");
  EXPECT_EQ(trial_count(study), 7);
  std::set<std::string> points;
  for (int64_t trial = 1; trial < 7; ++trial) {
    const auto values = settings(study, 0, trial);
    points.insert(values[0].value + " " + values[1].value);
  }
  EXPECT_EQ(points.size(), 6u);
  const auto unequal = spec(R"([tune]
search = "grid"
[tune.space]
"method.lr" = [0.1, 0.2, 0.3]
[tune.methods.grm]
"method.hidden" = [4, 8]
)");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { trial_count(unequal); }),
              HasSubstr("the grid of erm has 3 points and that of grm has 6"));
  EXPECT_THAT(error_of(ErrorKind::config, [] { trial_cells(spec("[tune]\ntrials = 2\n")); }),
              HasSubstr("nothing to tune for erm"));
  EXPECT_THAT(error_of(ErrorKind::config, [] { trial_cells(spec("")); }), HasSubstr("no [tune]"));
  EXPECT_THAT(
      error_of(ErrorKind::config,
               [] { trial_cells(spec("[tune]\ntrials = 2\nspace.method.beta = [1, 2]\n")); }),
      AllOf(HasSubstr("s.toml:10:"), HasSubstr("(for erm on sbm)")));
}

TEST(Tune, TheLargestMeanWinsAndTiesGoToTheLowerTrial) {
  EXPECT_EQ(best_trial({{0, {50, 60}}, {1, {40, 80}}, {2, {55, 56}}}), 1u);
  EXPECT_EQ(best_trial({{3, {50}}, {1, {50}}, {2, {50}}}), 1u);
}

TEST(Tune, OfEqualMeansTheSmallerLossWins) {
  EXPECT_EQ(best_trial({{0, {100, 80}, {0.5, 0.5}}, {1, {90, 90}, {0.1, 0.2}}}), 1u);
  EXPECT_EQ(best_trial({{0, {100}, {0.5}}, {1, {99}, {0.1}}}), 0u);
  EXPECT_EQ(best_trial({{1, {100, 100}, {0.1}}, {0, {100, 100}, {0.3, 0.3}}}), 1u);  // one unknown
}

CellResult scored(double validation, double test) {
  RunRecord record;
  record.chosen["val"] = {1, validation, {{"T1", test}}};
  CellResult result;
  result.record = to_json_text(record);
  return result;
}

TEST(Tune, WinnersAreChosenByValidationWhateverTheTestScores) {
  const test::TempFolder folder;
  StudySpec study = spec("[tune]\ntrials = 3\nspace.method.lr = [0.1, 0.2, 0.3]\n");
  study.methods.pop_back();
  Store store(folder.file("r.db"), Open::create);
  store.plan(study, "trial", trial_cells(study));
  EXPECT_TRUE(winners(store, "s").empty());
  const auto any = [](const CellRow&) { return true; };
  // Validation says trial 1; the scores that must not matter say trial 2.
  const double validation[] = {50, 70, 60}, test[] = {80, 10, 99};
  const std::string me = "x/" + std::to_string(getpid()) + "/1";
  while (const auto cell = store.claim("s", "trial", me, any)) {
    store.finish(cell->id, me, scored(validation[cell->trial], test[cell->trial]));
  }
  const std::vector<Winner> chosen = winners(store, "s");
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].trial, 1);
  EXPECT_EQ(chosen[0].validation, 70);
  EXPECT_EQ(chosen[0].trials, 3);
  ASSERT_EQ(chosen[0].values.size(), 1u);
  EXPECT_EQ(chosen[0].values[0].key, "method.lr");
  EXPECT_EQ(chosen[0].values[0].value, settings(study, 0, 1)[0].value);

  const std::vector<PlannedCell> last = final_cells(study, chosen);
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(last[0].seed, 1000);
  EXPECT_THAT(last[0].config, HasSubstr("test = \"selected\""));
  EXPECT_THAT(last[0].config, HasSubstr("\nlr = " + chosen[0].values[0].value + "\n"));
}

// Runs what is planned: a trial's score on a seed is `score(trial, seed)`; below 0 it fails.
void run_trials(Store& store, const std::function<double(const CellRow&)>& score) {
  const auto any = [](const CellRow&) { return true; };
  const std::string me = "x/" + std::to_string(getpid()) + "/1";
  while (const auto cell = store.claim("s", "trial", me, any)) {
    const double validation = score(*cell);
    if (validation < 0) {
      store.give_up(cell->id, me, "failed", "diverged");
    } else {
      store.finish(cell->id, me, scored(validation, 0));
    }
  }
}

std::vector<std::pair<int64_t, int64_t>> trials_and_seeds(const std::vector<PlannedCell>& cells) {
  std::vector<std::pair<int64_t, int64_t>> list;
  for (const PlannedCell& cell : cells) list.emplace_back(cell.trial, cell.seed);
  return list;
}

TEST(Tune, HalvingGivesFurtherSeedsToTheBetterHalfAlone) {
  const test::TempFolder folder;
  StudySpec study =
      spec("[tune]\ntrials = 5\nseeds = 3\nhalving = 2\nspace.method.lr = [0.1, 0.2, 0.3, 0.4]\n");
  study.methods.pop_back();
  Store store(folder.file("r.db"), Open::create);
  // By hand: 5 trials on seed 5000, of which trial 4 fails; 3 on 5001; 2 on 5002. Trial 3 is best on the
  // first seed, trial 0 over three.
  const double scores[5][3] = {{80, 90, 90}, {70, 95, 0}, {10, 0, 0}, {90, 60, 60}, {-1, 0, 0}};
  const auto score = [&](const CellRow& cell) { return scores[cell.trial][cell.seed - 5000]; };
  const std::vector<std::pair<int64_t, int64_t>> all = {{0, 5000}, {1, 5000}, {2, 5000}, {3, 5000},
                                                        {4, 5000}, {3, 5001}, {0, 5001}, {1, 5001},
                                                        {0, 5002}, {1, 5002}};
  for (const size_t known : {5u, 8u, 10u}) {
    const std::vector<PlannedCell> cells = trial_cells(study, store);
    EXPECT_EQ(trials_and_seeds(cells),
              (std::vector<std::pair<int64_t, int64_t>>(all.begin(), all.begin() + known)));
    store.plan(study, "trial", cells);
    EXPECT_EQ(trial_cells(study, store).size(), known) << "a round that has not ended says nothing";
    run_trials(store, score);
  }
  EXPECT_EQ(trial_cells(study, store).size(), all.size());
  const std::vector<Winner> chosen = winners(store, "s");
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].trial, 0);
  EXPECT_NEAR(chosen[0].validation, 260.0 / 3, 1e-9);
  EXPECT_EQ(chosen[0].trials, 4);
}

TEST(Tune, DrawsOfADatasetGetOneWinnerWhereTheyAreSearchedTogether) {
  const std::string datasets = R"(name = "s"
methods = ["erm"]
[[dataset]]
name = "sbm"
label = "sbm/0"
set.dataset.nodes = 60
[[dataset]]
name = "sbm"
label = "sbm/1"
set.dataset.nodes = 61
[set]
train.epochs = 2
[tune]
trials = 2
space.method.lr = [0.1, 0.2]
)";
  // Apart, draw 0 prefers trial 0 and draw 1 trial 1; together trial 1 has the better mean.
  const double scores[2][2] = {{60, 50}, {55, 70}};
  for (const bool together : {false, true}) {
    const test::TempFolder folder;
    const StudySpec study =
        parse_spec(datasets + (together ? "draws = \"together\"\n" : ""), "s.toml");
    Store store(folder.file("r.db"), Open::create);
    store.plan(study, "trial", trial_cells(study, store));
    run_trials(store,
               [&](const CellRow& cell) { return scores[cell.trial][cell.dataset == "sbm/1"]; });
    const std::vector<Winner> chosen = winners(store, "s");
    ASSERT_EQ(chosen.size(), 2u);
    EXPECT_EQ(chosen[0].dataset, "sbm/0");
    EXPECT_EQ(chosen[0].trial, together ? 1 : 0);
    EXPECT_EQ(chosen[1].trial, 1);
    EXPECT_EQ(chosen[1].validation, together ? 62.5 : 70);
    EXPECT_EQ(final_cells(study, chosen).size(), 2u);
  }
}

TEST(Tune, AMisspeltWordForDrawsIsAnError) {
  EXPECT_THAT(
      error_of(ErrorKind::config, [] { spec("[tune]\ntrials = 2\ndraws = \"togther\"\n"); }),
      HasSubstr("did you mean 'together'"));
  EXPECT_THAT(error_of(ErrorKind::config, [] { spec("[tune]\ntrials = 2\nhalving = 1\n"); }),
              HasSubstr("halving"));
}

TEST(Tune, TrialsHoldNoTestScoresAndTheWinnerIsScoredOnFreshSeeds) {
  const test::TempFolder folder;
  setenv("GRM_CACHE", folder.file("cache").c_str(), 1);
  StudySpec study = spec("[tune]\ntrials = 2\nseeds = 1\nspace.method.lr = [0.05, 0.02]\n");
  study.seeds = 1;
  RunnerOptions options;
  options.database = folder.file("results.db");
  options.runs = folder.file("runs");
  options.jobs = 2;
  options.threads = 1;
  std::vector<std::string> phases;
  RunnerHooks hooks;
  hooks.on_start = [&](const Forecast& ahead) { phases.push_back(ahead.phase); };
  const Outcome outcome = tune_study(study, options, hooks);
  EXPECT_EQ(outcome.states, (std::map<std::string, int64_t>{{"done", 2 * 2 + 2}}));
  EXPECT_EQ(phases, (std::vector<std::string>{"trial", "final"}));
  const Store store(options.database);
  const std::vector<CellRow> trials = store.cells("s", "trial");
  ASSERT_EQ(trials.size(), 4u);
  for (const CellRow& cell : trials) {
    const RunRecord record = cell.run_record();
    EXPECT_GT(record.chosen.at("val").validation, 0);
    for (const auto& [rule, chosen] : record.chosen) EXPECT_TRUE(chosen.test.empty()) << rule;
    EXPECT_EQ(record.chosen.count("oracle"), 0u);
    EXPECT_GE(cell.seed, 5000);
  }
  const std::vector<ResultRow> last = store.results("s", "final");
  ASSERT_EQ(last.size(), 2u);
  for (const ResultRow& row : last) {
    EXPECT_EQ(row.seed, 1000);
    EXPECT_EQ(row.record.chosen.at("val").test.size(), 8u);
  }
  EXPECT_TRUE(store.missing("s").empty());
  EXPECT_EQ(winners(store, "s").size(), 2u);
}

}  // namespace
}  // namespace grm::study
