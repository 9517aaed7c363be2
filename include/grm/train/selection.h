#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "grm/core/words.h"

namespace grm {

/// The validation loss where none was recorded: by programs that did not know it.
constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

/// What one evaluation found. Test scores are there under train.test = every (for the `oracle`
/// row); the rule that chooses a model is never handed them: see choose_by_validation.
struct Evaluation {
  int64_t epoch = 0;
  double validation = 0.0;           // mean over validation groups
  std::vector<double> test;          // by test group; empty unless every evaluation scores them
  double validation_loss = kNoLoss;  // mean over validation groups
};

/// Index of the first largest value.
size_t first_maximum(const std::vector<double>& values);

/// Index of what validation alone chooses: the largest score, of equal scores the smallest loss, of
/// equal losses the first. Scores saturate (100 percent right) long before losses do. A loss that
/// is not known (kNoLoss, or `losses` empty) decides nothing.
size_t choose_by_validation(const std::vector<double>& validation,
                            const std::vector<double>& losses = {});

/// The epoch that counts: best on validation, the last, or that of the largest mean test score (an
/// upper bound for analysis, never a result).
enum class Selection { val, last, oracle };
GRM_WORDS(Selection, "val", "last", "oracle")
/// `smaller`: the scores are errors, of which less is better.
size_t choose(Selection rule, const std::vector<Evaluation>& history, bool smaller = false);

/// Whether training stops early after this many evaluations. no_gain: the first of the best
/// validation scores is `patience` evaluations old, whatever the losses. below_mean (LiSA): after
/// `warm_up` epochs, the latest score is below the mean of the `patience` scores before it.
/// patience 0: never.
enum class StopRule { no_gain, below_mean };
GRM_WORDS(StopRule, "no_gain", "below_mean")
bool stops_early(StopRule rule, int64_t patience, int64_t warm_up,
                 const std::vector<Evaluation>& history, bool smaller = false);

}  // namespace grm
