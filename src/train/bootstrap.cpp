#include "train/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

ScoreIntervals intervals_of(const std::vector<ScoreValues>& values, double level) {
  const double tail = 0.5 * (100.0 - level);
  ScoreIntervals result;
  for (size_t kind = 0; kind < kScoreKinds; ++kind) {
    std::vector<double> defined;
    for (const ScoreValues& each : values) {
      if (!std::isnan(each[kind])) defined.push_back(each[kind]);
    }
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    result[kind] = defined.empty()
                       ? Interval{unknown, unknown, 0}
                       : Interval{percentile(defined, tail), percentile(defined, 100.0 - tail),
                                  static_cast<int64_t>(defined.size())};
  }
  return result;
}

}  // namespace

ItemCounts resample_counts(int64_t items, uint64_t seed, int64_t group, int64_t resample) {
  ItemCounts counts(static_cast<size_t>(items), 0);
  Stream stream =
      Rng(seed).stream("bootstrap", static_cast<uint64_t>(group), static_cast<uint64_t>(resample));
  for (int64_t k = 0; k < items; ++k) ++counts[stream.below(static_cast<uint64_t>(items))];
  return counts;
}

double percentile(std::vector<double> values, double percent) {
  ensure(!values.empty(), "percentile: of nothing");
  std::sort(values.begin(), values.end());
  const double at = percent / 100.0 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

BootstrapIntervals bootstrap(const std::vector<ScoredItems>& groups, const ScoredItems& together,
                             const BootstrapOptions& options) {
  const auto resamples = static_cast<size_t>(options.resamples);
  std::vector<std::vector<ScoreValues>> of_group(groups.size(),
                                                 std::vector<ScoreValues>(resamples));
  std::vector<ScoreValues> of_all(resamples);
  parallel_chunks(options.resamples, 8, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      ItemCounts all;
      for (size_t g = 0; g < groups.size(); ++g) {
        const ItemCounts counts =
            resample_counts(groups[g].items(), options.seed, static_cast<int64_t>(g), b);
        of_group[g][static_cast<size_t>(b)] = groups[g].values(counts);
        all.insert(all.end(), counts.begin(), counts.end());
      }
      of_all[static_cast<size_t>(b)] =
          groups.size() == 1 ? of_group.front()[static_cast<size_t>(b)] : together.values(all);
    }
  });
  BootstrapIntervals result;
  for (const std::vector<ScoreValues>& values : of_group) {
    result.groups.push_back(intervals_of(values, options.level));
  }
  result.together = intervals_of(of_all, options.level);
  return result;
}

}  // namespace grm
