// The first section of a report: what was run, and what came out in words.
#include <algorithm>
#include <map>
#include <set>

#include "core/json.h"
#include "core/lists.h"
#include "report/html_sections.h"

namespace grm::report {
namespace {

using study::Block;
using study::Cell;
using study::DatasetColumn;

using study::ResultRow;
using study::score_text;
using study::ScoreTable;

constexpr size_t kOpenRows = 12;  // a longer table of runs is folded up
constexpr size_t kToldTests = 3;  // comparisons in words; the table has all of them

// The row that has the highest Avg on test: what nobody may choose by.
size_t highest_on_test(const DatasetColumn& column) {
  size_t best = column.cells.size();
  for (size_t m = 0; m < column.cells.size(); ++m) {
    if (column.cells[m].domains.empty()) continue;
    if (best == column.cells.size() ||
        column.cells[m].avg.ours.mean > column.cells[best].avg.ours.mean) {
      best = m;
    }
  }
  return best;
}

std::string test_text(const DatasetColumn& column, const Cell& cell) {
  std::string text = fmt::format("{} {} on average over {} test domain{}",
                                 metric_name(column.metric), score_text(cell.avg.ours, cell.runs),
                                 cell.domains.size(), cell.domains.size() == 1 ? "" : "s");
  if (cell.domains.size() > 1) {
    text += fmt::format(" and {} on the worst, {}", score_text(cell.min.ours, cell.runs),
                        cell.min_domain);
  }
  for (size_t k = 0; k < column.constants.size(); ++k) {
    text += fmt::format("{} {} has {:.1f}", k == 0 ? ";" : ",", column.constants[k].about,
                        mean_score(column.constants[k].scores));
  }
  return text + ".";
}

// "validation chooses grm of 3 methods (81.2 ± 0.5). On test it has ...".
std::string verdict(const Block& block, const DatasetColumn& column) {
  const size_t chosen = study::chosen_by_validation(column);
  const size_t highest = highest_on_test(column);
  if (highest == block.methods.size() || column.cells[chosen].domains.empty()) return "";
  const Cell& cell = column.cells[chosen];
  const auto candidates = std::count_if(column.cells.begin(), column.cells.end(),
                                        [](const Cell& each) { return each.runs > 0; });
  std::string text = column.dataset + ": ";
  if (candidates > 1) {
    text += fmt::format("of {} candidates, validation chooses {} ({} there). On test it has ",
                        candidates, block.methods[chosen], score_text(cell.validation, cell.runs));
  } else {
    text += block.methods[chosen] + " has ";
  }
  text += test_text(column, cell);
  if (cell.runs == 1) {
    text += " One run says nothing about the deviation over seeds; --seeds 3 and more do.";
  }
  if (highest != chosen) {
    const Cell& other = column.cells[highest];
    text += fmt::format(
        " {} has {} on test, but {} on validation: a choice by test scores would be none.",
        block.methods[highest], score_text(other.avg.ours, other.runs),
        score_text(other.validation, other.runs));
  }
  // The choice first, then the others in the order of the table.
  std::vector<size_t> order = {chosen};
  for (size_t m = 0; m < block.methods.size(); ++m) {
    if (m != chosen) order.push_back(m);
  }
  size_t told = 0;
  for (const size_t m : order) {
    const auto& test = column.cells[m].test;
    if (!test || !test->p || told == kToldTests) continue;
    text += fmt::format(" {} against {}: {:+.1f} points, p = {:.3f} (paired t-test over {} runs).",
                        block.methods[m], column.cells[m].against, test->difference, *test->p,
                        test->pairs);
    ++told;
  }
  return text;
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
    }
    Table::Row line = {setup.dataset, setup.method};
    if (blocks) line.push_back(setup.variant);
    const auto validated = static_cast<int64_t>(validation.size());
    line.insert(line.end(),
                {seeds_text(seeds), range_text(epochs), chosen.empty() ? "" : range_text(chosen),
                 validation.empty() ? "" : score_text(mean_std(validation), validated),
                 std::to_string(setup.rows.front()->record.parameters),
                 fmt::format("{:.3f}", mean_std(seconds).mean), fmt::format("{:.0f}", peak)});
    layout.rows.push_back(std::move(line));
  }
  layout.notes = {"Validation: the metric in percent at " + study::rule_text(rule) +
                  ", mean over validation domains."};
  return layout;
}

// What the data's makers and readers must know, from the records of the runs.
std::vector<std::string> data_notes(const std::vector<ResultRow>& rows) {
  std::vector<std::string> notes;
  for (const ResultRow& row : rows) {
    const auto env = try_json<nlohmann::json>(row.environment);
    if (!env.is_object()) continue;
    for (const auto& note : env.value("notes", nlohmann::json::array())) {
      if (note.is_string()) add_once(notes, row.dataset + ": " + note.get<std::string>());
    }
    for (const auto& name : env.value("missing", nlohmann::json::array())) {
      if (name.is_string()) {
        add_once(notes, fmt::format("{}: run without {}, whose files were missing; Min and Avg are "
                                    "over the others",
                                    study::without_seed(row.dataset), name.get<std::string>()));
      }
    }
  }
  return notes;
}

}  // namespace

std::string summary_section(const HtmlReport& report, const ScoreTable& table) {
  std::vector<std::string> words;
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      const std::string text = verdict(block, column);
      if (!text.empty()) words.push_back(text);
    }
  }
  if (words.empty()) words.push_back("No run has test scores yet.");
  std::string out = html_list(words);
  const std::vector<Setup> setups = setups_of(report.results.rows);
  if (!setups.empty()) {
    const std::string runs = html_table(runs_layout(setups, table.rule));
    out += setups.size() > kOpenRows
               ? html_details(fmt::format("{} configurations that ran", setups.size()), runs)
               : runs;
  }
  const Table missing = study::missing_layout(report.results.missing);
  if (!missing.rows.empty()) {
    const std::string lacking = html_table(missing);
    out +=
        missing.rows.size() > kOpenRows ? html_details("Runs without a result", lacking) : lacking;
  }
  std::vector<std::string> notes = report.notes;
  const std::vector<std::string> recorded = data_notes(report.results.rows);
  notes.insert(notes.end(), recorded.begin(), recorded.end());
  if (!notes.empty()) out += "<h3>Notes on the data</h3>\n" + html_list(notes);
  return out;
}

}  // namespace grm::report
