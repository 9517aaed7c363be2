#pragma once

#include <memory>
#include <string>

#include "serve/http.h"

namespace grm::serve {

/// What a request asks of a model.
struct Asking {
  std::string model;   // its name; "" where there is one alone
  std::string item;    // to be explained
  std::string domain;  // where it is
  bool csv = false;    // the answer as lines of CSV
  int64_t rows = -1;   // of an answer in JSON; -1: all
  int64_t top = 10;    // edges that are compared between samples
};

/// How a model calls its tables.
struct TableNames {
  std::string nodes = "nodes.csv", edges = "edges.csv", graphs = "graphs.csv";
  char separator = ',';
};

/// The body of a request:
///   application/octet-stream or application/zip: an .npz file as it is, the question in the address;
///   application/json: {"arrays": {name: numbers}}, {"graphs": {domain: {name: numbers}}},
///     {"tables": {"nodes": [{column: value}], "edges": [...], "graphs": [...]}} or
///     {"files": {name: text}}, with the question beside it.
/// Error(data) or Error(config) for anything else.
class Body {
 public:
  /// The request must live as long.
  explicit Body(const HttpRequest& request);
  ~Body();
  const Asking& asking() const { return asking_; }
  /// Leaves the data where `grm predict --data` would find it, an .npz file or a folder of tables
  /// below `folder`, and returns that path.
  std::string write(const TableNames& tables, const std::string& folder) const;

 private:
  struct Parsed;
  const HttpRequest& request_;
  Asking asking_;
  std::unique_ptr<Parsed> parsed_;  // of JSON
};

}  // namespace grm::serve
