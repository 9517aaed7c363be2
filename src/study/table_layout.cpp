// What a table of scores looks like: which numbers stand in which column, and the notes below.
#include <algorithm>
#include <cmath>
#include <set>

#include "study/table.h"

namespace grm::study {
namespace {

std::string published_text(const Score* score) {
  return score && score->published ? score_text(*score->published) : "";
}

std::string runs_text(const Cell& cell) {
  return cell.runs < cell.expected ? fmt::format("{}/{}", cell.runs, cell.expected)
                                   : std::to_string(cell.runs);
}

using Getter = std::function<const Score*(const Cell&)>;  // null: the cell has no such number

// The best number as it is printed: two that print alike are equally good. "": nothing to be best of.
std::string best_of(const DatasetColumn& column, const Getter& get) {
  std::vector<double> means;
  for (const Cell& cell : column.cells) {
    if (const Score* score = cell.runs > 0 ? get(cell) : nullptr) means.push_back(score->ours.mean);
  }
  if (means.size() < 2) return "";
  return column.text(*std::max_element(means.begin(), means.end(),
                                       [&](double a, double b) { return column.gain(a, b) < 0; }));
}

Table::Entry score_entry(const DatasetColumn& column, const Cell& cell, const Getter& get) {
  const Score* score = cell.runs > 0 ? get(cell) : nullptr;
  if (!score) return {cell.expected > 0 ? "missing" : "", false, 0};
  return {column.text(score->ours, cell.runs),
          column.text(score->ours.mean) == best_of(column, get), 0};
}

const Score* min_of(const Cell& cell) {
  return cell.domains.empty() ? nullptr : &cell.min;
}
const Score* avg_of(const Cell& cell) {
  return cell.domains.empty() ? nullptr : &cell.avg;
}

std::string block_title(const std::string& name) {
  if (name.empty()) return "";
  if (name == "sum") return "Block sum: plain sum over in-neighbours, as the authors coded it";
  if (name == "kipf") return "Block kipf: self-loops and symmetric normalisation";
  return "Block " + name;
}

bool has_published(const DatasetColumn& column) {
  return std::any_of(column.cells.begin(), column.cells.end(),
                     [](const Cell& cell) { return cell.min.published || cell.avg.published; });
}

using Columns = std::vector<const DatasetColumn*>;

// "Validation chooses grm on cora, erm on twitch."
std::string choices(const Block& block, const Columns& columns) {
  if (block.methods.size() < 2) return "";
  std::string text;
  for (const DatasetColumn* column : columns) {
    const size_t chosen = chosen_by_validation(*column);
    if (chosen == column->cells.size()) continue;
    text +=
        fmt::format("{} {} on {}", text.empty() ? "" : ",", block.methods[chosen], column->dataset);
  }
  return text.empty() ? text : "Validation chooses" + text + ".";
}

void add_notes(Table& layout, const ScoreTable& table, const Block& block, const Columns& columns) {
  bool tested = false, incomplete = false, published = false;
  std::set<std::string> references;
  for (const DatasetColumn* column : columns) {
    published = published || has_published(*column);
    for (const Cell& cell : column->cells) {
      tested = tested || (cell.test && cell.test->p);
      if (cell.test) references.insert(cell.against);
      incomplete = incomplete || cell.runs < cell.expected;
    }
  }
  layout.notes.push_back(
      fmt::format("Mean ± sample deviation over runs, in percent, of {}.", rule_text(table.rule)));
  const std::string chosen = choices(block, columns);
  if (!chosen.empty()) layout.notes.push_back(chosen);
  if (tested) {
    layout.notes.push_back(fmt::format(
        "▲ better, ▼ worse than {} in Avg: paired t-test over seeds, p < {}.",
        references.size() == 1 ? *references.begin()
                               : table.against + " with the same options, or else its first ones,",
        table.level));
  }
  if (published && block.name == "kipf") {
    layout.notes.push_back(
        "The published rows of ERM and EERM match the sum convolution, not this one; compare them "
        "with the block sum.");
  }
  if (incomplete) layout.notes.push_back("n/m: n of m runs are there.");
  for (const std::string& note : table.notes) layout.notes.push_back(note);
}

// One row for each constant answer of some dataset; `add` appends what a dataset has for it, which
// may be nothing.
void add_constants(
    Table& layout, const Columns& columns,
    const std::function<void(Table::Row&, const DatasetColumn&, const ConstantAnswer*)>& add) {
  std::vector<ConstantAnswer> answers;
  for (const DatasetColumn* column : columns) {
    for (const ConstantAnswer& answer : column->constants) {
      const bool known = std::any_of(answers.begin(), answers.end(),
                                     [&](const auto& other) { return other.name == answer.name; });
      if (!known) answers.push_back(answer);
    }
  }
  for (const ConstantAnswer& answer : answers) {
    layout.rows.push_back({{answer.name}});
    for (const DatasetColumn* column : columns) {
      const auto found = std::find_if(column->constants.begin(), column->constants.end(),
                                      [&](const auto& own) { return own.name == answer.name; });
      add(layout.rows.back(), *column, found == column->constants.end() ? nullptr : &*found);
    }
  }
  if (!answers.empty()) layout.notes.push_back(constants_note(answers));
}

// A number of every dataset that has a column of its own, and what is published for it.
struct ScoreColumn {
  std::string name;
  Getter get;
};

Table dataset_layout(const ScoreTable& table, const Block& block,
                     const std::vector<ScoreColumn>& columns) {
  Table layout;
  layout.title = block_title(block.name);
  layout.head = {"method"};
  for (const std::string& method : block.methods) layout.rows.push_back({{method}});
  for (const DatasetColumn& column : block.datasets) {
    const bool published = has_published(column);
    const int width = static_cast<int>(columns.size()) * (published ? 2 : 1) + 1;
    layout.groups.push_back({column.dataset, width});
    for (const auto& [name, get] : columns) {
      layout.head.push_back(name);
      if (published) layout.head.push_back("paper");
      for (size_t m = 0; m < block.methods.size(); ++m) {
        const Cell& cell = column.cells[m];
        Table::Entry entry = score_entry(column, cell, get);
        if (name == "Avg") entry.mark = cell.mark;
        layout.rows[m].push_back(entry);
        if (published) {
          layout.rows[m].push_back({published_text(get(cell))});
        }
      }
    }
    layout.head.push_back("runs");
    for (size_t m = 0; m < block.methods.size(); ++m) {
      const Cell& cell = column.cells[m];
      layout.rows[m].push_back({cell.expected > 0 ? runs_text(cell) : ""});
    }
  }
  Columns all;
  for (const DatasetColumn& column : block.datasets) all.push_back(&column);
  add_notes(layout, table, block, all);
  add_constants(layout, all,
                [&](Table::Row& row, const DatasetColumn& column, const ConstantAnswer* answer) {
                  for (const ScoreColumn& each : columns) {
                    const auto of = each.name == "Min" ? min_score : mean_score;
                    row.push_back({answer ? column.text(of(answer->scores)) : ""});
                    if (has_published(column)) row.push_back({""});
                  }
                  row.push_back({""});
                });
  return layout;
}

// All domains of one dataset; the published value follows ours in brackets.
Table one_domain_layout(const ScoreTable& table, const Block& block, const DatasetColumn& column,
                        bool whole) {
  Table layout;
  layout.title = column.dataset + (column.metric.empty() ? "" : ", " + column.metric);
  if (!block.name.empty()) layout.title += ". " + block_title(block.name);
  const std::vector<std::string> domains = domains_of(column);
  layout.head = {"method"};
  std::vector<Getter> getters;
  for (const std::string& domain : domains) {
    layout.head.push_back(domain);
    getters.push_back([domain](const Cell& cell) -> const Score* {
      for (const Cell::DomainRow& row : cell.domains) {
        if (row.domain == domain) return &row.score;
      }
      return nullptr;
    });
  }
  if (whole) {
    layout.head.push_back("Min");
    getters.push_back(min_of);
  }
  layout.head.push_back("Avg");
  getters.push_back(avg_of);
  if (whole) layout.head.push_back("validation");
  layout.head.push_back("runs");
  layout.groups.assign(layout.head.size() - 1, {"", 1});
  bool published = false;
  for (size_t m = 0; m < block.methods.size(); ++m) {
    const Cell& cell = column.cells[m];
    if (cell.expected == 0) continue;
    Table::Row row = {{block.methods[m]}};
    for (const Getter& get : getters) {
      Table::Entry entry = score_entry(column, cell, get);
      const Score* score = get(cell);
      if (score && score->published) {
        entry.text += " (" + published_text(score) + ")";
        published = true;
      }
      row.push_back(entry);
    }
    row.back().mark = cell.mark;
    if (whole) {
      row.push_back({cell.runs > 0 ? column.text(cell.validation, cell.runs) : "",
                     block.methods.size() > 1 && m == chosen_by_validation(column), 0});
    }
    row.push_back({runs_text(cell)});
    layout.rows.push_back(row);
  }
  if (published) layout.notes.push_back("In brackets: published.");
  add_notes(layout, table, block, {&column});
  add_constants(layout, {&column},
                [&](Table::Row& row, const DatasetColumn&, const ConstantAnswer* answer) {
                  for (const std::string& domain : domains) {
                    std::string text;
                    for (const DomainScore& s : answer->scores) {
                      if (s.domain == domain) text = column.text(s.value);
                    }
                    row.push_back({text});
                  }
                  if (whole) row.push_back({column.text(min_score(answer->scores))});
                  row.push_back({column.text(mean_score(answer->scores))});
                  row.resize(layout.head.size());
                });
  if (whole) {
    layout.notes.push_back(
        "Min: the domain with the worst mean. Avg: mean over domains; its deviation is that of "
        "the averages of the runs.");
  }
  return layout;
}

}  // namespace

Table whole_layout(const ScoreTable& table, const Block& block, const DatasetColumn& column) {
  return one_domain_layout(table, block, column, true);
}

std::vector<Table> score_layouts(const ScoreTable& table) {
  std::vector<Table> layouts;
  for (const Block& block : table.blocks) {
    layouts.push_back(dataset_layout(table, block, {{"Min", min_of}, {"Avg", avg_of}}));
  }
  return layouts;
}

std::vector<Table> average_layouts(const ScoreTable& table) {
  std::vector<Table> layouts;
  for (const Block& block : table.blocks) {
    layouts.push_back(dataset_layout(table, block, {{"Avg", avg_of}}));
  }
  return layouts;
}

std::vector<Table> domain_layouts(const ScoreTable& table) {
  std::vector<Table> layouts;
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      layouts.push_back(one_domain_layout(table, block, column, false));
    }
  }
  return layouts;
}

}  // namespace grm::study
