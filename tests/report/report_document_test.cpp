// The document of a report: expected numbers by hand.
#include "report/report_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "core/text.h"
#include "grm/train/config.h"
#include "report/data_parts.h"
#include "report/web_page.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::report::document_tests {
namespace {

using Json = nlohmann::json;
using study::ResultRow;
using study::TableOptions;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kHostile = "<img src=x onerror='alert(\"1\")'></script>&";

Json document_of(const ReportParts& report) {
  return Json::parse(report_document(report, TableOptions(), Published::embedded()).text);
}

// A finished run of `method` with these test scores.
ResultRow finished(const std::string& method, int64_t seed, const std::vector<double>& scores) {
  RunConfig config("sbm", method);
  config.set("method.lr", "0.25");
  ResultRow row;
  row.dataset = "sbm";
  row.method = method;
  row.seed = seed;
  row.metric = "accuracy";
  row.config = config.to_toml(seed);
  row.environment = R"({"grm": "0.1.0", "threads": 2, "host": "secret-host",
    "data_hashes": {"a<b.bin": "abc123"}, "missing": [], "notes": ["a note & more"]})";
  Chosen chosen{7, method == "grm" ? 49.0 : 50.0, {}};
  for (size_t k = 0; k < scores.size(); ++k) {
    chosen.test.push_back({"T" + std::to_string(k + 1), scores[k]});
    row.record.constant.push_back({"T" + std::to_string(k + 1), 25.0});
  }
  row.record.chosen["val"] = chosen;
  row.record.epochs = 10;
  return row;
}

ReportParts two_methods() {
  ReportParts report;
  report.title = kHostile;
  report.command = "grm report runs";
  for (int64_t seed = 1000; seed < 1003; ++seed) {
    const double s = static_cast<double>(seed - 1000);
    report.results.rows.push_back(finished("erm", seed, {60 + s, 70 + s}));
    report.results.rows.push_back(finished("grm", seed, {70 + 2 * s, 81 - s}));
  }
  report.results.missing = {{"sbm", "grm", "", 1003, "not finished " + kHostile}};
  return report;
}

// erm 61 and 71 with deviation 1; grm 72 (2) and 80 (1), the averages of its runs are 75.5, 76, 76.5. Differences of the
// runs: 10.5, 10, 9.5; the interval is 10 -+ 4.303 * 0.5 / sqrt 3.
TEST(ReportDocument, HoldsDomainsDeviationsMinAvgConstantAnswerAndComparison) {
  const ReportDocument document =
      report_document(two_methods(), TableOptions(), Published::embedded());
  const Json all = Json::parse(document.text);
  EXPECT_EQ(all["schema"], "grm.report");
  EXPECT_EQ(all["version"], 1);
  EXPECT_EQ(all["title"], kHostile);
  EXPECT_THAT(document.text, Not(HasSubstr("secret-host")));
  ASSERT_EQ(all["datasets"].size(), 1u);
  const Json& sbm = all["datasets"][0];
  EXPECT_EQ(sbm["domains"], (Json{"T1", "T2"}));
  EXPECT_EQ(sbm["chosen"], "erm");  // by validation, though grm is higher on test
  const Json &erm = sbm["rows"][0], &grm = sbm["rows"][1];
  EXPECT_NEAR(erm["scores"][0]["mean"], 61, 1e-9);
  EXPECT_NEAR(erm["scores"][1]["std"], 1, 1e-9);
  EXPECT_NEAR(grm["scores"][0]["std"], 2, 1e-9);
  EXPECT_NEAR(grm["avg"]["mean"], 76, 1e-9);
  EXPECT_NEAR(grm["avg"]["std"], 0.5, 1e-9);
  EXPECT_NEAR(grm["min"]["mean"], 72, 1e-9);
  EXPECT_EQ(grm["min"]["domain"], "T1");
  EXPECT_EQ(grm["runs"], 3);
  EXPECT_EQ(grm["expected"], 4);
  EXPECT_EQ(grm["against"], "erm");
  EXPECT_NEAR(grm["test"]["difference"], 10, 1e-9);
  EXPECT_NEAR(grm["test"]["low"], 10 - 4.302653 * 0.5 / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(grm["test"]["high"], 10 + 4.302653 * 0.5 / std::sqrt(3.0), 1e-5);
  EXPECT_EQ(grm["mark"], 1);
  ASSERT_EQ(grm["each"].size(), 3u);
  EXPECT_EQ(grm["each"][2]["seed"], 1002);
  EXPECT_EQ(grm["each"][2]["scores"], (Json{74.0, 79.0}));
  EXPECT_EQ(sbm["constants"][0]["scores"], (Json{25.0, 25.0}));
  EXPECT_THAT(
      sbm["verdict"].get<std::string>(),
      HasSubstr("sbm: of 2 candidates, validation chooses erm (50.0 ± 0.0 there). On test it "
                "has accuracy 66.0 ± 1.0 on average over 2 test domains"));
  EXPECT_THAT(sbm["verdict"].get<std::string>(), HasSubstr("p = 0.001"));
  EXPECT_EQ(sbm["doubts"][0], "grm is 10.0 points higher on test, which validation did not see.");
  EXPECT_EQ(all["missing"][0]["reason"], "not finished " + kHostile);
  EXPECT_EQ(all["repeat"]["data"][0]["sha256"], "abc123");
  EXPECT_THAT(document.sections, ElementsAre("answer", "domains", "methods", "repeat"));
}

// The same numbers for browsers without scripts.
TEST(ReportDocument, PlainPartHasTheTablesAndEscapesNames) {
  const ReportParts report = two_methods();
  const ReportDocument document = report_document(report, TableOptions(), Published::embedded());
  const std::string& html = document.plain;
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, HasSubstr("erm</th>\n<td>61.0 ± 1.0</td>\n<td>71.0 ± 1.0</td>\n"
                              "<td>61.0 ± 1.0</td>\n<td>66.0 ± 1.0</td>\n"
                              "<td><strong>50.0 ± 0.0</strong></td>\n<td>3</td>"));
  EXPECT_THAT(html, HasSubstr("<td>49.0 ± 0.0</td>\n<td>3/4</td>"));
  EXPECT_THAT(html, HasSubstr("train majority</th>\n<td>25.0</td>\n<td>25.0</td>"));
  EXPECT_THAT(html, HasSubstr("not finished &lt;img"));
  const std::string page = offline_page(report.title, document.text, html);
  EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(page, Not(HasSubstr("'alert(\"1\")'></script>")));
}

