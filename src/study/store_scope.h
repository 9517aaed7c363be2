#pragma once

#include <string>
#include <vector>

#include "study/database.h"

namespace grm::study {

/// The cells of a study and a phase, or of all studies and phases where a name is empty, as a WHERE
/// has them and with the values of its `?`.
struct Scope {
  explicit Scope(const std::string& study, const std::string& phase = "") {
    add("study", study);
    add("phase", phase);
  }
  std::string where = "planned = 1";
  std::vector<std::string> values;

  std::vector<Value> bound() const { return {values.begin(), values.end()}; }

 private:
  void add(const char* column, const std::string& value) {
    if (value.empty()) return;
    where += std::string(" AND ") + column + " = ?";
    values.push_back(value);
  }
};

}  // namespace grm::study
