#pragma once

#include <string>
#include <vector>

#include "data/own/names.h"
#include "data/own/numbers.h"
#include "grm/graph/graph.h"

namespace grm::own {

/// The cells of one column as they were read.
struct Column {
  std::string name;
  bool numeric = true;
  bool sparse = false;
  Numbers numbers;             // numeric: NaN is a missing cell
  std::vector<int32_t> codes;  // categorical: numbers of `texts`; a missing cell is the text ""
  Names texts;
};

struct Columns {
  std::vector<Column> list;
  int64_t rows = 0;
};

/// How a column becomes features. Everything that is learned from data is learned from training
/// domains.
struct ColumnRule {
  std::string name;
  bool numeric = true;
  bool sparse = false;  // numeric: given number by number, zero where it is not
  // numeric: (value - mean) / scale; a missing value is `fill` first
  std::string missing = "error";  // error, mean, zero or flag (the mean and a column of 0/1)
  double mean = 0.0;
  double scale = 1.0;
  double fill = 0.0;
  bool flag = false;  // one more column, 1 where the value is missing
  // categorical: one column of 0/1 for each; any other text is zero in all of them
  std::vector<std::string> categories;
};

/// Some rows of a table.
struct Part {
  const Columns* columns = nullptr;
  torch::Tensor rows;  // [k] int64
};

/// Rules for the columns of the parts, all in the same order. `missing` is error, mean, zero or
/// flag; `scale` standard or none. `empty` receives names of numeric columns without any value.
std::vector<ColumnRule> fit_rules(const std::vector<Part>& training, const std::string& missing,
                                  const std::string& scale, std::vector<std::string>& empty);

/// Cells that hold a text which is none of the rule's categories.
struct Unknown {
  std::string column;
  std::string first;
  int64_t count = 0;
};

/// Features of the rows: categories as sparse columns, then numbers and flags as dense ones. Where
/// most numbers are zero they are sparse columns, too, if they may be: what standardising takes off
/// all of a column is in the shift.
Features apply_rules(const std::vector<ColumnRule>& rules, const Part& part, bool may_be_sparse,
                     std::vector<Unknown>& unknown);

/// Names of the features that apply_rules gives, in its order.
std::vector<std::string> names_of_features(const std::vector<ColumnRule>& rules);

}  // namespace grm::own
