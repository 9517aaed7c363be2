#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/table.h"
#include "study/results.h"
#include "study/statistics.h"
#include "train/constant.h"
#include "train/summary.h"

// From the runs of a study to its table: pure, no database and no files.
namespace grm::study {

/// A number that a paper prints.
struct PublishedValue {
  double value = 0.0;
  std::optional<double> deviation;
};

/// What is published for a dataset, a method without its preset, and a column: "Min", "Avg", or
/// the test domain by position, "T1", "T2", ...
using PublishedLookup = std::function<std::optional<PublishedValue>(
    const std::string& dataset, const std::string& method, const std::string& column)>;

/// Which runs a table shows and what it compares them with.
struct TableOptions {
  std::string rule = "val";     // selection rule whose test scores count
  std::string against = "erm";  // reference of the significance marks; "" for none
  double level = 0.05;          // below which p gets a mark
  /// Empty: all. A dataset is named with or without its seed, a method with or without its preset.
  std::vector<std::string> blocks, datasets, methods;
  bool group_dataset_seeds = true;  // "cora/0", "cora/1" become one column "cora"
  /// One block whose rows are methods with their option sets, "grm (kipf)", instead of a block for
  /// each option set.
  bool side_by_side = false;
  PublishedLookup published;
};

/// Our number with its deviation over runs, beside the published one.
struct Score {
  MeanStd ours;
  std::optional<PublishedValue> published;
};

/// One method on one dataset in one block. runs = 0: there is no result.
struct Cell {
  struct DomainRow {
    std::string domain;
    Score score;
  };
  int64_t runs = 0;
  int64_t expected = 0;  // with those that are missing
  std::vector<DomainRow> domains;
  Score min;               // of the domain whose mean over seeds is worst, in each draw of the data
  std::string min_domain;  // its name, or names
  Score avg;               // mean over domains; deviation of the per-run averages
  MeanStd min_per_run;     // of each run's worst score
  MeanStd validation;      // at the chosen epoch
  double validation_loss = kNoLoss;  // its mean there, where all runs recorded it
  std::optional<PairedTest> test;    // per-run averages against the reference method
  std::string against;               // the row that it is compared with
  int mark = 0;                      // 1 significantly better than the reference, -1 worse
  int64_t parameters = 0;
  MeanStd epochs, seconds_per_epoch, train_seconds, evaluate_seconds;
  double peak_memory_mib = 0.0;
};

/// All methods on one dataset, whose scores are percent or, of a regression, errors in the units of
/// the targets.
struct DatasetColumn {
  std::string dataset, metric;
  bool errors = false;                    // less is better
  std::vector<Cell> cells;                // by method of the block
  std::vector<ConstantAnswer> constants;  // where the runs recorded them

  /// How much better a score is than another; below 0: worse.
  double gain(double score, double other) const { return errors ? other - score : score - other; }
  /// "81.2", or "0.4321" of errors.
  std::string text(double score) const;
  std::string text(const MeanStd& score, int64_t runs) const;
  /// "+1.2 points", or "-0.12" of errors.
  std::string difference_text(double difference) const;
};

/// All runs of one option set: "sum", "kipf", or "" for a study without option sets.
struct Block {
  std::string name;
  std::vector<std::string> methods;
  std::vector<DatasetColumn> datasets;
};

struct ScoreTable {
  std::string study, against, rule;
  double level = 0.05;
  std::vector<Block> blocks;
  std::vector<MissingRow> missing;  // those that the filters leave
  std::vector<std::string> notes;
};

ScoreTable make_table(const std::vector<ResultRow>& rows, const std::vector<MissingRow>& missing,
                      const TableOptions& options);

/// The row of a block that validation chooses on a dataset: the best mean over runs of the
/// validation score (of equal ones the lowest loss), of rows that have runs; their number if there
/// is none. Sees no test score.
size_t chosen_by_validation(const DatasetColumn& column);

/// "81.2 ± 0.5", without the deviation for one run; "0.4321 ± 0.01" of errors.
std::string score_text(const MeanStd& score, int64_t runs, bool errors = false);
std::string score_text(const PublishedValue& value);

/// All test domains of a column, in order of appearance.
std::vector<std::string> domains_of(const DatasetColumn& column);

/// Calls each(block, column, method, cell) for all cells of a table.
template <class Each>
void for_each_cell(const ScoreTable& table, const Each& each) {
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      for (size_t m = 0; m < block.methods.size(); ++m) {
        each(block, column, block.methods[m], column.cells[m]);
      }
    }
  }
}

/// "the epoch chosen by validation".
std::string rule_text(const std::string& rule);

/// Whether the filters of the options let a cell through.
bool selected(const TableOptions& options, const std::string& dataset, const std::string& method,
              const std::string& variant);

/// Takes out what the filters of the options do not let through.
template <class Row>
void keep_selected(std::vector<Row>& rows, const TableOptions& options) {
  const auto dropped = [&](const Row& row) {
    return !selected(options, row.dataset, row.method, row.variant);
  };
  rows.erase(std::remove_if(rows.begin(), rows.end(), dropped), rows.end());
}

/// "cora/1" -> "cora", and nothing else: "./1" and "a/b" stay; "grm:centred" and "grm + centring"
/// -> "grm".
std::string without_seed(const std::string& dataset);
std::string without_preset(const std::string& method);

/// Min and Avg of all datasets, one layout per block.
std::vector<Table> score_layouts(const ScoreTable& table);
/// Avg of all datasets, for those with one test domain; one layout per block.
std::vector<Table> average_layouts(const ScoreTable& table);
/// The strongest rival of method `ours` on a dataset: the method of another name with the highest
/// Avg, as an index into the block's methods; their number if there is none.
size_t best_rival(const Block& block, const DatasetColumn& column, const std::string& ours);
/// Avg of the method that the table compares with (`against`) beside its strongest rival on each
/// dataset.
Table rival_layout(const ScoreTable& table);
/// Every test domain and Avg, one layout per block and dataset.
std::vector<Table> domain_layouts(const ScoreTable& table);
/// The same of one dataset, with Min and the validation score.
Table whole_layout(const ScoreTable& table, const Block& block, const DatasetColumn& column);
/// Parameters, time and memory; published columns "total", "epoch" and "memory".
Table cost_layout(const ScoreTable& table, const PublishedLookup& published);
/// What has no result, and why; no rows if all is there.
Table missing_layout(const std::vector<MissingRow>& missing);

/// The table with all its numbers as one JSON object.
std::string table_json(const ScoreTable& table);
/// One line per block, dataset, method and column, with deviation, runs, published value and p.
std::string summary_csv(const ScoreTable& table);

/// One line per study, dataset, method, variant, seed, domain, score.
std::string scores_csv(const std::vector<ResultRow>& rows, const std::string& rule = "val");
/// Whole runs with configuration, environment and record.
std::string export_csv(const std::vector<ResultRow>& rows);
/// One short line for each run, to be kept with a project: an id (of its configuration), the
/// scores, commit and device; for trials also what they set, against trial 0.
std::string export_runs(const std::vector<ResultRow>& rows);
std::string export_json(const std::vector<ResultRow>& rows, const std::vector<MissingRow>& missing);

}  // namespace grm::study
