#pragma once

#include <array>
#include <string>
#include <vector>

#include "data/good/laws.h"
#include "data/helpers.h"
#include "io/csv.h"

namespace grm::test {

/// Rows of a file of GOOD's splits, without its header.
inline std::vector<std::vector<std::string>> good_rows(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  io::read_csv(path, [&](const io::CsvRow& row) {
    if (row.line > 1) rows.emplace_back(row.columns.begin(), row.columns.end());
  });
  return rows;
}

/// The rows that a split stands for, "item subset environment" each, in GOOD's order.
inline std::vector<std::string> split_lines(const good::Split& split) {
  constexpr std::array<const char*, good::kSubsets> kNames = {"train", "id_val", "id_test", "val",
                                                              "test"};
  std::vector<std::string> lines;
  for (size_t s = 0; s < good::kSubsets; ++s) {
    for (const int64_t item : split.members[s]) {
      lines.push_back(std::to_string(item) + " " + kNames[s] + " " +
                      std::to_string(split.environment[static_cast<size_t>(item)]));
    }
  }
  return lines;
}

/// The same of a file, by the columns of item, subset and environment.
inline std::vector<std::string> file_lines(const std::string& path, size_t item, size_t subset,
                                           size_t environment) {
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : good_rows(path)) {
    lines.push_back(row.at(item) + " " + row.at(subset) + " " + row.at(environment));
  }
  return lines;
}

/// Says where two lists differ first, instead of printing tens of thousands of lines.
inline void expect_same_lines(const std::vector<std::string>& ours,
                              const std::vector<std::string>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t k = 0; k < ours.size(); ++k) ASSERT_EQ(ours[k], theirs[k]) << "row " << k;
}

inline std::vector<size_t> sizes_of(const good::Split& split) {
  std::vector<size_t> sizes;
  for (const auto& members : split.members) sizes.push_back(members.size());
  return sizes;
}

}  // namespace grm::test
