// Probabilities in a document: means over runs, and a curve from the items of all
// runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "report/report_document.h"

namespace grm::report {
namespace {

using testing::HasSubstr;

Reliability reliable(double ece, double confidence, int64_t count, double accuracy) {
  Reliability r;
  r.items = count;
  r.ece = ece;
  r.confidence = confidence;
  r.accuracy = accuracy;
  r.bins.resize(static_cast<size_t>(kReliabilityBins));
  r.bins[6] = {count / 4, 45.0, accuracy};
  r.bins[9] = {count - count / 4, 65.0, accuracy};
  return r;
}

study::ResultRow row_of(int64_t seed, double temperature, double before, double after) {
  study::ResultRow row;
  row.study = "s";
  row.dataset = "d<1>";
  row.method = "grm";
  row.seed = seed;
  row.metric = "accuracy";
  row.config = "seed = " + std::to_string(seed) +
               "\n\n[dataset]\nname = \"sbm\"\n[method]\nname = \"grm\"\n";
  row.environment = R"({"grm": "0.1.0", "data_hashes": {}, "missing": [], "notes": []})";
  row.record.seed = seed;
  row.record.chosen["val"] = {1, 50.0, {{"T1", 60.0}}};
  Calibration c;
  c.temperature = temperature;
  c.validation = {reliable(before, 40, 100, 60), reliable(after, 60, 100, 60)};
  c.test = {reliable(before + 2, 42, 200, 70.0 - static_cast<double>(seed)),
            reliable(after + 2, 61, 200, 70.0 - static_cast<double>(seed))};
  c.domains = {{"T1", before + 2, after + 2}};
  row.record.calibration = c;
  return row;
}

ReportParts two_runs() {
  ReportParts report;
  report.title = "t";
  report.results.rows = {row_of(1, 0.4, 20.0, 3.0), row_of(3, 0.6, 23.0, 4.0)};
  return report;
}

nlohmann::json json_of(const ReportParts& report) {
  return nlohmann::json::parse(
      report_document(report, study::TableOptions(), Published::embedded()).text);
}

TEST(Trust07Report, HoldsErrorsBeforeAndAfterAndTheCurve) {
  const nlohmann::json dataset = json_of(two_runs())["datasets"][0];
  EXPECT_EQ(dataset["name"], "d<1>");
  const nlohmann::json c = dataset["rows"][0]["calibration"];
  // Means: temperature 0.5; validation 21.5 and 3.5; test 23.5 and 5.5; 42 and 61 at 68.
  EXPECT_NEAR(c["temperature"], 0.5, 1e-9);
  EXPECT_NEAR(c["validation"]["before"], 21.5, 1e-9);
  EXPECT_NEAR(c["validation"]["after"], 3.5, 1e-9);
  EXPECT_NEAR(c["test"]["before"], 23.5, 1e-9);
  EXPECT_NEAR(c["test"]["after"], 5.5, 1e-9);
  EXPECT_NEAR(c["test"]["confidence_before"], 42, 1e-9);
  EXPECT_NEAR(c["test"]["confidence"], 61, 1e-9);
  EXPECT_NEAR(c["test"]["accuracy"], 68, 1e-9);
  // The items of both runs together: 2 * 50 in one bin, 2 * 150 in the other, right in 68 of 100.
  ASSERT_EQ(c["test"]["bins"].size(), 2u);
  EXPECT_EQ(c["test"]["bins"][0]["count"], 100);
  EXPECT_NEAR(c["test"]["bins"][1]["accuracy"], 68, 1e-9);
  EXPECT_EQ(c["domains"][0]["domain"], "T1");
}

TEST(Trust07Report, RunsWithoutATemperatureAreToldOf) {
  ReportParts report = two_runs();
  for (study::ResultRow& row : report.results.rows) row.record.calibration.reset();
  const nlohmann::json all = json_of(report);
  EXPECT_FALSE(all["datasets"][0]["rows"][0].contains("calibration"));
  EXPECT_THAT(all["left_out"].dump(), HasSubstr("no run has fitted a temperature"));
}

}  // namespace
}  // namespace grm::report