TEST(ReportDocument, PublishedValuesStandBesideOursForBuiltInDataOnly) {
  ReportParts report = two_methods();
  for (ResultRow& row : report.results.rows) {
    row.dataset = "cora";
    row.config =
        "seed = 1\n\n[dataset]\nname = \"cora\"\n[method]\nname = \"" + row.method + "\"\n";
  }
  // The paper prints 81.2 ± 1.5 for GRM's Avg on Cora; 76.0 - 81.2 = -5.2.
  bool found = false;
  const Json all = document_of(report);
  for (const Json& value : all["datasets"][0]["published"]["values"]) {
    if (value["row"] != "grm" || value["score"] != "Avg") continue;
    found = true;
    EXPECT_EQ(value["published"]["value"], 81.2);
    EXPECT_EQ(value["published"]["deviation"], 1.5);
    EXPECT_NEAR(value["difference"], -5.2, 1e-9);
  }
  EXPECT_TRUE(found);
  for (ResultRow& row : report.results.rows) {
    row.config =
        "seed = 1\n\n[dataset]\nname = \"my/cora\"\n[method]\nname = \"" + row.method + "\"\n";
  }
  EXPECT_FALSE(document_of(report)["datasets"][0].contains("published"));
}

TEST(ReportParts, CommandsLeadBackToTheSameConfiguration) {
  ReportParts report = two_methods();
  report.results.rows.push_back(finished("erm", 1010, {1, 2}));
  const std::vector<report::Setup> setups = setups_of(report.results.rows);
  ASSERT_EQ(setups.size(), 2u);
  EXPECT_THAT(train_commands(setups[0]),
              ElementsAre(HasSubstr("--set method.lr=0.25 --set train.first_seed=1000 --seeds 3 "
                                    "--threads 2"),
                          HasSubstr("--set train.first_seed=1010 --seeds 1 --threads 2")));
  EXPECT_THAT(train_commands(setups[0])[0], HasSubstr("grm train --dataset sbm --method erm"));
  report::Setup foreign = setups[0];
  ResultRow row = *foreign.rows.front();
  row.config += "an_option_of_another_version = 1\n";
  foreign.rows = {&row};
  EXPECT_THAT(train_commands(foreign)[0], HasSubstr("grm train --config config.toml --set"));
}

