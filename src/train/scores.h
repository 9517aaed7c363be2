#pragma once

#include <torch/types.h>

#include <array>
#include <vector>

#include "grm/core/words.h"
#include "train/confusion.h"
#include "train/ranking.h"

// All scores of classified items that `grm eval --data` shows, in percent but for the Matthews
// correlation. They equal scikit-learn's; tests/train/scores_test.cpp compares them.
namespace grm {

enum class ScoreKind {
  accuracy,
  balanced_accuracy,
  macro_f1,
  roc_auc,
  average_precision,
  matthews
};
GRM_WORDS(ScoreKind, "accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "average_precision",
          "matthews")
constexpr size_t kScoreKinds = 6;
/// By ScoreKind; NaN where a score is undefined.
using ScoreValues = std::array<double, kScoreKinds>;

/// One class against all others.
struct ClassScores {
  double items = 0, predicted = 0;
  double precision, recall, f1, roc_auc, average_precision;
};

/// log(p / (1 - p)) of each class under softmax(logits / temperature): [n, classes] double. The
/// order is that of the probabilities, but near 0 and 1 nothing is rounded together.
torch::Tensor class_log_odds(const torch::Tensor& logits, double temperature);

/// Items of one group, prepared so that many resamples of them can be scored.
class ScoredItems {
 public:
  /// logits: [n, classes], y: [n] int64 in 0 .. classes - 1, n > 0.
  ScoredItems(const torch::Tensor& logits, const torch::Tensor& y, double temperature);

  int64_t items() const { return static_cast<int64_t>(y_.size()); }
  int64_t classes() const { return classes_; }
  Confusion confusion(const ItemCounts& counts = {}) const;
  /// ROC-AUC and average precision are those of class 1 where there are two classes, else the mean
  /// over the classes for which they are defined, one against all others.
  ScoreValues values(const ItemCounts& counts = {}) const;
  std::vector<ClassScores> by_class() const;
  const Ranking& ranking(int64_t c) const { return rankings_.at(static_cast<size_t>(c)); }

 private:
  int64_t classes_ = 0;
  std::vector<int64_t> y_, predicted_;
  std::vector<Ranking> rankings_;  // by class
};

}  // namespace grm
