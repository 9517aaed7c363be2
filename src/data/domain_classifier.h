#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/item_rows.h"
#include "grm/core/rng.h"
#include "grm/data/task.h"

namespace grm {

/// How well a logistic regression tells items of a domain from training items by degree and
/// features, without labels.
class DomainClassifier {
 public:
  DomainClassifier(const Task& task, const Rng& rng);

  struct Score {
    double auc;     // ROC-AUC on the half that it was not fitted to, in 0 .. 1
    double chance;  // what one law for both may give
  };
  /// Nothing where a side has too few items. `number` names the random draws.
  std::optional<Score> tell_apart(const Domain& other, uint64_t number) const;

 private:
  Rng rng_;
  ItemRows training_;  // the sample of the training domains
};

/// Mann-Whitney statistic in 0 .. 1, ties counted one half: how often a `high` exceeds a `low`.
double rank_auc(std::vector<double> low, std::vector<double> high);

}  // namespace grm
