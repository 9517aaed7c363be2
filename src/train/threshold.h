#pragma once

#include "grm/core/words.h"
#include "train/ranking.h"

// From a wanted precision or recall to a threshold: items whose probability of a class is at least
// the threshold are called that class.
namespace grm {

enum class Wanted { precision, recall };
GRM_WORDS(Wanted, "precision", "recall")

/// What calling items positive comes to, in percent; NaN where it is undefined.
struct Called {
  double threshold = 0.0;
  double true_positives = 0, false_positives = 0, positives = 0, negatives = 0;
  double precision() const;
  double recall() const;
  double f1() const;
  double share() const;  // of all items that are called positive
};

/// The outcome of a threshold that was chosen elsewhere.
Called called_at(const Ranking& ranking, double threshold);

struct ThresholdChoice {
  bool reached = false;  // false: no threshold gives what was wanted; `called` comes nearest
  Called called;         // on the items that it was chosen on
};
/// With a wanted precision (a share, 0 .. 1) the threshold of the largest recall among those that
/// reach it, with a wanted recall that of the largest precision. Of equal ones the higher other
/// score, then the higher threshold. The ranking must have positives.
ThresholdChoice choose_threshold(const Ranking& ranking, Wanted wanted, double value);

}  // namespace grm
