#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/table.h"

namespace grm::report {

using study::PublishedValue;

/// One table of a paper, by dataset, method and column.
struct PublishedTable {
  struct Part {
    std::string dataset, metric;
    std::vector<std::string> columns;
    std::vector<std::string> methods;                           // in the printed order
    std::map<std::string, std::vector<PublishedValue>> values;  // by method, as the columns
  };
  std::string id;      // "table1"
  int64_t number = 0;  // in the paper
  std::string label;   // in its source: "tab:results1"
  std::string caption;
  std::vector<Part> parts;
};

/// A known inconsistency of the published numbers. Empty dataset, method, column: all.
struct PublishedNote {
  std::string table, dataset, method, column, text;
  std::optional<double> printed, recomputed;
};

/// Published numbers with their source, read from published.toml.
class Published {
 public:
  /// Those that the program carries.
  static const Published& embedded();
  /// Error(config) names origin and place.
  static Published parse(const std::string& text, const std::string& origin);

  const std::string& source() const { return source_; }  // "GRM, TMLR 2025"
  const std::vector<PublishedTable>& tables() const { return tables_; }
  const std::vector<PublishedNote>& notes() const { return notes_; }

  const PublishedTable& table(const std::string& id) const;
  std::optional<PublishedValue> find(const std::string& table, const std::string& dataset,
                                     const std::string& method, const std::string& column) const;

  /// Looks in these tables, in this order.
  study::PublishedLookup lookup(std::vector<std::string> tables) const;
  /// Notes of one table that concern one of these datasets (all if empty), as text.
  std::vector<std::string> notes_of(const std::string& table,
                                    const std::vector<std::string>& datasets) const;
  /// One table as printed in the paper.
  Table layout(const std::string& table) const;

 private:
  std::string source_;
  std::vector<PublishedTable> tables_;
  std::vector<PublishedNote> notes_;
};

/// A lookup that has nothing for own data, whatever it is called: published values belong to the
/// built-in datasets. It knows what the paper calls them.
study::PublishedLookup for_built_in(const std::vector<study::ResultRow>& rows,
                                    study::PublishedLookup lookup);

}  // namespace grm::report
