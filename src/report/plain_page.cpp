// The main tables of a report as plain HTML, for browsers without scripts.
#include <algorithm>
#include <set>

#include "core/json.h"
#include "core/lists.h"
#include "core/text.h"
#include "report/document.h"

namespace grm::report::document {
namespace {

using study::Block;
using study::DatasetColumn;
using study::ResultRow;
using study::score_text;

std::string html_list(const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string out = "<ul class=\"plain\">\n";
  for (const std::string& item : items) out += "<li>" + html_escape(item) + "</li>\n";
  return out + "</ul>\n";
}

std::string headed(const char* title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<h2>{}</h2>\n", title) + body;
}

std::string range_text(const std::vector<int64_t>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low == *high ? std::to_string(*low) : fmt::format("{} to {}", *low, *high);
}

std::string seeds_text(std::vector<int64_t> seeds) {
  std::sort(seeds.begin(), seeds.end());
  std::string out;
  for (size_t begin = 0, end; begin < seeds.size(); begin = end) {
    for (end = begin + 1; end < seeds.size() && seeds[end] == seeds[end - 1] + 1; ++end) {
    }
    out += (out.empty() ? "" : ", ") + std::to_string(seeds[begin]);
    if (end - begin > 1) out += fmt::format("{}{}", end - begin > 2 ? "–" : ", ", seeds[end - 1]);
  }
  return out;
}

Table runs_layout(const std::vector<Setup>& setups, const std::string& rule) {
  Table layout;
  layout.title = "Runs";
  layout.label_columns = 2;
  const bool blocks =
      std::any_of(setups.begin(), setups.end(), [](const Setup& s) { return !s.variant.empty(); });
  layout.head = {"dataset", "method"};
  if (blocks) {
    layout.head.push_back("options");
    layout.label_columns = 3;
  }
  for (const char* name :
       {"seeds", "epochs", "chosen epoch", "validation", "parameters", "s/epoch", "peak MiB"}) {
    layout.head.push_back(name);
  }
  for (const Setup& setup : setups) {
    std::vector<int64_t> seeds, epochs, chosen;
    std::vector<double> validation, seconds;
    double peak = 0.0;
    bool errors = false;
    for (const ResultRow* row : setup.rows) {
      const RunRecord& record = row->record;
      seeds.push_back(row->seed);
      epochs.push_back(record.epochs);
      seconds.push_back(record.seconds_per_epoch);
      peak = std::max(peak, record.peak_memory_mib);
      const auto choice = record.chosen.find(rule);
      if (choice == record.chosen.end()) continue;
      chosen.push_back(choice->second.epoch);
      validation.push_back(choice->second.validation);
      errors = choice->second.smaller_is_better;
    }
    Table::Row line = {setup.dataset, setup.method};
    if (blocks) line.push_back(setup.variant);
    const auto validated = static_cast<int64_t>(validation.size());
    line.insert(line.end(),
                {seeds_text(seeds), range_text(epochs), chosen.empty() ? "" : range_text(chosen),
                 validation.empty() ? "" : score_text(mean_std(validation), validated, errors),
                 std::to_string(setup.rows.front()->record.parameters),
                 fmt::format("{:.3f}", mean_std(seconds).mean), fmt::format("{:.0f}", peak)});
    layout.rows.push_back(std::move(line));
  }
  layout.notes = {"Validation: the metric at " + study::rule_text(rule) +
                  ", mean over validation domains."};
  return layout;
}

bool any_scores(const DatasetColumn& column) {
  return std::any_of(column.cells.begin(), column.cells.end(),
                     [](const Cell& cell) { return !cell.domains.empty(); });
}

std::string verdict_list(const study::ScoreTable& table) {
  std::vector<std::string> words;
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      const std::string text = verdict(block, column);
      if (!text.empty()) words.push_back(text);
    }
  }
  if (words.empty()) words.push_back("No run has test scores yet.");
  return html_list(words);
}

std::string score_tables(const study::ScoreTable& table) {
  std::string out;
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      if (!any_scores(column)) continue;
      Table layout = study::whole_layout(table, block, column);
      layout.title = column.dataset + ", " + metric_name(column.metric);
      layout.totals = column.constants.size();
      out += html_table(layout);
    }
  }
  for (size_t b = 0; b < table.blocks.size(); ++b) {
    const Block& block = table.blocks[b];
    const bool scored = std::any_of(block.datasets.begin(), block.datasets.end(), any_scores);
    if (block.methods.size() < 2 || !scored) continue;
    Table layout = study::score_layouts(table)[b];
    layout.title = "Min and Avg of every method";
    out += html_table(layout);
  }
  return out;
}

std::string published_table(const Json& published) {
  if (published.is_null()) return "";
  Table layout;
  layout.title = "Published: " + published["source"].get<std::string>();
  layout.label_columns = 3;
  layout.head = {"dataset", "method", "score", "ours", "published", "difference", "runs"};
  for (const Json& value : published["values"]) {
    layout.rows.push_back({{value["dataset"].get<std::string>()},
                           {value["row"].get<std::string>()},
                           {value["score"].get<std::string>()},
                           {value["ours_text"].get<std::string>()},
                           {value["published_text"].get<std::string>()},
                           {fmt::format("{:+.1f}", value["difference"].get<double>())},
                           {std::to_string(value["runs"].get<int64_t>())}});
  }
  return html_table(layout);
}

}  // namespace

std::string plain_page(const ReportParts& report, const study::ScoreTable& table,
                       const study::ScoreTable& blocks, const Published& published,
                       const std::vector<std::string>& tables,
                       const std::vector<LeftOut>& left_out) {
  std::string out = "<h1>" + html_escape(report.title) + "</h1>\n<p>" + html_escape(report.about) +
                    "</p>\n<p>This page draws its charts by a script, which this browser does not "
                    "run. These are its main tables.</p>\n" +
                    verdict_list(table) + score_tables(table);
  out += headed("Published values", published_table(published_json(blocks, published, tables, "")));
  const std::vector<Setup> setups = setups_of(report.results.rows);
  if (!setups.empty()) out += headed("Runs", html_table(runs_layout(setups, table.rule)));
  const Table missing = study::missing_layout(report.results.missing);
  if (!missing.rows.empty()) out += html_table(missing);
  out += headed("Notes on the data", html_list(report.notes));
  std::vector<std::string> lines;
  for (const LeftOut& each : left_out) lines.push_back(each.section + ": " + each.reason);
  return out + headed("What is left out", html_list(lines));
}

}  // namespace grm::report::document
