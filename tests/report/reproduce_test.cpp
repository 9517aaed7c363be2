#include "report/reproduce.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::report {
namespace {

using study::ResultRow;
using study::TableOptions;
using testing::HasSubstr;
using testing::Not;

ResultRow run(const std::string& dataset, const std::string& method, const std::string& variant,
              int64_t seed, const std::vector<double>& scores) {
  ResultRow row;
  row.study = "s";
  row.dataset = dataset;
  row.method = method;
  row.variant = variant;
  row.seed = seed;
  row.metric = "accuracy";
  Chosen chosen{1, 50.0, {}};
  for (size_t k = 0; k < scores.size(); ++k) {
    chosen.test.push_back({"T" + std::to_string(k + 1), scores[k]});
  }
  row.record.chosen["val"] = chosen;
  row.environment = R"({"grm": "0.1.0", "torch": "1.13", "threads": 2, "host": "secret-host",
                        "data_hashes": {"cora/x.bin": "abc123"}, "missing": [], "notes": []})";
  return row;
}

Report report_of(const std::string& target, const Results& results,
                 const TableOptions& options = {}) {
  return make_report(find_target(target), results, options, Published::embedded(),
                     "grm reproduce " + target, target);
}

TEST(Reproduce, UnknownTargetsNameTheNearest) {
  EXPECT_THAT(test::error_of(ErrorKind::config, [] { find_target("fig-shfit"); }),
              HasSubstr("did you mean 'fig-shift'"));
}

TEST(Reproduce, Table1ShowsOursPublishedSignificanceBlockMissingAndProvenance) {
  Results results;
  for (int64_t seed = 1; seed <= 3; ++seed) {
    const double s = static_cast<double>(seed);
    results.rows.push_back(run("cora", "erm", "sum", seed, {60 + s, 62 + s}));
    results.rows.push_back(run("cora", "grm", "sum", seed, {70 + 2 * s, 73 + s}));
  }
  results.missing = {{"fb100", "grm", "sum", 1, "data is missing: fb100/Penn94.mat"}};
  const std::string text = render(report_of("table1", results), Format::markdown);
  EXPECT_THAT(text, HasSubstr("Block sum"));
  EXPECT_THAT(text, HasSubstr("| grm | **74.0 ± 2.0** | 74.2 ± 1.2 | **74.5 ± 1.5**▲ | 81.2 ± 1.5 "
                              "| 3 |"));
  EXPECT_THAT(text, HasSubstr("data is missing: fb100/Penn94.mat"));
  EXPECT_THAT(text, HasSubstr("`grm reproduce table1`"));
  EXPECT_THAT(text, HasSubstr("data of cora: cora/x.bin sha256 abc123"));
  EXPECT_THAT(text, HasSubstr("torch: 1.13"));
  EXPECT_THAT(text, Not(HasSubstr("secret-host")));
  EXPECT_THAT(text, Not(HasSubstr("MARIO/Photo")));  // no Photo in this table
}

TEST(Reproduce, EllipticGroupsAreBundledByThreeInTable2) {
  Results results;
  results.rows = {run("elliptic", "erm", "sum", 1, {10, 20, 30, 40, 50, 60, 70, 80, 90})};
  const Report report = report_of("table2", results);
  const auto& cell = report.table.blocks[0].datasets[0].cells[0];
  ASSERT_EQ(cell.domains.size(), 3u);
  EXPECT_DOUBLE_EQ(cell.domains[0].score.ours.mean, 20.0);
  EXPECT_DOUBLE_EQ(cell.domains[2].score.ours.mean, 80.0);
  EXPECT_DOUBLE_EQ(cell.avg.ours.mean, 50.0);
  EXPECT_DOUBLE_EQ(cell.domains[0].score.published->value, 59.6);
  EXPECT_THAT(render(report, Format::text), HasSubstr("Elliptic is not comparable"));
}

TEST(Reproduce, AppendixShowsDomainsBesideThePublishedOnes) {
  Results results;
  results.rows = {run("cora", "erm", "kipf", 1, {1, 2, 3, 4, 5, 6, 7, 8})};
  const std::string text = render(report_of("appendix", results), Format::text);
  EXPECT_THAT(text, HasSubstr("1.0 (67.9)"));
  EXPECT_THAT(text, HasSubstr("4.5 (68.2 ± 0.4)"));
}

