#include "study/table.h"

#include <algorithm>
#include <map>

#include "core/lists.h"
#include "grm/core/error.h"
#include "grm/train/selection.h"
#include "study/table_cell.h"

namespace grm::study {
namespace {

// A row of a block.
struct RowName {
  std::string method, variant, shown;
};

// Order of the published tables; what they do not have comes after, in order of appearance.
const std::vector<std::string> kMethodOrder = {"constant", "erm",  "drnn",  "mmd",   "arm",
                                               "eerm",     "lisa", "isgib", "mario", "grm"};
const std::vector<std::string> kDatasetOrder = {"cora",   "photo",    "fb100",
                                                "twitch", "elliptic", "arxiv"};
const std::vector<std::string> kBlockOrder = {"", "sum", "kipf"};

void sort_as(std::vector<std::string>& names, const std::vector<std::string>& order) {
  const auto rank = [&](const std::string& name) {
    return std::find(order.begin(), order.end(), without_preset(without_seed(name))) -
           order.begin();
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
}

class Builder {
 public:
  Builder(const std::vector<ResultRow>& rows, const std::vector<MissingRow>& missing,
          const TableOptions& options)
      : options_(options) {
    table_.against = options.against;
    table_.rule = options.rule;
    table_.level = options.level;
    for (const ResultRow& row : rows) add(row);
    for (const MissingRow& row : missing) {
      if (!selected(options, row.dataset, row.method, row.variant)) continue;
      table_.missing.push_back(row);
      ++cell(row.dataset, row.method, row.variant).expected;
    }
    sort_as(datasets_, kDatasetOrder);
    sort_as(methods_, kMethodOrder);
    sort_as(variants_, kBlockOrder);
  }

  ScoreTable operator()() {
    std::vector<RowName> all;
    for (const std::string& method : methods_) {
      for (const std::string& variant : variants_) {
        if (!ran(variant, method)) continue;
        all.push_back({method, variant, variant.empty() ? method : method + " (" + variant + ")"});
      }
    }
    if (options_.side_by_side) {
      if (!all.empty()) add_block("", all);
      return std::move(table_);
    }
    for (const std::string& variant : variants_) {
      std::vector<RowName> rows;
      for (const RowName& row : all) {
        if (row.variant == variant) rows.push_back({row.method, variant, row.method});
      }
      add_block(variant, rows);
    }
    return std::move(table_);
  }

 private:
  std::string column_of(const std::string& dataset) const {
    return options_.group_dataset_seeds ? without_seed(dataset) : dataset;
  }

  Runs& cell(const std::string& dataset, const std::string& method, const std::string& variant) {
    add_once(datasets_, column_of(dataset));
    add_once(methods_, method);
    add_once(variants_, variant);
    return runs_[{variant, column_of(dataset), method}];
  }

  void add(const ResultRow& row) {
    if (!selected(options_, row.dataset, row.method, row.variant)) return;
    if (table_.study.empty()) table_.study = row.study;
    Runs& runs = cell(row.dataset, row.method, row.variant);
    ++runs.expected;
    const auto chosen = row.record.chosen.find(options_.rule);
    if (chosen == row.record.chosen.end() || chosen->second.test.empty()) {
      table_.missing.push_back({row.dataset, row.method, row.variant, row.seed,
                                "the run has no test scores (train.test = never?)"});
      return;
    }
    metrics_[column_of(row.dataset)] = row.metric;
    runs.runs.push_back({row.dataset, row.seed, &row, &chosen->second.test, {}});
  }

  bool ran(const std::string& variant, const std::string& method) const {
    return std::any_of(datasets_.begin(), datasets_.end(), [&](const std::string& dataset) {
      return runs_.count({variant, dataset, method}) > 0;
    });
  }

  void add_block(const std::string& name, const std::vector<RowName>& rows) {
    Block block;
    block.name = name;
    for (const RowName& row : rows) block.methods.push_back(row.shown);
    for (const std::string& dataset : datasets_) {
      const bool any = std::any_of(rows.begin(), rows.end(), [&](const RowName& row) {
        return runs_.count({row.variant, dataset, row.method}) > 0;
      });
      if (any) block.datasets.push_back(column(rows, dataset));
    }
    table_.blocks.push_back(std::move(block));
  }

  DatasetColumn column(const std::vector<RowName>& rows, const std::string& dataset) {
    DatasetColumn column;
    column.dataset = dataset;
    column.metric = metrics_.count(dataset) ? metrics_[dataset] : "";
    const auto metric = value_of<MetricKind>(column.metric);
    column.errors = metric && smaller_is_better(*metric);
    for (const RowName& row : rows) {
      Cell cell;
      const auto found = runs_.find({row.variant, dataset, row.method});
      if (found != runs_.end()) {
        fill_cell(cell, found->second, options_.rule);
        if (column.constants.empty()) {
          column.constants = constant_answers(
              column.metric, mean_constant(found->second.runs, cell, &RunRecord::constant),
              mean_constant(found->second.runs, cell, &RunRecord::constant_own));
        }
        if (different_domains(found->second.runs, cell)) {
          table_.notes.push_back(fmt::format(
              "{}, {}: the runs have different test domains; only the {} common ones count",
              dataset, row.shown, cell.domains.size()));
        }
      }
      fill_published(cell, dataset, row.method, options_.published);
      column.cells.push_back(std::move(cell));
    }
    for (size_t r = 0; r < rows.size(); ++r) mark(rows, r, column);
    return column;
  }

  // The row that others of an option set are compared with: the method named exactly so, else the
  // first with this name and some preset.
  const RowName* reference_in(const std::vector<RowName>& rows, const std::string& variant) const {
    const RowName* found = nullptr;
    for (const RowName& row : rows) {
      if (row.variant != variant) continue;
      if (row.method == options_.against) return &row;
      if (!found && without_preset(row.method) == options_.against) found = &row;
    }
    return found;
  }

  // Runs are compared with those of the reference under the same options; where it did not run
  // under them, and for the reference itself, with those under its first ones.
  const RowName* reference_of(const std::vector<RowName>& rows, size_t r,
                              const DatasetColumn& column) const {
    const auto usable = [&](const RowName* row) {
      return row && column.cells[static_cast<size_t>(row - rows.data())].runs > 0;
    };
    const RowName* same = reference_in(rows, rows[r].variant);
    if (usable(same) && same != &rows[r]) return same;
    for (const std::string& variant : variants_) {
      const RowName* first = reference_in(rows, variant);
      if (usable(first)) return first == &rows[r] ? nullptr : first;
    }
    return nullptr;
  }

  void mark(const std::vector<RowName>& rows, size_t r, DatasetColumn& column) {
    Cell& cell = column.cells[r];
    const RowName* reference = cell.runs > 0 ? reference_of(rows, r, column) : nullptr;
    if (!reference) return;
    const Cell& other = column.cells[static_cast<size_t>(reference - rows.data())];
    if (cell.domains.empty() || !same_domains(cell, other)) return;
    const auto runs_of = [&](const RowName& row) -> const std::vector<Run>& {
      return runs_.at({row.variant, column.dataset, row.method}).runs;
    };
    cell.against = reference->shown;
    cell.test = compare(runs_of(rows[r]), runs_of(*reference));
    if (cell.test->p && *cell.test->p < options_.level) {
      cell.mark = column.gain(cell.test->difference, 0.0) > 0 ? 1 : -1;
    }
  }

  const TableOptions& options_;
  ScoreTable table_;
  std::map<std::array<std::string, 3>, Runs> runs_;  // by block, dataset column, method
  std::map<std::string, std::string> metrics_;
  std::vector<std::string> datasets_, methods_, variants_;
};

}  // namespace

ScoreTable make_table(const std::vector<ResultRow>& rows, const std::vector<MissingRow>& missing,
                      const TableOptions& options) {
  return Builder(rows, missing, options)();
}

std::string score_text(const MeanStd& score, int64_t runs, bool errors) {
  const auto text = [errors](double value) {
    return errors ? fmt::format("{:.4g}", value) : fmt::format("{:.1f}", value);
  };
  return runs > 1 ? text(score.mean) + " ± " + text(score.std) : text(score.mean);
}

std::string score_text(const PublishedValue& value) {
  return score_text({value.value, value.deviation.value_or(0.0)}, value.deviation ? 2 : 1);
}

std::vector<std::string> domains_of(const DatasetColumn& column) {
  std::vector<std::string> names;
  for (const Cell& cell : column.cells) {
    for (const Cell::DomainRow& row : cell.domains) add_once(names, row.domain);
  }
  return names;
}

std::string DatasetColumn::text(double score) const {
  return score_text({score, 0.0}, 1, errors);
}

std::string DatasetColumn::text(const MeanStd& score, int64_t runs) const {
  return score_text(score, runs, errors);
}

std::string DatasetColumn::difference_text(double difference) const {
  return errors ? fmt::format("{:+.4g}", difference) : fmt::format("{:+.1f} points", difference);
}

std::string rule_text(const std::string& rule) {
  if (rule == "last") return "the last epoch";
  if (rule == "oracle") return "the epoch with the best test score (an upper bound, no result)";
  return "the epoch chosen by validation";
}

size_t chosen_by_validation(const DatasetColumn& column) {
  std::vector<size_t> rows;
  std::vector<double> validation, losses;
  for (size_t m = 0; m < column.cells.size(); ++m) {
    if (column.cells[m].runs == 0) continue;
    rows.push_back(m);
    validation.push_back(column.gain(column.cells[m].validation.mean, 0.0));
    losses.push_back(column.cells[m].validation_loss);
  }
  return rows.empty() ? column.cells.size() : rows[choose_by_validation(validation, losses)];
}

}  // namespace grm::study
