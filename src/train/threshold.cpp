#include "train/threshold.h"

#include <limits>
#include <tuple>

#include "grm/core/error.h"

namespace grm {
namespace {

double share_of(double part, double whole) {
  return whole == 0.0 ? std::numeric_limits<double>::quiet_NaN() : 100.0 * part / whole;
}

Called called_of(const Ranking& ranking, const RankPoint& point) {
  return {point.threshold, point.true_positives, point.false_positives, ranking.positives(),
          ranking.negatives()};
}

}  // namespace

double Called::precision() const {
  return share_of(true_positives, true_positives + false_positives);
}

double Called::recall() const {
  return share_of(true_positives, positives);
}

double Called::f1() const {
  return share_of(2.0 * true_positives, true_positives + false_positives + positives);
}

double Called::share() const {
  return share_of(true_positives + false_positives, positives + negatives);
}

Called called_at(const Ranking& ranking, double threshold) {
  RankPoint last{threshold, 0.0, 0.0};
  for (const RankPoint& point : ranking.points()) {
    if (point.threshold < threshold) break;
    last = point;
  }
  last.threshold = threshold;
  return called_of(ranking, last);
}

ThresholdChoice choose_threshold(const Ranking& ranking, Wanted wanted, double value) {
  ensure(ranking.positives() > 0, "choose_threshold: no positives");
  ThresholdChoice best;
  bool first = true;
  for (const RankPoint& point : ranking.points()) {
    const Called called = called_of(ranking, point);
    const double bound = wanted == Wanted::precision ? called.precision() : called.recall();
    const double gain = wanted == Wanted::precision ? called.recall() : called.precision();
    const double best_bound =
        wanted == Wanted::precision ? best.called.precision() : best.called.recall();
    const double best_gain =
        wanted == Wanted::precision ? best.called.recall() : best.called.precision();
    const bool reached = bound >= 100.0 * value - 1e-9;
    // Thresholds fall from point to point, so of equals the first one stays.
    const bool better =
        reached ? !best.reached || std::tie(gain, bound) > std::tie(best_gain, best_bound)
                : !best.reached && std::tie(bound, gain) > std::tie(best_bound, best_gain);
    if (!first && !better) continue;
    best = {reached, called};
    first = false;
  }
  return best;
}

}  // namespace grm
