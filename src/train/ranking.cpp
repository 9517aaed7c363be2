#include "train/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "grm/core/error.h"

namespace grm {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Ranking::Ranking(std::vector<double> scores, std::vector<uint8_t> positive)
    : scores_(std::move(scores)), positive_(std::move(positive)), order_(scores_.size()) {
  ensure(scores_.size() == positive_.size(), "Ranking: a flag for each score");
  // What equals nothing, not even itself, would never end a run of ties.
  ensure(std::none_of(scores_.begin(), scores_.end(), [](double s) { return std::isnan(s); }),
         "Ranking: a score is not a number");
  std::iota(order_.begin(), order_.end(), int64_t{0});
  std::sort(order_.begin(), order_.end(), [this](int64_t a, int64_t b) {
    return scores_[static_cast<size_t>(a)] > scores_[static_cast<size_t>(b)];
  });
  for (const uint8_t each : positive_) positives_ += each ? 1.0 : 0.0;
}

template <class Step>
void Ranking::walk(const ItemCounts& counts, const Step& step) const {
  ensure(counts.empty() || counts.size() == scores_.size(), "Ranking: a count for each item");
  for (size_t k = 0; k < order_.size();) {
    const double at = scores_[static_cast<size_t>(order_[k])];
    double positives = 0.0, negatives = 0.0;
    for (; k < order_.size() && scores_[static_cast<size_t>(order_[k])] == at; ++k) {
      const auto item = static_cast<size_t>(order_[k]);
      (positive_[item] ? positives : negatives) +=
          counts.empty() ? 1.0 : static_cast<double>(counts[item]);
    }
    step(at, positives, negatives);
  }
}

double Ranking::roc_auc(const ItemCounts& counts) const {
  // Pairs of a positive and a negative with the positive above; half a pair where they are equal.
  double above = 0.0, positives = 0.0, negatives = 0.0;
  walk(counts, [&](double, double p, double n) {
    above += n * (positives + 0.5 * p);
    positives += p;
    negatives += n;
  });
  if (positives == 0.0 || negatives == 0.0) return kUndefined;
  return 100.0 * above / (positives * negatives);
}

double Ranking::average_precision(const ItemCounts& counts) const {
  double area = 0.0, positives = 0.0, called = 0.0;
  walk(counts, [&](double, double p, double n) {
    positives += p;
    called += p + n;
    if (p > 0.0) area += p * positives / called;
  });
  return positives == 0.0 ? kUndefined : 100.0 * area / positives;
}

std::vector<RankPoint> Ranking::points() const {
  std::vector<RankPoint> result;
  RankPoint at;
  walk({}, [&](double threshold, double p, double n) {
    at.threshold = threshold;
    at.true_positives += p;
    at.false_positives += n;
    result.push_back(at);
  });
  return result;
}

}  // namespace grm
