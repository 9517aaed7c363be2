#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/own/names.h"
#include "data/own/problems.h"
#include "io/csv.h"

namespace grm::own {

/// A cell without the spaces around it.
std::string_view trimmed(std::string_view cell);
/// An empty cell, NA, NaN or null, in any case.
bool is_missing(std::string_view trimmed_cell);

enum class Number { ok, wrong, too_large };
/// A number in decimal notation that single precision can hold.
Number read_number(std::string_view trimmed_cell, double& value);

/// A table with a header line.
class CsvFile {
 public:
  /// Reads the header. Stopped when there is none.
  CsvFile(std::string path, char separator, Problems& problems);

  const std::string& path() const { return path_; }
  const std::vector<std::string>& header() const { return header_; }
  /// Position of a column, or -1.
  int64_t find(const std::string& name) const;
  /// The same; a problem if there is none. `key` is what dataset.toml calls it: "[csv] id".
  int64_t need(const std::string& name, const std::string& key) const;
  /// All rows that are as wide as the header; others are problems. Returns how many of those.
  int64_t each_row(const std::function<void(const io::CsvRow&)>& row) const;

 private:
  std::string path_;
  char separator_;
  Problems& problems_;
  std::vector<std::string> header_;
  Names names_;  // the same, to look them up
};

}  // namespace grm::own
