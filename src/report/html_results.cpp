// The sections of a report that show scores.
#include <algorithm>

#include "core/lists.h"
#include "report/html_sections.h"
#include "report/result_figures.h"

namespace grm::report {
namespace {

using study::Block;
using study::Cell;
using study::DatasetColumn;

using study::domains_of;
using study::score_text;
using study::ScoreTable;

constexpr size_t kOpenTables = 3;  // more of them are folded up but for the first

void note_bars(Figure& figure) {
  for (const Series& series : figure.series) {
    for (const Point& p : series.points) {
      if (p.runs < 2) continue;
      figure.notes = {"bars: sample deviation over runs"};
      return;
    }
  }
}

Figure domain_figure(const Block& block, const DatasetColumn& column, const std::string& title) {
  Figure figure;
  figure.title = title + " by test domain";
  figure.y_label = metric_name(column.metric) + ", percent";
  figure.categories = domains_of(column);
  const auto place = [&](const std::string& domain) {
    return static_cast<double>(
        std::find(figure.categories.begin(), figure.categories.end(), domain) -
        figure.categories.begin());
  };
  for (size_t m = 0; m < block.methods.size(); ++m) {
    const Cell& cell = column.cells[m];
    if (cell.domains.empty()) continue;
    Series series{block.methods[m], {}};
    for (const Cell::DomainRow& row : cell.domains) {
      series.points.push_back(
          {place(row.domain), row.score.ours.mean, row.score.ours.std, cell.runs});
    }
    figure.series.push_back(std::move(series));
  }
  for (const ConstantAnswer& answer : column.constants) {
    Series series{answer.name, {}};
    for (const DomainScore& s : answer.scores) {
      if (place(s.domain) < static_cast<double>(figure.categories.size())) {
        series.points.push_back({place(s.domain), s.value, 0.0, 1});
      }
    }
    figure.series.push_back(std::move(series));
  }
  note_bars(figure);
  return figure;
}

// Avg of all datasets, one mark for each method.
Figure average_figure(const Block& block) {
  Figure figure;
  figure.title = "Avg over test domains" + (block.name.empty() ? "" : ", block " + block.name);
  figure.y_label = "Avg, percent";
  for (const DatasetColumn& column : block.datasets) figure.categories.push_back(column.dataset);
  for (size_t m = 0; m < block.methods.size(); ++m) {
    Series series = averages(block, m);
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  note_bars(figure);
  return figure;
}

// One dataset: Avg and Min of every method.
Figure method_figure(const Block& block) {
  Figure figure;
  const DatasetColumn& column = block.datasets.front();
  figure.title = column.dataset + ": Avg and Min over test domains" +
                 (block.name.empty() ? "" : ", block " + block.name);
  figure.y_label = metric_name(column.metric) + ", percent";
  figure.categories = block.methods;
  figure.series = {{"Avg", {}}, {"Min", {}}};
  for (size_t m = 0; m < block.methods.size(); ++m) {
    const Cell& cell = column.cells[m];
    if (cell.domains.empty()) continue;
    const double at = static_cast<double>(m);
    figure.series[0].points.push_back({at, cell.avg.ours.mean, cell.avg.ours.std, cell.runs});
    figure.series[1].points.push_back({at, cell.min.ours.mean, cell.min.ours.std, cell.runs});
  }
  if (column.cells.front().domains.size() == 1) figure.series.pop_back();  // Min is Avg
  note_bars(figure);
  return figure;
}

bool any_scores(const DatasetColumn& column) {
  return std::any_of(column.cells.begin(), column.cells.end(),
                     [](const Cell& cell) { return !cell.domains.empty(); });
}

std::string grid(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"figures\">\n" + figures + "</div>\n";
}

}  // namespace

std::string results_section(const ScoreTable& table) {
  std::vector<std::pair<std::string, std::string>> parts;  // title, HTML
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      if (!any_scores(column)) continue;
      const std::string title = column.dataset + ", " + metric_name(column.metric);
      Table layout = study::whole_layout(table, block, column);
      layout.title = title;
      layout.totals = column.constants.size();
      std::string body = html_table(layout);
      if (domains_of(column).size() > 1) {
        body += grid(html_chart(domain_figure(block, column, title)));
      }
      parts.emplace_back(title, body);
    }
  }
  std::string out;
  for (size_t k = 0; k < parts.size(); ++k) {
    out += parts.size() <= kOpenTables ? parts[k].second
                                       : html_details(parts[k].first, parts[k].second, k == 0);
  }
  return out;
}

std::string comparison_section(const ScoreTable& table, const ScoreTable& blocks) {
  std::string out, figures;
  for (size_t b = 0; b < table.blocks.size(); ++b) {
    const Block& block = table.blocks[b];
    const bool scored = std::any_of(block.datasets.begin(), block.datasets.end(), any_scores);
    if (block.methods.size() < 2 || !scored) continue;
    Table layout = study::score_layouts(table)[b];
    layout.title = "Min and Avg of every method";
    out += html_table(layout);
    if (block.datasets.size() > 1) {
      figures += html_chart(average_figure(block));
    } else if (block.methods.size() > 2) {
      figures += html_chart(method_figure(block));
    }
  }
  for (const Figure& figure : shift_figures(blocks, "shift")) figures += html_chart(figure);
  return out + grid(figures);
}

std::string published_section(const ScoreTable& table, const Published& published,
                              const std::vector<std::string>& tables) {
  Table layout;
  layout.label_columns = 3;
  layout.head = {"dataset", "method", "score", "ours", "published", "difference", "runs"};
  std::vector<std::string> datasets;
  for_each_cell(table, [&](const Block& block, const DatasetColumn& column,
                           const std::string& method, const Cell& cell) {
    if (cell.domains.empty()) return;
    const auto add = [&](const std::string& name, const study::Score& score) {
      if (!score.published) return;
      layout.rows.push_back({column.dataset + (block.name.empty() ? "" : ", block " + block.name),
                             method, name, score_text(score.ours, cell.runs),
                             score_text(*score.published),
                             fmt::format("{:+.1f}", score.ours.mean - score.published->value),
                             std::to_string(cell.runs)});
      datasets.push_back(column.dataset);
    };
    add("Min", cell.min);
    add("Avg", cell.avg);
    for (const Cell::DomainRow& row : cell.domains) add(row.domain, row.score);
  });
  if (layout.rows.empty()) return "";
  std::string out = html_paragraph("Published: " + published.source() +
                                   ". Differences in percentage points, ours minus published.") +
                    html_table(layout);
  std::vector<std::string> notes;
  for (const std::string& id : tables) {
    for (const std::string& note : published.notes_of(id, datasets)) add_once(notes, note);
  }
  return out + html_list(notes);
}

}  // namespace grm::report
