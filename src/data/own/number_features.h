#pragma once

#include "data/own/columns.h"

namespace grm::own {

/// Numbers and flags of the rows by the rules, `width` columns: dense, or sparse with a shift.
Features number_features(const std::vector<ColumnRule>& rules, const Part& part, int64_t width,
                         bool may_be_sparse);

}  // namespace grm::own
