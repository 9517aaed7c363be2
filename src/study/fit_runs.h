#pragma once

#include <map>
#include <string>

#include "study/fit.h"

namespace grm::study {

/// Thrown out of a search run when hooks.time_is_up said so; the checkpoint is written.
struct TimeIsUp {};

/// The search runs of a fit: unfinished ones go on where they stopped, in this call or an earlier
/// one. Their tasks have no test domains.
class SearchRuns {
 public:
  SearchRuns(const FitRequest& request, const FitHooks& hooks) : request_(request), hooks_(hooks) {}

  const Task& task(const RunConfig& config) { return load(config, false); }
  const Task& task_with_test(const RunConfig& config) { return load(config, true); }
  /// Of a search run; an empty path if there is none.
  RunFolder folder_of(const RunConfig& config, int64_t seed);
  /// Trains up to the end of an epoch, or further if it was further already.
  void train_to(const RunConfig& config, int64_t seed, int64_t epochs);

 private:
  const Task& load(const RunConfig& config, bool with_test);

  const FitRequest& request_;
  const FitHooks& hooks_;
  std::map<std::string, Task> tasks_;  // by the options of the dataset
};

/// Validation score and loss that a run had found by an epoch, from its metrics.jsonl.
struct FoundBy {
  bool any = false;
  double validation = 0.0, loss = kNoLoss;
};
/// `errors`: the smallest score is the best.
FoundBy found_by(const std::string& metrics, int64_t epoch, const std::string& origin,
                 bool errors = false);

}  // namespace grm::study
