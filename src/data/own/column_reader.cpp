#include "data/own/column_reader.h"

#include <fmt/ranges.h>

#include <limits>
#include <unordered_set>

#include "grm/core/options.h"

namespace grm::own {
namespace {

constexpr int64_t kTold = 3;  // bad cells of a column that are told one by one

using Words = std::unordered_set<std::string>;

Words set_of(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

}  // namespace

Plan make_plan(const Description& d, const ColumnWords& words, const CsvFile& file,
               const std::vector<std::string>& special, bool others_numeric, Problems& problems,
               std::vector<std::string>& left_out) {
  Plan plan;
  plan.from = file.path();
  const Words with_meaning = set_of(special);
  Words numeric, categorical, ignored;
  for (const auto& [list, into] :
       {std::pair<const std::vector<Word>*, Words*>{&words.numeric, &numeric},
        {&words.categorical, &categorical},
        {&words.ignore, &ignored}}) {
    for (const Word& word : *list) {
      into->insert(word.text);
      if (into == &ignored) plan.ignore.push_back(word.text);
      if (with_meaning.count(word.text) > 0) {
        if (into == &ignored) continue;
        problems.add(d.problem(word.place,
                               fmt::format("column '{}' has a special meaning", shown(word.text)),
                               "ids, labels, graphs and domains are not features: remove it here"));
      } else if (file.find(word.text) < 0 && into != &ignored) {
        problems.add(d.problem(word.place,
                               fmt::format("{} has no column '{}'{}", file.path(), shown(word.text),
                                           did_you_mean(word.text, file.header())),
                               "write the name as in the first line of the table"));
      }
    }
  }
  plan.ignore_others = !others_numeric || words.lists_numeric;
  for (const std::string& name : file.header()) {
    if (with_meaning.count(name) > 0 || ignored.count(name) > 0) continue;
    if (categorical.count(name) > 0) {
      plan.entries.push_back({name, false, d.missing});
    } else if (numeric.count(name) > 0 || !plan.ignore_others) {
      plan.entries.push_back({name, true, d.missing});
    } else {
      left_out.push_back(name);
    }
  }
  return plan;
}

ColumnReader::ColumnReader(const Plan& plan, const CsvFile& file,
                           const std::vector<std::string>& special, Problems& problems)
    : file_(file), problems_(problems) {
  std::vector<std::string> lacking;
  Words known = set_of(special);
  known.insert(plan.ignore.begin(), plan.ignore.end());
  for (const Plan::Entry& entry : plan.entries) {
    Source source;
    if (entry.sparse) continue;
    source.position = file.find(entry.name);
    source.error_if_missing = entry.missing == "error";
    if (source.position < 0) lacking.push_back(entry.name);
    known.insert(entry.name);
    sources_.push_back(source);
    Column column;
    column.name = entry.name;
    column.numeric = entry.numeric;
    columns_.list.push_back(std::move(column));
  }
  const int64_t before = problems.count();
  if (!lacking.empty()) {
    problems.add({file.path(), 1, 0,
                  fmt::format("there is no column '{}', but {} has {}", fmt::join(lacking, "', '"),
                              plan.from, lacking.size() == 1 ? "it" : "them"),
                  "all tables need the same columns, in any order"});
  }
  if (!plan.ignore_others) {
    for (size_t k = 0; k < file.header().size(); ++k) {
      const std::string& name = file.header()[k];
      if (known.count(name) > 0) continue;
      problems.add({file.path(), 1, static_cast<int64_t>(k) + 1,
                    fmt::format("the column '{}' is not in {}", shown(name), plan.from),
                    "remove it, or name it under 'ignore' in dataset.toml"});
    }
  }
  problems.stop_if_more_than(before);
}

void ColumnReader::add(const io::CsvRow& row) {
  ++columns_.rows;
  for (size_t k = 0; k < sources_.size(); ++k) {
    Column& column = columns_.list[k];
    const std::string_view cell = trimmed(row.columns[static_cast<size_t>(sources_[k].position)]);
    const bool absent = is_missing(cell);
    if (!column.numeric) {
      column.codes.push_back(static_cast<int32_t>(column.texts.add(absent ? "" : cell)));
      continue;
    }
    double value = std::numeric_limits<double>::quiet_NaN();
    if (absent) {
      if (sources_[k].error_if_missing) missing_cell(row, k);
    } else if (const Number got = read_number(cell, value); got != Number::ok) {
      value = std::numeric_limits<double>::quiet_NaN();
      bad_cell(row, k, got == Number::too_large);
    }
    column.numbers.add(value);
  }
}

void ColumnReader::bad_cell(const io::CsvRow& row, size_t k, bool too_large) {
  if (++sources_[k].bad > kTold) return;
  const std::string cell(trimmed(row.columns[static_cast<size_t>(sources_[k].position)]));
  std::string fix = fmt::format(
      "write a number, or name the column under [columns] categorical or ignore: "
      "categorical = [\"{}\"]",
      columns_.list[k].name);
  if (too_large) fix = "scale the column; single precision ends at 3.4e38";
  if (cell.find(',') != std::string::npos) fix = "write decimals with a point, thousands together";
  problems_.add(
      {file_.path(), row.line, sources_[k].position + 1,
       fmt::format("column '{}': '{}' is {}", columns_.list[k].name, shown(cell),
                   too_large ? "infinite or beyond the numbers that can be used" : "not a number"),
       fix});
}

void ColumnReader::missing_cell(const io::CsvRow& row, size_t k) {
  if (++sources_[k].missing > kTold) return;
  problems_.add({file_.path(), row.line, sources_[k].position + 1,
                 fmt::format("column '{}': the value is missing", columns_.list[k].name),
                 "fill it in, or write missing = \"mean\", \"zero\" or \"flag\" in dataset.toml"});
}

Columns ColumnReader::finish() {
  for (size_t k = 0; k < sources_.size(); ++k) {
    const Source& source = sources_[k];
    for (const auto& [count, what] :
         {std::pair<int64_t, const char*>{source.bad, "cells of the column are not numbers"},
          {source.missing, "values of the column are missing"}}) {
      if (count <= kTold) continue;
      problems_.add(
          {file_.path(), 0, 0,
           fmt::format("column '{}': {} more {}", columns_.list[k].name, count - kTold, what),
           "as above"});
    }
  }
  return std::move(columns_);
}

}  // namespace grm::own
