#include "study/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace grm::study {
namespace {

using testing::HasSubstr;
using testing::Not;

ResultRow run(const std::string& dataset, const std::string& method, int64_t seed,
              std::vector<double> scores, const std::string& variant = "kipf") {
  ResultRow row;
  row.study = "tiny";
  row.dataset = dataset;
  row.method = method;
  row.variant = variant;
  row.seed = seed;
  row.metric = "accuracy";
  row.record.seed = seed;
  row.record.epochs = 100;
  row.record.seconds_per_epoch = 0.5;
  row.record.parameters = 42;
  row.record.peak_memory_mib = 300 + static_cast<double>(seed);
  Chosen chosen{10, 80.0, {}};
  for (size_t k = 0; k < scores.size(); ++k) {
    chosen.test.push_back({std::string(1, static_cast<char>('A' + k)), scores[k]});
  }
  row.record.chosen["val"] = chosen;
  return row;
}

std::vector<ResultRow> two_methods() {
  return {run("toy", "grm", 1, {70, 69}), run("toy", "grm", 2, {72, 67}),
          run("toy", "grm", 3, {77, 72}), run("toy", "erm", 3, {64, 72}),
          run("toy", "erm", 2, {62, 68}), run("toy", "erm", 1, {60, 70})};
}

// Of errors the largest is the worst. A: 2.5 on average, B: 3.5; per run 5 and 4.
TEST(Table, TheWorstOfErrorsIsTheLargest) {
  std::vector<ResultRow> rows = {run("toy", "erm", 1, {1, 3}), run("toy", "erm", 2, {4, 2})};
  for (ResultRow& row : rows) {
    row.metric = "rmse";
    for (DomainScore& score : row.record.chosen["val"].test) score.error = true;
  }
  rows[0].record.chosen["val"].test[1].value = 5;  // B: 3.5
  const Cell cell = make_table(rows, {}, {}).blocks[0].datasets[0].cells[0];
  EXPECT_EQ(cell.min_domain, "B");
  EXPECT_NEAR(cell.min.ours.mean, 3.5, 1e-12);
  EXPECT_NEAR(cell.min_per_run.mean, 4.5, 1e-12);
}

// All numbers by hand. erm: A 62, B 70, per-run averages 65, 65, 68. grm: A 73, B 69 1/3,
// averages 69.5, 69.5, 74.5; differences 4.5, 4.5, 6.5, so t = 7.75 with 2 degrees of freedom.
TEST(Table, NumbersByHand) {
  const ScoreTable table = make_table(two_methods(), {}, {});
  ASSERT_EQ(table.blocks.size(), 1u);
  const Block& block = table.blocks[0];
  EXPECT_EQ(block.name, "kipf");
  EXPECT_EQ(block.methods, (std::vector<std::string>{"erm", "grm"}));  // as published tables do
  const Cell& erm = block.datasets[0].cells[0];
  EXPECT_EQ(erm.runs, 3);
  EXPECT_EQ(erm.min_domain, "A");
  EXPECT_NEAR(erm.min.ours.mean, 62, 1e-12);
  EXPECT_NEAR(erm.min.ours.std, 2, 1e-12);
  EXPECT_NEAR(erm.avg.ours.mean, 66, 1e-12);
  EXPECT_NEAR(erm.avg.ours.std, std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(erm.min_per_run.mean, 62, 1e-12);
  EXPECT_FALSE(erm.test.has_value());
  const Cell& grm = block.datasets[0].cells[1];
  EXPECT_EQ(grm.min_domain, "B");
  EXPECT_NEAR(grm.min.ours.mean, 208.0 / 3, 1e-12);
  EXPECT_NEAR(grm.min.ours.std, std::sqrt(19.0 / 3), 1e-12);
  EXPECT_NEAR(grm.avg.ours.mean, 213.5 / 3, 1e-12);
  EXPECT_EQ(grm.test->pairs, 3);
  EXPECT_NEAR(grm.test->difference, 15.5 / 3, 1e-12);
  EXPECT_NEAR(grm.test->p.value(), 1 - 7.75 / std::sqrt(2 + 7.75 * 7.75), 1e-12);
  EXPECT_EQ(grm.mark, 1);
  EXPECT_DOUBLE_EQ(grm.train_seconds.mean, 50.0);
  EXPECT_DOUBLE_EQ(grm.peak_memory_mib, 303.0);
}

TEST(Table, MarksTheWorseMethodToo) {
  TableOptions options;
  options.against = "grm";
  const ScoreTable table = make_table(two_methods(), {}, options);
  EXPECT_EQ(table.blocks[0].datasets[0].cells[0].mark, -1);
}

TEST(Table, ReferenceMayCarryAPreset) {
  const ScoreTable table =
      make_table({run("toy", "erm:as-coded", 1, {60}), run("toy", "erm:as-coded", 2, {61}),
                  run("toy", "grm", 1, {70}), run("toy", "grm", 2, {71})},
                 {}, {});
  EXPECT_EQ(table.blocks[0].datasets[0].cells[1].test->p.value(), 0.0);
}

TEST(Table, TheShortExportOfTrialsSaysWhatEachSetsOnAllItsSeeds) {
  std::vector<ResultRow> rows = {run("toy", "erm", 1, {50}), run("toy", "erm", 1, {60}),
                                 run("toy", "erm", 2, {70})};
  rows[0].config = "seed = 1\n\n[method]\nlr = 0.1\ndropout = 0\n";
  rows[1].trial = rows[2].trial = 1;
  rows[1].config = "seed = 1\n\n[method]\nlr = 0.2\ndropout = 0\n";
  rows[2].config = "seed = 2\n\n[method]\nlr = 0.2\ndropout = 0\n";  // trial 0 did not run on it
  const std::string text = export_runs(rows);
  EXPECT_THAT(text, HasSubstr("toy,erm,kipf,0,,1,"));
  EXPECT_THAT(text, HasSubstr("toy,erm,kipf,1,lr = 0.2,1,"));
  EXPECT_THAT(text, HasSubstr("toy,erm,kipf,1,lr = 0.2,2,"));
}

// Domains of two draws have nothing in common but their names. By hand: B is worst in draw 0 (30, 50), A in draw 1 (40, 42),
// so Min is 40.5 over the four runs; pooled by name it would be A's 55.5.
TEST(Table, MinLooksForTheWorstDomainInEachDrawOfTheData) {
  const std::vector<ResultRow> rows = {
      run("toy/0", "erm", 1, {70, 30}), run("toy/0", "erm", 2, {70, 50}),
      run("toy/1", "erm", 1, {40, 90}), run("toy/1", "erm", 2, {42, 90})};
  const Cell cell = make_table(rows, {}, {}).blocks[0].datasets[0].cells[0];
  EXPECT_NEAR(cell.min.ours.mean, 40.5, 1e-12);
  EXPECT_NEAR(cell.min.ours.std, std::sqrt((110.25 + 90.25 + 0.25 + 2.25) / 3), 1e-12);
  EXPECT_EQ(cell.min_domain, "B, A");
}

// Seed 1 of dataset seed 0 is not seed 1 of dataset seed 1: differences are 1, 3, not mixed.
TEST(Table, DatasetSeedsAreOneColumnPairedByDatasetAndSeed) {
  const std::vector<ResultRow> rows = {run("toy/0", "erm", 1, {50}), run("toy/1", "erm", 1, {80}),
                                       run("toy/1", "grm", 1, {83}), run("toy/0", "grm", 1, {51})};
  const ScoreTable table = make_table(rows, {}, {});
  ASSERT_EQ(table.blocks[0].datasets.size(), 1u);
  EXPECT_EQ(table.blocks[0].datasets[0].dataset, "toy");
  const Cell& grm = table.blocks[0].datasets[0].cells[1];
  EXPECT_EQ(grm.runs, 2);
  EXPECT_DOUBLE_EQ(grm.avg.ours.mean, 67.0);
  EXPECT_DOUBLE_EQ(grm.test->difference, 2.0);
  EXPECT_NEAR(grm.test->p.value(), 1 - 2 / M_PI * std::atan(2.0), 1e-12);  // t = 2, 1 freedom
  TableOptions apart;
  apart.group_dataset_seeds = false;
  EXPECT_EQ(make_table(rows, {}, apart).blocks[0].datasets.size(), 2u);
}

TEST(Table, RowOrderDoesNotChangeABit) {
  std::vector<ResultRow> rows = two_methods();
  const std::string before = table_json(make_table(rows, {}, {}));
  std::swap(rows[0], rows[2]);
  std::swap(rows[3], rows[5]);
  EXPECT_EQ(table_json(make_table(rows, {}, {})), before);
}

TEST(Table, MissingRunsAreCountedAndShown) {
  const std::vector<MissingRow> missing = {{"toy", "grm", "kipf", 4, "failed: out of memory"},
                                           {"toy", "grm", "kipf", 5, "failed: out of memory"},
                                           {"toy", "mario", "kipf", 1, "not run"}};
  const ScoreTable table = make_table(two_methods(), missing, {});
  const std::string text = render(score_layouts(table)[0], Format::text);
  EXPECT_THAT(text, HasSubstr("3/5"));
  EXPECT_THAT(text, HasSubstr("0/1"));
  EXPECT_THAT(text, HasSubstr("missing"));
  const std::string list = render(missing_layout(table.missing), Format::text);
  EXPECT_THAT(list, HasSubstr("4 5"));
  EXPECT_THAT(list, HasSubstr("failed: out of memory"));
}

TEST(Table, RunsWithoutTestScoresAreMissing) {
  const ScoreTable table = make_table({run("toy", "erm", 1, {})}, {}, {});
  EXPECT_EQ(table.blocks[0].datasets[0].cells[0].runs, 0);
  ASSERT_EQ(table.missing.size(), 1u);
  EXPECT_THAT(table.missing[0].reason, HasSubstr("no test scores"));
}

TEST(Table, FiltersTakeNamesWithAndWithoutSeedAndPreset) {
  const std::vector<ResultRow> rows = {run("toy/0", "erm", 1, {50}, "sum"),
                                       run("toy/0", "grm:centred", 1, {50}, "kipf"),
                                       run("other", "erm", 1, {50}, "kipf")};
  TableOptions options;
  options.datasets = {"toy"};
  EXPECT_EQ(make_table(rows, {}, options).blocks.size(), 2u);
  options.methods = {"grm"};
  ASSERT_EQ(make_table(rows, {}, options).blocks.size(), 1u);
  options.blocks = {"sum"};
  EXPECT_TRUE(make_table(rows, {}, options).blocks.empty());
}

TEST(Table, BlocksComeInTheOrderOfTheProtocol) {
  const ScoreTable table =
      make_table({run("toy", "erm", 1, {50}, "kipf"), run("toy", "erm", 1, {50}, "sum")}, {}, {});
  EXPECT_EQ(table.blocks[0].name, "sum");
  EXPECT_EQ(table.blocks[1].name, "kipf");
}

TEST(Table, PublishedValuesStandBesideOurs) {
  TableOptions options;
  options.published = [](const std::string& dataset, const std::string& method,
                         const std::string& column) -> std::optional<PublishedValue> {
    if (dataset != "toy" || method != "grm") return std::nullopt;
    if (column == "Min") return PublishedValue{74.2, 1.2};
    if (column == "Avg") return PublishedValue{81.2, 1.5};
    if (column == "T1") return PublishedValue{74.92, {}};
    if (column == "T2") return PublishedValue{84.95, {}};
    return std::nullopt;
  };
  const ScoreTable table = make_table(two_methods(), {}, options);
  const std::string markdown = render(score_layouts(table)[0], Format::markdown);
  EXPECT_THAT(markdown, HasSubstr("| method | toy Min | paper | Avg | paper | runs |"));
  EXPECT_THAT(markdown, HasSubstr("| grm | **69.3 ± 2.5** | 74.2 ± 1.2 | **71.2 ± 2.9**▲ | "
                                  "81.2 ± 1.5 | 3 |"));
  EXPECT_THAT(markdown, HasSubstr("| erm | 62.0 ± 2.0 |  | 66.0 ± 1.7 |  | 3 |"));
  const std::string domains = render(domain_layouts(table)[0], Format::text);
  EXPECT_THAT(domains, HasSubstr("*73.0 ± 3.6 (74.9)"));
  const std::string latex = render(score_layouts(table)[0], Format::latex);
  EXPECT_THAT(latex, HasSubstr("\\textbf{71.2 $\\pm$ 2.9}$^{\\uparrow}$ & 81.2 $\\pm$ 1.5 & 3"));
  EXPECT_THAT(latex, HasSubstr("\\multicolumn{5}{c}{toy}"));
  EXPECT_THAT(latex, HasSubstr("\\cmidrule(lr){2-6}"));
  const auto json = nlohmann::json::parse(table_json(table));
  const auto& grm = json["blocks"][0]["datasets"][0]["methods"][1];
  EXPECT_DOUBLE_EQ(grm["min"]["published"]["value"], 74.2);
  EXPECT_NEAR(grm["test"]["p"].get<double>(), 0.0162447, 1e-6);
  EXPECT_NEAR(grm["min_per_run"]["mean"].get<double>(), 208.0 / 3, 1e-9);
}

// Three published domains beside our two would be other domains.
TEST(Table, PublishedDomainsNeedTheSameNumberOfDomains) {
  TableOptions options;
  options.published = [](const std::string&, const std::string&,
                         const std::string& column) -> std::optional<PublishedValue> {
    if (column == "T1" || column == "T2" || column == "T3") return PublishedValue{1.0, {}};
    return std::nullopt;
  };
  const ScoreTable table = make_table(two_methods(), {}, options);
  EXPECT_FALSE(table.blocks[0].datasets[0].cells[0].domains[0].score.published.has_value());
}

TEST(Trust06Constant, BothConstantAnswersAreShownWhereRunsRecordThem) {
  std::vector<ResultRow> rows = two_methods();
  const auto text = [&] {
    return render(score_layouts(make_table(rows, {}, {}))[0], Format::text);
  };
  EXPECT_THAT(text(), Not(HasSubstr("majority")));
  for (ResultRow& row : rows) row.record.constant = {{"A", 30}, {"B", 20}};
  EXPECT_THAT(text(), testing::ContainsRegex("train majority +20.0 +25.0"));
  EXPECT_THAT(text(), Not(HasSubstr("own majority")));
  for (ResultRow& row : rows) row.record.constant_own = {{"A", 70}, {"B", 60}};
  EXPECT_THAT(text(), testing::ContainsRegex("own majority +60.0 +65.0"));
  EXPECT_THAT(text(), HasSubstr("always the test domain's own majority class"));
  for (ResultRow& row : rows) row.metric = "roc_auc";
  EXPECT_THAT(text(), testing::ContainsRegex("\nconstant +20.0 +25.0"));
  EXPECT_THAT(text(), Not(HasSubstr("majority")));
}

// Draws of one dataset may have other training labels: the answer is the mean over them.
TEST(Trust06Constant, IsTheMeanOverDrawsOfTheData) {
  std::vector<ResultRow> rows = {run("toy/0", "erm", 1, {60, 70}),
                                 run("toy/1", "erm", 1, {60, 70})};
  rows[0].record.constant = {{"A", 30}, {"B", 20}};
  rows[1].record.constant = {{"A", 50}, {"B", 40}};
  const ScoreTable table = make_table(rows, {}, {});
  const auto& constants = table.blocks[0].datasets[0].constants;
  ASSERT_EQ(constants.size(), 1u);
  EXPECT_DOUBLE_EQ(constants[0].scores[0].value, 40);
  EXPECT_DOUBLE_EQ(mean_score(constants[0].scores), 35);
}

TEST(Trust01Names, OnlyTheNumberOfADrawIsCutOffALabel) {
  EXPECT_EQ(without_seed("cora/1"), "cora");
  for (const char* label : {"./a", "./1", "../1", "/data/a", "/1", "a/b", "a/b/1", "a/", "a", ""}) {
    EXPECT_EQ(without_seed(label), label);
  }
  const ScoreTable table =
      make_table({run("./a", "erm", 1, {60}), run("./b", "erm", 1, {80})}, {}, {});
  ASSERT_EQ(table.blocks[0].datasets.size(), 2u);
  EXPECT_EQ(table.blocks[0].datasets[1].cells[0].avg.ours.mean, 80);
}

// By hand: erm 60, 62, 64 and with "b" 61, 64, 67: differences 1, 2, 3, so t = 2 / (1 / sqrt 3) and
// p = 1 - t / sqrt(2 + t^2) with two degrees of freedom. grm runs with "b" only, and is compared
// with erm there: 9, 8, 7.
TEST(Trust05Choice, OptionSetsSideBySideAreComparedInPairs) {
  std::vector<ResultRow> rows;
  for (int64_t seed = 0; seed < 3; ++seed) {
    const double s = static_cast<double>(seed);
    rows.push_back(run("toy", "erm", seed, {60 + 2 * s}, "a"));
    rows.push_back(run("toy", "erm", seed, {61 + 3 * s}, "b"));
    rows.push_back(run("toy", "grm", seed, {70 + 2 * s}, "b"));
    rows.back().record.chosen["val"].validation = 79.0;
  }
  rows[1].record.chosen["val"].validation = 81.5;  // the highest mean
  TableOptions options;
  options.side_by_side = true;
  const ScoreTable table = make_table(rows, {}, options);
  ASSERT_EQ(table.blocks.size(), 1u);
  const Block& block = table.blocks[0];
  EXPECT_EQ(block.methods, (std::vector<std::string>{"erm (a)", "erm (b)", "grm (b)"}));
  const DatasetColumn& column = block.datasets[0];
  EXPECT_FALSE(column.cells[0].test.has_value());
  EXPECT_EQ(column.cells[1].against, "erm (a)");
  EXPECT_NEAR(column.cells[1].test->difference, 2, 1e-12);
  const double t = 2 * std::sqrt(3.0);
  EXPECT_NEAR(column.cells[1].test->p.value(), 1 - t / std::sqrt(2 + t * t), 1e-12);
  EXPECT_EQ(column.cells[2].against, "erm (b)");
  EXPECT_NEAR(column.cells[2].test->difference, 8, 1e-12);
  EXPECT_EQ(chosen_by_validation(column), 1u);
  EXPECT_NEAR(column.cells[1].validation.mean, 80.5, 1e-12);
  EXPECT_THAT(render(score_layouts(table)[0], Format::text),
              HasSubstr("Validation chooses erm (b) on toy."));
}

// Averages over different domains say nothing about a difference between methods.
TEST(Trust05Choice, RowsWithOtherDomainsAreNotCompared) {
  std::vector<ResultRow> rows = {run("toy", "erm", 1, {60, 70}), run("toy", "erm", 2, {60, 71}),
                                 run("toy", "grm", 1, {60, 70}), run("toy", "grm", 2, {60, 71})};
  for (size_t k = 2; k < 4; ++k) rows[k].record.chosen["val"].test[1].domain = "C";
  EXPECT_FALSE(make_table(rows, {}, {}).blocks[0].datasets[0].cells[1].test.has_value());
}

TEST(Table, CostTableHasTimeMemoryAndPublishedValues) {
  const Table layout = cost_layout(make_table(two_methods(), {}, {}),
                                   [](const std::string&, const std::string& method,
                                      const std::string& column) -> std::optional<PublishedValue> {
                                     if (method == "grm" && column == "epoch")
                                       return PublishedValue{3.91, {}};
                                     return std::nullopt;
                                   });
  const std::string text = render(layout, Format::text);
  EXPECT_THAT(text, testing::ContainsRegex("toy +grm +kipf +42 +100 +0.000 +0.500 +3.91 +50.0"));
}

TEST(Table, ScoresAsLongCsv) {
  const std::string csv = scores_csv({run("toy", "a,\"b\"", 7, {70.25, 1.0 / 3})});
  EXPECT_EQ(csv,
            "study,dataset,method,variant,seed,domain,score\n"
            "tiny,toy,\"a,\"\"b\"\"\",kipf,7,A,70.25\n"
            "tiny,toy,\"a,\"\"b\"\"\",kipf,7,B,0.3333333333333333\n");
}

TEST(Table, SummaryCsvHasTheMeanOfPerRunMinima) {
  const std::string csv = summary_csv(make_table(two_methods(), {}, {}));
  EXPECT_THAT(csv, HasSubstr("tiny,kipf,toy,erm,MinPerRun,62,2,3,,,\n"));
  EXPECT_THAT(csv, HasSubstr("tiny,kipf,toy,erm,Avg,66,1.7320508075688772,3,,,\n"));
}

TEST(Table, ExportKeepsConfigurationEnvironmentAndRecord) {
  ResultRow row = run("toy", "erm", 1, {60, 70});
  row.config = "seed = 1\n";
  row.environment = R"({"grm": "0.1"})";
  const auto json = nlohmann::json::parse(export_json({row}, {{"toy", "grm", "", 2, "not run"}}));
  EXPECT_EQ(json["runs"][0]["environment"]["grm"], "0.1");
  EXPECT_EQ(json["runs"][0]["config"], "seed = 1\n");
  EXPECT_EQ(json["runs"][0]["record"]["chosen"]["val"]["test"][1]["value"], 70);
  EXPECT_EQ(json["missing"][0]["reason"], "not run");
  EXPECT_THAT(export_csv({row}), HasSubstr(",60,65,100,0.5,0,42,301,false,\"seed = 1\n\""));
}

TEST(Table, ExportOfRunsIsShortAndNamesWhatTrialsSet) {
  ResultRow first = run("toy", "erm", 1, {60, 70});
  first.config = "[method]\nlr = 0.01\ndropout = 0.3\n";
  first.environment = R"({"git": "abc1234", "device": "cpu"})";
  ResultRow second = first;
  second.trial = 1;
  second.config = "[method]\nlr = 0.1\ndropout = 0.5\n";
  second.record.chosen["val"].test.clear();  // a trial has no test scores
  const std::string csv = export_runs({first, second});
  EXPECT_THAT(csv, HasSubstr("f8f63f5bff36,toy,erm,kipf,0,,1,"));  // sha256sum of the configuration
  EXPECT_THAT(csv, HasSubstr(",60,65,A 60; B 70,abc1234,cpu\n"));
  EXPECT_THAT(csv, HasSubstr(",toy,erm,kipf,1,lr = 0.1; dropout = 0.5,1,"));
  EXPECT_THAT(csv, HasSubstr(",,,,abc1234,cpu\n"));
  EXPECT_THAT(csv, Not(HasSubstr("[method]")));
}

TEST(Table, VariantsStandBesideTheirMethod) {
  const ScoreTable table = make_table(
      {run("toy", "grm:best", 1, {60, 70}), run("toy", "erm", 1, {60, 70}),
       run("toy", "mario + centring", 1, {60, 70}), run("toy", "erm + centring", 1, {60, 70})},
      {}, {});
  EXPECT_THAT(table.blocks[0].methods,
              testing::ElementsAre("erm", "erm + centring", "mario + centring", "grm:best"));
}

}  // namespace
}  // namespace grm::study
