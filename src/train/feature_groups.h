#pragma once

#include <string>
#include <vector>

#include "grm/core/rng.h"
#include "grm/graph/graph.h"

namespace grm {

/// Columns of the features that are one thing to their user: a column of numbers, or all columns
/// that a categorical one became ("dorm=203", "dorm=207", ...).
struct FeatureGroup {
  std::string name;
  std::vector<int64_t> columns;  // ascending
};

/// The groups of `width` columns, in the order of their first ones. Columns without names are x0,
/// x1, ...; `single` leaves every column by itself.
std::vector<FeatureGroup> feature_groups(const std::vector<std::string>& names, int64_t width,
                                         bool single);

/// The features with those columns of every row taken from another row: `from` is a permutation of
/// the rows, [n] int64.
Features permuted(const Features& x, const FeatureGroup& group, const torch::Tensor& from);

}  // namespace grm