TEST(Reproduce, ShiftIsALinePerMethodInTheOrderOfRatios) {
  Results results;
  for (const char* variant : {"r=0.9", "r=0", "r=0.1"}) {
    for (int64_t seed = 1; seed <= 2; ++seed) {
      const double base = 90 - 50 * std::atof(variant + 2);
      results.rows.push_back(
          run("cora-mix", "erm", variant, seed, {base + static_cast<double>(seed)}));
      results.rows.push_back(run("cora-mix", "grm", variant, seed, {base + 5}));
    }
  }
  const Report report = report_of("fig-shift", results);
  ASSERT_EQ(report.figures.size(), 1u);
  const Figure& figure = report.figures[0];
  ASSERT_EQ(figure.series.size(), 2u);
  EXPECT_EQ(figure.series[0].name, "erm");
  ASSERT_EQ(figure.series[0].points.size(), 3u);
  EXPECT_DOUBLE_EQ(figure.series[0].points[1].x, 0.1);
  EXPECT_DOUBLE_EQ(figure.series[0].points[1].mean, 86.5);
  EXPECT_EQ(report.layouts[0].head, (std::vector<std::string>{"method", "r=0", "r=0.1", "r=0.9"}));
  EXPECT_EQ(report.layouts[0].rows[0][3].text, "46.5 ± 0.7");
}

TEST(Reproduce, AblationComparesVariantsWithTheFullMethod) {
  Results results;
  for (int64_t seed = 1; seed <= 2; ++seed) {
    const double s = static_cast<double>(seed);
    results.rows.push_back(run("cora", "grm", "full", seed, {80 + s}));
    results.rows.push_back(run("cora", "grm", "R", seed, {70 + s}));
    results.rows.push_back(run("cora", "grm", "I", seed, {80 + s}));
  }
  results.missing = {{"cora", "grm", "V", 1, "not run"}};
  const Report report = report_of("fig-ablation", results);
  const auto& cells = report.table.blocks[0].datasets[0].cells;
  EXPECT_EQ(cells[1].mark, -1);
  EXPECT_EQ(cells[2].test->p.value(), 1.0);
  ASSERT_EQ(report.figures.size(), 1u);
  EXPECT_EQ(report.figures[0].categories, (std::vector<std::string>{"cora"}));
  EXPECT_EQ(report.figures[0].series[1].name, "GRM\\R");
  EXPECT_EQ(report.missing.rows[0][1].text, "grm");  // listed as the study names it
  EXPECT_EQ(report.missing.rows[0][2].text, "V");
}

TEST(Reproduce, AblationHasMinOnlyWhereThereAreSeveralTestDomains) {
  const auto head_with = [](const std::vector<double>& scores) {
    Results results;
    results.rows.push_back(run("cora", "grm", "full", 1, scores));
    return report_of("fig-ablation", results).layouts.at(0).head;
  };
  EXPECT_EQ(head_with({80}), (std::vector<std::string>{"method", "Avg", "runs"}));
  EXPECT_EQ(head_with({80, 70}), (std::vector<std::string>{"method", "Min", "Avg", "runs"}));
}

