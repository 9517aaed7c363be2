// The document of a report put together: which sections there are and what the others lack.
#include "report/report_document.h"

#include <algorithm>
#include <cmath>

#include "core/json.h"

#include "grm/version.h"
#include "report/document.h"

namespace grm::report {
using document::Json;

namespace {

const std::vector<std::string> kPublishedTables = {
    "table1", "table2", "appendix-cora", "appendix-photo", "appendix-fb100-twitch", "table-graph"};

// The first rule by which some run has chosen.
std::string rule_of(const std::vector<study::ResultRow>& rows) {
  for (const char* rule : {"val", "last", "oracle"}) {
    const bool any = std::any_of(rows.begin(), rows.end(), [&](const study::ResultRow& row) {
      return row.record.chosen.count(rule) > 0;
    });
    if (any) return rule;
  }
  return "val";
}

const char* why_no_results(const study::ScoreTable& table) {
  bool apart = false;
  for_each_cell(table, [&](const auto&, const auto&, const auto&, const study::Cell& cell) {
    apart = apart || (cell.runs > 0 && cell.domains.empty());
  });
  return apart ? "the runs of a dataset have no test domain in common" : "no run has test scores";
}

bool any_dataset(const Json& datasets, const char* member) {
  return std::any_of(datasets.begin(), datasets.end(),
                     [&](const Json& dataset) { return dataset.contains(member); });
}

bool any_scored(const study::ScoreTable& table) {
  bool any = false;
  for_each_cell(table, [&](const auto&, const auto&, const auto&, const study::Cell& cell) {
    any = any || !cell.domains.empty();
  });
  return any;
}

Json missing_json(const std::vector<study::MissingRow>& missing) {
  Json list = Json::array();
  for (const study::MissingRow& row : missing) {
    list.push_back({{"dataset", row.dataset},
                    {"method", row.method},
                    {"variant", row.variant},
                    {"seed", row.seed},
                    {"reason", row.reason}});
  }
  return list;
}

Json runs_json(const std::vector<study::ResultRow>& rows, const std::string& rule) {
  Json list = Json::array();
  for (const study::ResultRow& row : rows) {
    Json run = {{"dataset", row.dataset},
                {"row", row_name(row.method, row.variant)},
                {"seed", row.seed},
                {"epochs", row.record.epochs}};
    const auto chosen = row.record.chosen.find(rule);
    if (chosen != row.record.chosen.end()) {
      run["epoch"] = chosen->second.epoch;
      run["validation"] = document::number(chosen->second.validation);
    }
    run["seconds"] =
        document::rounded(row.record.seconds_per_epoch * static_cast<double>(row.record.epochs));
    run["peak_mib"] = document::rounded(row.record.peak_memory_mib);
    run["folder"] = row.record.folder;
    list.push_back(std::move(run));
  }
  return list;
}

}  // namespace

ReportDocument report_document(const ReportParts& report, study::TableOptions options,
                               const Published& published) {
  options.rule = rule_of(report.results.rows);
  options.published = nullptr;
  options.side_by_side = true;
  const study::ScoreTable table =
      study::make_table(report.results.rows, report.results.missing, options);
  options.published = for_built_in(report.results.rows, published.lookup(kPublishedTables));
  options.side_by_side = false;
  const study::ScoreTable blocks =
      study::make_table(report.results.rows, report.results.missing, options);

  Json datasets = document::datasets_json(report, table);
  for (Json& dataset : datasets) {
    Json values = document::published_json(blocks, published, kPublishedTables, dataset["name"]);
    if (!values.is_null()) dataset["published"] = std::move(values);
  }
  Json curves = document::curves_json(report), study = document::study_json(report);

  ReportDocument out;
  out.left_out = report.left_out;
  const auto section = [&](const char* id, bool there, const char* title, const char* otherwise) {
    if (there) {
      out.sections.emplace_back(id);
    } else if (*otherwise != '\0') {
      out.left_out.push_back({title, otherwise});
    }
  };
  const bool scored = any_scored(table);
  const bool several = std::any_of(datasets.begin(), datasets.end(),
                                   [](const Json& dataset) { return dataset["rows"].size() > 1; });
  section("answer", true, "", "");
  section("domains", scored, "Results by domain", why_no_results(table));
  section("shift", any_dataset(datasets, "shift"), "", "");
  section("methods", scored && several, "Comparison of methods", "there is one method only");
  section("published", any_dataset(datasets, "published"), "Comparison with published values",
          "nothing is published for these datasets and methods");
  section("curves", !curves.empty(), "Training curves",
          "no run folder with a training log of two epochs or more");
  section("models", any_dataset(datasets, "models"), "", "");
  const bool calibrated =
      std::any_of(report.results.rows.begin(), report.results.rows.end(),
                  [](const study::ResultRow& row) { return row.record.calibration.has_value(); });
  section("reliability", calibrated, "Reliability of probabilities",
          "no run has fitted a temperature (runs of older versions, or train.calibrate = false)");
  section("embedding", any_dataset(datasets, "embedding"), "", "");
  section("explanations", any_dataset(datasets, "explanations"), "", "");
  section("study", !study.is_null(), "", "");
  section("repeat", true, "", "");

  Json left_out = Json::array();
  for (const LeftOut& each : out.left_out) {
    left_out.push_back({{"section", each.section}, {"reason", each.reason}});
  }
  Json all = {{"schema", "grm.report"},
              {"version", 1},
              {"program", GRM_VERSION},
              {"title", report.title},
              {"about", report.about},
              {"command", report.command},
              {"rule", table.rule},
              {"rule_text", study::rule_text(table.rule)},
              {"against", table.against},
              {"notes", report.notes},
              {"missing", missing_json(report.results.missing)},
              {"left_out", left_out},
              {"sections", out.sections},
              {"runs", runs_json(report.results.rows, table.rule)},
              {"datasets", std::move(datasets)},
              {"curves", std::move(curves)}};
  if (!study.is_null()) all["study"] = std::move(study);
  all["repeat"] = document::repeat_json(report);
  out.text = json_text(all);
  out.plain =
      document::plain_page(report, table, blocks, published, kPublishedTables, out.left_out);
  return out;
}

}  // namespace grm::report

namespace grm::report::document {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json rounded(double value, int digits) {
  return std::isfinite(value) ? Json(std::stod(fmt::format("{:.{}g}", value, digits)))
                              : Json(nullptr);
}

Json mean_std_json(const MeanStd& value) {
  return {{"mean", number(value.mean)}, {"std", number(value.std)}};
}

}  // namespace grm::report::document