TEST(ReportParts, WordsForTheShellAreQuotedWhereNeeded) {
  EXPECT_EQ(shell_word("runs/a-b.c:d=1"), "runs/a-b.c:d=1");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ReportParts, RunFoldersBecomeRowsAndUnfinishedOnesAreNamed) {
  const test::TempFolder folder;
  const ResultRow row = finished("erm", 1000, {60, 70});
  const auto write = [&](const std::string& name, const std::string& config) {
    folder.write(name + "/config.toml", config);
    folder.write(name + "/metrics.jsonl",
                 "{\"epoch\":1,\"loss\":{\"total\":2.0},\"validation\":40}\n"
                 "{\"epoch\":2,\"loss\":{\"total\":1.0},\"validation\":50}\n");
    folder.write(name + "/env.json", row.environment);
  };
  write("a", row.config);
  folder.write("a/summary.json", to_json_text(row.record));
  RunConfig other("sbm", "erm");
  write("b", other.to_toml(1000));
  const ReportParts report = report_of_runs({folder.path()}, TableOptions());
  ASSERT_EQ(report.results.rows.size(), 1u);
  const std::string preset = other.method.preset();
  EXPECT_EQ(report.results.rows[0].method, "erm:" + preset);
  EXPECT_EQ(report.results.rows[0].record.chosen.at("val").test[1].value, 70.0);
  ASSERT_EQ(report.results.missing.size(), 1u);
  EXPECT_EQ(report.results.missing[0].method, "erm:" + preset);
  EXPECT_THAT(report.results.missing[0].variant, HasSubstr("lr="));
  EXPECT_THAT(report.results.missing[0].reason, HasSubstr("not finished: 2 epochs"));
  ASSERT_EQ(report.curves.size(), 2u);
  EXPECT_EQ(report.curves[0].finished + report.curves[1].finished, 1);
  const Json all = document_of(report);
  ASSERT_EQ(all["curves"].size(), 2u);
  EXPECT_EQ(all["curves"][0]["validation"],
            (Json{{"epoch", {1, 2}}, {"mean", {40.0, 50.0}}, {"std", {0.0, 0.0}}}));
  EXPECT_EQ(all["curves"][0]["terms"][0]["series"]["mean"], (Json{2.0, 1.0}));
  EXPECT_EQ(all["curves"][0]["terms"][0]["weight"], 1.0);

  // Other data of the same name is a dataset of its own, with a note on what differs.
  RunConfig small("sbm", "erm");
  small.set("dataset.nodes", "120");
  write("c", small.to_toml(1000));
  folder.write("c/summary.json", to_json_text(row.record));
  const ReportParts mixed = report_of_runs({folder.path()}, TableOptions());
  ASSERT_EQ(mixed.results.rows.size(), 2u);
  EXPECT_EQ(mixed.results.rows[1].dataset, "sbm #2");
  EXPECT_EQ(mixed.results.rows[1].method, "erm:" + preset);
  EXPECT_THAT(mixed.notes, ElementsAre(HasSubstr("sbm #2 is other data than sbm: nodes = 120"),
                                       "sbm: a note & more", "sbm #2: a note & more"));

  TableOptions none;
  none.methods = {"grm"};
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { report_of_runs({folder.path()}, none); }),
              HasSubstr("nothing is left"));
}

TEST(Trust05Choice, CentringIsAVariantOfTheMethodAndNotOtherData) {
  const test::TempFolder folder;
  const auto write = [&](const std::string& name, const RunConfig& config) {
    folder.write(name + "/config.toml", config.to_toml(1000));
    folder.write(name + "/metrics.jsonl", "{\"epoch\":1}\n");
    folder.write(name + "/summary.json", to_json_text(finished("erm", 1000, {60, 70}).record));
  };
  RunConfig plain("sbm", "erm"), centred("sbm", "erm"), fast("sbm", "erm");
  centred.set("dataset.centre", "domain");
  fast.set("dataset.centre", "domain");
  fast.set("method.lr", "0.25");
  write("a", centred);
  write("b", fast);
  write("c", plain);
  const ReportParts report = report_of_runs({folder.path()}, TableOptions());
  ASSERT_EQ(report.results.rows.size(), 3u);
  for (const ResultRow& row : report.results.rows) EXPECT_EQ(row.dataset, "sbm");
  EXPECT_EQ(report.results.rows[0].variant, "centre=domain");
  EXPECT_EQ(report.results.rows[1].variant, "centre=domain, lr=0.25");
  EXPECT_EQ(report.results.rows[2].variant, "");
  EXPECT_TRUE(report.notes.empty());
}

}  // namespace
}  // namespace grm::report::document_tests
