// A report put together: which sections there are and what the others lack.
#include "report/html_report.h"

#include <algorithm>

#include "report/html_sections.h"

namespace grm::report {
namespace {

using study::ResultRow;

const std::vector<std::string> kTables = {
    "table1", "table2", "appendix-cora", "appendix-photo", "appendix-fb100-twitch", "table-graph"};

// The first rule by which some run has chosen.
std::string rule_of(const std::vector<ResultRow>& rows) {
  for (const char* rule : {"val", "last", "oracle"}) {
    const bool any = std::any_of(rows.begin(), rows.end(), [&](const ResultRow& row) {
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

std::string left_out_list(const std::vector<LeftOut>& list) {
  std::vector<std::string> lines;
  for (const LeftOut& each : list) lines.push_back(each.section + ": " + each.reason);
  return html_list(lines);
}

}  // namespace

std::string metric_name(const std::string& metric) {
  if (metric == "roc_auc") return "ROC-AUC";
  if (metric == "macro_f1") return "macro F1";
  return metric.empty() ? "score" : metric;
}

HtmlPage make_page(const HtmlReport& report, study::TableOptions options,
                   const Published& published) {
  options.rule = rule_of(report.results.rows);
  options.published = nullptr;
  options.side_by_side = true;
  const study::ScoreTable table =
      study::make_table(report.results.rows, report.results.missing, options);
  options.published = for_built_in(report.results.rows, published.lookup(kTables));
  options.side_by_side = false;
  const study::ScoreTable blocks =
      study::make_table(report.results.rows, report.results.missing, options);

  HtmlPage page;
  page.left_out = report.left_out;
  const auto add = [&](const char* id, const char* title, const std::string& body,
                       const char* otherwise) {
    if (!body.empty()) {
      page.sections.push_back({id, title, body});
    } else if (*otherwise != '\0') {
      page.left_out.push_back({title, otherwise});
    }
  };
  add("summary", "Summary", summary_section(report, table), "");
  add("results", "Results by domain", results_section(table), why_no_results(table));
  add("comparison", "Comparison of methods", comparison_section(table, blocks),
      "there is one method only");
  add("published", "Comparison with published values",
      published_section(blocks, published, kTables),
      "nothing is published for these datasets and methods");
  add("reliability", "Reliability of probabilities", reliability_section(report),
      "no run has fitted a temperature (runs of older versions, or train.calibrate = false)");
  add("curves", "Training curves", curves_section(report),
      "no run folder with a training log of two epochs or more");
  add("shift", "Shift between domains", shift_section(report), "");
  add("explanations", "Explanations", gallery_section(report), "");
  add("repeat", "How to repeat it", repeat_section(report), "");
  if (!page.left_out.empty()) {
    page.sections.push_back({"left-out", "What is left out", left_out_list(page.left_out)});
  }
  page.text = html_page(report.title, report.about, page.sections);
  return page;
}

}  // namespace grm::report