TEST(Reproduce, BestStandsAgainstItsStrongestRivalWithOrWithoutCentring) {
  Results results;
  for (int64_t seed = 1; seed <= 3; ++seed) {
    const double s = static_cast<double>(seed);
    for (const char* dataset : {"cora/0", "cora/1"}) {
      results.rows.push_back(run(dataset, "erm", "plain", seed, {70 + s}));
      results.rows.push_back(run(dataset, "erm", "centring", seed, {80 + s}));
      results.rows.push_back(run(dataset, "grm", "plain", seed, {99}));  // a preset is no rival
      results.rows.push_back(run(dataset, "grm:best", "plain", seed, {82 + 1.1 * s}));
    }
  }
  const Report report = report_of("best", results);
  ASSERT_EQ(report.layouts.size(), 2u);
  const auto& row = report.layouts[1].rows.at(0);
  EXPECT_EQ(row[0].text, "cora");
  EXPECT_EQ(row[1].text, "erm + centring");
  EXPECT_EQ(row[2].text, "82.0 ± 0.9");  // 81, 82, 83 twice
  EXPECT_EQ(row[3].mark, 1);
  EXPECT_EQ(row[4].text, "+2.20");
  EXPECT_EQ(row[6].text, "6");
  EXPECT_THAT(render(report, Format::markdown), HasSubstr("grm:best against the best rival"));
  ASSERT_EQ(report.figures.size(), 1u);
  const std::vector<Series>& bars = report.figures[0].series;
  ASSERT_EQ(bars.size(), 4u);  // the best rival, erm, erm + centring, grm
  EXPECT_EQ(bars[0].name, "the best rival");
  EXPECT_NEAR(bars[0].points.at(0).mean, 2.2, 1e-9);
  EXPECT_NEAR(bars[0].points.at(0).deviation, 0.0894427191, 1e-9);  // 2.1, 2.2, 2.3 twice
  EXPECT_NEAR(bars[1].points.at(0).mean, 12.2, 1e-9);
  EXPECT_EQ(bars[3].name, "grm");
  EXPECT_LT(bars[3].points.at(0).mean, 0);
  EXPECT_THAT(figure_script(report.figures[0]), HasSubstr("xzeroaxis"));
}

TEST(Reproduce, CostStandsBesideThePublishedCost) {
  Results results;
  results.rows = {run("cora", "grm", "kipf", 1, {1})};
  EXPECT_THAT(render(report_of("table-cost", results), Format::text), HasSubstr("1782.96"));
}

TEST(Reproduce, GraphLevelShowsAveragesBesideThePublishedOnes) {
  Results results;
  results.rows = {run("spmotif", "dir", "", 1, {41.5}), run("mnist75sp", "dir", "", 1, {22.5}),
                  run("sst2-tree", "dir", "", 1, {80.5}), run("spmotif", "erm", "", 1, {43.5})};
  const std::string text = render(report_of("table-graph", results), Format::text);
  for (const char* number : {"41.5", "39.9", "22.5", "20.4", "80.5", "43.5"}) {
    EXPECT_THAT(text, HasSubstr(number));
  }
  // The substitute for Graph-SST2 has no published value, and Min of one test set says nothing.
  EXPECT_THAT(text, Not(HasSubstr("83.29")));
  EXPECT_THAT(text, Not(HasSubstr("Min")));
  EXPECT_THAT(text, HasSubstr("not Graph-SST2"));
}

TEST(Reproduce, DataThatRunsDidNotHaveIsNamed) {
  Results results;
  results.rows = {run("fb100", "erm", "sum", 1, {1, 2})};
  results.rows[0].environment = R"({"missing": ["Penn94"]})";
  EXPECT_THAT(render(report_of("table1", results), Format::text),
              HasSubstr("fb100: run without Penn94"));
}

TEST(Reproduce, WithoutResultsTheReportSaysSo) {
  EXPECT_THAT(render(report_of("table1", {}), Format::text), HasSubstr("No run has a result yet"));
}

TEST(Reproduce, FilesHoldTheReport) {
  const test::TempFolder folder;
  Results results;
  results.rows = {run("cora-mix", "erm", "r=0", 1, {50}), run("cora-mix", "grm", "r=0", 1, {60})};
  TableOptions options;
  options.methods = {"erm"};
  const Report report = report_of("fig-shift", results, options);
  const ReportFiles files = write_report(report, results, options, folder.file("out"));
  for (const char* name : {"fig-shift.md", "fig-shift.tex", "fig-shift.json", "fig-shift.csv",
                           "fig-shift-summary.csv", "fig-shift.dat", "fig-shift.gp"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.file("out/") + name)) << name;
  }
  EXPECT_EQ(read_file(folder.file("out/fig-shift.csv")),
            "study,dataset,method,variant,seed,domain,score\ns,cora-mix,erm,r=0,1,T1,50\n");
  const auto json = nlohmann::json::parse(read_file(folder.file("out/fig-shift.json")));
  EXPECT_EQ(json["figures"][0]["series"][0]["points"][0]["mean"], 50);
  EXPECT_EQ(json["data_hashes"]["cora-mix"]["cora/x.bin"], "abc123");
}

}  // namespace
}  // namespace grm::report
