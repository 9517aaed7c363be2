// The section of a report on probabilities: means over runs, and a curve from the items of all
// runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html_report.h"

namespace grm::report {
namespace {

using testing::HasSubstr;
using testing::Not;

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

HtmlReport two_runs() {
  HtmlReport report;
  report.title = "t";
  report.results.rows = {row_of(1, 0.4, 20.0, 3.0), row_of(3, 0.6, 23.0, 4.0)};
  return report;
}

TEST(Trust07Report, ShowsErrorsBeforeAndAfterAndTheCurve) {
  const HtmlReport report = two_runs();
  const HtmlPage page = make_page(report, study::TableOptions(), Published::embedded());
  EXPECT_THAT(page.text, HasSubstr("id=\"reliability\""));
  // Means: temperature 0.5; validation 21.5 and 3.5; test 23.5 and 5.5; 42 and 61 at 68.
  EXPECT_THAT(page.text, HasSubstr("<td>0.50</td>\n<td>21.5</td>\n<td>3.5</td>\n<td>23.5</td>\n"
                                   "<td>5.5</td>\n<td>42.0</td>\n<td>61.0</td>\n<td>68.0</td>"));
  EXPECT_THAT(page.text, HasSubstr("Reliability on the test domains of d&lt;1&gt;"));
  EXPECT_THAT(page.text, HasSubstr("grm, before"));
}

TEST(Trust07Report, RunsWithoutATemperatureAreToldOf) {
  HtmlReport report = two_runs();
  for (study::ResultRow& row : report.results.rows) row.record.calibration.reset();
  const HtmlPage page = make_page(report, study::TableOptions(), Published::embedded());
  EXPECT_THAT(page.text, Not(HasSubstr("id=\"reliability\"")));
  EXPECT_THAT(page.text, HasSubstr("no run has fitted a temperature"));
}

}  // namespace
}  // namespace grm::report
