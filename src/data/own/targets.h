#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/own/raw_domain.h"

// Targets that are not classes, and domains whose items are split.
namespace grm::own {

/// The columns of a table that hold targets; none where they are classes.
std::vector<std::string> target_columns(const Description& d);

/// What an item of this time is for: training up to the first moment of `until`, validation up to
/// the second, then test. Moments are numbers, or texts that sort by time, as 2019-12-31.
Role role_of_time(std::string_view time, const std::vector<Word>& until);

/// Number of tasks, the same in all domains that have labels; a problem where they differ.
int64_t find_tasks(const Description& d, const std::vector<const RawDomain*>& domains,
                   Problems& problems);

/// Training's mean and deviation of each target; a target that does not vary has deviation 1.
TargetScale fit_scale(const std::vector<Domain>& training);

/// A training domain that is split, cut into its three parts: they share graph and labels, and
/// differ in what counts. Parts without an item that counts are left out.
struct SplitDomain {
  Domain training;
  std::vector<Domain> validation, test;
};
SplitDomain split_domain(const Domain& domain, const torch::Tensor& role);

}  // namespace grm::own
