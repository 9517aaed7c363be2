#pragma once

#include <string>
#include <vector>

#include "data/own/columns.h"
#include "data/own/csv_file.h"
#include "data/own/description.h"

namespace grm::own {

/// Which columns of a table are features, in their order.
struct Plan {
  struct Entry {
    std::string name;
    bool numeric = true;
    std::string missing = "error";
    bool sparse = false;  // given number by number, in a table of its own
  };
  std::vector<Entry> entries;  // sparse ones last
  std::vector<std::string> ignore;
  bool ignore_others = false;  // columns that are not named are left out
  std::string from;            // the file or model that the plan comes from, for messages
};

/// The plan for tables like `file`: what `words` name, and by default (`others_numeric`) all
/// columns but the `special` ones as numbers. `left_out` receives columns that are not used.
Plan make_plan(const Description& d, const ColumnWords& words, const CsvFile& file,
               const std::vector<std::string>& special, bool others_numeric, Problems& problems,
               std::vector<std::string>& left_out);

/// Collects the cells of the planned columns. Problems are told for the first three bad cells of a
/// column and counted for the others.
class ColumnReader {
 public:
  /// Problems for planned columns that the file lacks, and for columns that the plan does not know.
  ColumnReader(const Plan& plan, const CsvFile& file, const std::vector<std::string>& special,
               Problems& problems);
  void add(const io::CsvRow& row);
  Columns finish();

 private:
  struct Source {
    int64_t position = -1;
    bool error_if_missing = false;
    int64_t bad = 0, missing = 0;
  };
  void bad_cell(const io::CsvRow& row, size_t k, bool too_large);
  void missing_cell(const io::CsvRow& row, size_t k);

  const CsvFile& file_;
  Problems& problems_;
  std::vector<Source> sources_;
  Columns columns_;
};

}  // namespace grm::own
