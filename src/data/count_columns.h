#pragma once

#include <vector>

#include "grm/data/task.h"

namespace grm {

/// Columns that hold counts with a long tail: low + unit k for k = 0, 1, 2, ..., most of them small
/// and a few very large. Their mean and deviation are those of the few; logarithms compare all.
struct CountColumns {
  std::vector<bool> is_count;     // by column
  std::vector<double> low, unit;  // of those
  int64_t count = 0;

  /// X with log(1 + k) in these columns.
  Features logged(const Features& x) const;
};

/// As the domains of all roles together say.
CountColumns find_count_columns(const Task& task);

}  // namespace grm
