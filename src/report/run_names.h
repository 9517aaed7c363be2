#pragma once

#include <string>
#include <vector>

namespace grm::report {

/// What a table calls a run: the data, the method with its preset, and what sets it apart from
/// other runs of the method on this data: "centre=domain", "lr=0.1", "#2".
struct RunName {
  std::string dataset, method, variant;
};

/// Names for runs with these configurations, in their order. Runs of one configuration but for the
/// seed have one name. Centring and symmetrising are ways to treat the same data; other options of
/// a dataset make other data, which is numbered: scores on different data do not meet in a column.
std::vector<RunName> name_runs(const std::vector<std::string>& configs,
                               const std::vector<std::string>& origins);

}  // namespace grm::report
