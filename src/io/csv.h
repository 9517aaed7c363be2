#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace grm::io {

/// One record of a CSV file. The views live until the callback returns. Columns are counted from 0
/// in code and from 1 in messages.
struct CsvRow {
  const std::string& path;
  int64_t line;  // of the record's first character, from 1
  const std::vector<std::string_view>& columns;

  int64_t size() const { return static_cast<int64_t>(columns.size()); }

  /// Text of column k; Error(data) "file:line: has 2 columns, a 3rd is needed" when there is none.
  std::string_view text(int64_t k) const;
  /// Error(data) "file:line column 3: 'abc' is not a whole number".
  int64_t parse_int(int64_t k) const;
  /// Decimal notation; also "nan" and "inf", which only the reader's caller can judge.
  double parse_double(int64_t k) const;

  /// Error(data) unless the record has exactly `count` columns.
  void expect_size(int64_t count) const;
  /// Error(data) unless the record is exactly this header.
  void expect(std::initializer_list<std::string_view> header) const;
};

/// Calls `row` for each record of a plain or gzipped CSV file (RFC 4180: quoted columns may hold
/// separators, doubled quotes and line breaks). Only one record at a time is held in memory. Empty
/// lines at the end of the file are ignored; elsewhere they are records of one empty column.
void read_csv(const std::string& path, const std::function<void(const CsvRow&)>& row,
              char separator = ',');

}  // namespace grm::io
