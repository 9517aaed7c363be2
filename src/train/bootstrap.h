#pragma once

#include <cstdint>
#include <vector>

#include "train/scores.h"

// Intervals for scores: the items of each group are drawn again with replacement, and a score's
// interval holds the middle share of its values. Draws come from named streams: same seed, same
// intervals, whatever the number of threads.
namespace grm {

struct BootstrapOptions {
  int64_t resamples = 1000;
  double level = 95.0;  // percent of the resamples that an interval holds
  uint64_t seed = 0;
};

/// NaN where the score is undefined in all resamples.
struct Interval {
  double low, high;
  int64_t resamples = 0;  // in which the score is defined
};
using ScoreIntervals = std::array<Interval, kScoreKinds>;

/// How often each of `items` items is in one resample of a group.
ItemCounts resample_counts(int64_t items, uint64_t seed, int64_t group, int64_t resample);

/// The percentile with linear interpolation between neighbours (numpy's default); values: not
/// empty.
double percentile(std::vector<double> values, double percent);

struct BootstrapIntervals {
  std::vector<ScoreIntervals> groups;
  ScoreIntervals together;  // of all items, drawn within their groups
};
/// `together` holds the items of all groups, one group after the other.
BootstrapIntervals bootstrap(const std::vector<ScoredItems>& groups, const ScoredItems& together,
                             const BootstrapOptions& options);

}  // namespace grm
