#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "train/ranking.h"

namespace grm {

/// How often a class was taken for another, and what is computed from these counts alone. Scores
/// are scikit-learn's, in percent but for `matthews`.
class Confusion {
 public:
  explicit Confusion(int64_t classes);
  /// predicted, y: [n] int64 in 0 .. classes - 1.
  Confusion(const torch::Tensor& predicted, const torch::Tensor& y, int64_t classes,
            const ItemCounts& counts = {});

  void add(int64_t truth, int64_t predicted, double times = 1.0);
  int64_t classes() const { return classes_; }
  double count(int64_t truth, int64_t predicted) const;
  double items() const;
  double items_of(int64_t truth) const;
  double predicted_as(int64_t predicted) const;

  /// Share of what was called c that is c; NaN where nothing was.
  double precision(int64_t c) const;
  /// Share of what is c that was called c; NaN where nothing is.
  double recall(int64_t c) const;
  /// NaN where nothing is c and nothing was called c.
  double f1(int64_t c) const;

  double accuracy() const;
  /// Mean recall of the classes that occur.
  double balanced_accuracy() const;
  /// Mean over the classes that occur or were predicted.
  double macro_f1() const;
  /// Matthews correlation of several classes, -1 .. 1; 0 where it is undefined.
  double matthews() const;

 private:
  int64_t classes_;
  std::vector<double> count_;  // [truth][predicted]
};

}  // namespace grm
