#pragma once

#include <cstdint>
#include <vector>

// Two classes and a score: what ROC and precision-recall curves, their areas and thresholds are
// read from. Ties are one step: nothing depends on the order of equal scores.
namespace grm {

/// How often each item counts, as in a resample; empty: once.
using ItemCounts = std::vector<int32_t>;

/// What calling every item positive whose score is at least `threshold` gives.
struct RankPoint {
  double threshold = 0.0;
  double true_positives = 0.0, false_positives = 0.0;
};

class Ranking {
 public:
  /// A higher score means positive. A score that is not a number is an InternalError.
  Ranking(std::vector<double> scores, std::vector<uint8_t> positive);

  int64_t items() const { return static_cast<int64_t>(scores_.size()); }
  double positives() const { return positives_; }
  double negatives() const { return static_cast<double>(items()) - positives_; }

  /// Area under the ROC curve, percent: ties count one half. NaN unless both classes occur.
  double roc_auc(const ItemCounts& counts = {}) const;
  /// Sum over thresholds of precision times the step of recall, percent. NaN without positives.
  double average_precision(const ItemCounts& counts = {}) const;
  /// One for each distinct score, the highest first. Recall is true_positives / positives(), the
  /// false positive rate false_positives / negatives().
  std::vector<RankPoint> points() const;

 private:
  // Calls step(threshold, positives, negatives) for each distinct score, the highest first, with
  // the items of that score.
  template <class Step>
  void walk(const ItemCounts& counts, const Step& step) const;

  std::vector<double> scores_;
  std::vector<uint8_t> positive_;
  std::vector<int64_t> order_;  // by falling score
  double positives_ = 0.0;
};

}  // namespace grm
