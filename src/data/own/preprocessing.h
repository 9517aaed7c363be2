#pragma once

#include <string>
#include <vector>

#include "data/own/raw_domain.h"

namespace grm::own {

/// How files became features and labels, as a trained model keeps it.
struct Preprocessing {
  std::string kind = "npz";  // "csv" or "npz"
  int64_t classes = 0;       // 0: not known
  std::vector<std::string> labels;
  bool undirected = false;
  Target target = Target::classes;
  bool edge_weights = false;             // training had them
  std::vector<ColumnRule> columns;       // csv: all features; npz: those of the dense part, if any
  std::vector<ColumnRule> edge_columns;  // likewise
  // csv: how the tables are called, and which columns may be there without being features
  CsvNames csv;
  std::string edge_weight;
  std::vector<std::string> ignore;
  bool ignore_others = false;

  Plans plans() const;
};

std::string to_json(const Preprocessing& preprocessing);
/// The empty text gives the default. Error(data) for anything else that to_json did not write.
Preprocessing preprocessing_from_json(const std::string& text);

/// The columns from `first` on, those that the file holds dense, as a table; they are named "x[0]",
/// "x[1]", ...
std::shared_ptr<const Columns> columns_of(const Features& x, int64_t first,
                                          const std::string& name);

/// The domain with its features; labels are left to the caller. Categories that the rules do not
/// know are told in `notes`.
Domain assemble(const RawDomain& raw, const Preprocessing& preprocessing,
                std::vector<std::string>& notes);

}  // namespace grm::own
