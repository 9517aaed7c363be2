#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/runner.h"
#include "study/store.h"

// Search for option values by validation scores alone. Every method gets the same number of
// trials; trial 0 is the method as the study configures it. Trials run without test scores and
// without test labels; the winner of each dataset, method and variant then runs on fresh seeds.
namespace grm::study {

/// Option values of one trial of a method: none for trial 0, else a point of the grid or drawn from
/// a stream named by study, method, key and trial: the same on all datasets, but drawn anew where
/// it repeats an earlier trial, or values that the study has there anyway.
std::vector<Setting> trial_settings(const StudySpec& spec, const DatasetSpec& dataset,
                                    const MethodSpec& method, const VariantSpec& variant,
                                    int64_t trial);

/// Trials of every method: as specified, or one more than the points of the grid.
int64_t trial_count(const StudySpec& spec);

/// All runs of the search, with train.test = never; of a search with halving those on its first seed.
std::vector<PlannedCell> trial_cells(const StudySpec& spec);

/// The same as far as it is known: with halving, all trials run on the first seed, the best of them
/// on the second, the best of those on the third. A round is known once the one before it has ended.
std::vector<PlannedCell> trial_cells(const StudySpec& spec, const Store& store);

/// Validation scores of one trial, one for each seed, and its validation losses.
struct TrialScores {
  int64_t trial = 0;
  std::vector<double> validation;
  std::vector<double> losses = {};  // of runs that recorded one
  bool errors = false;              // the scores are errors: less is better
};
/// Index of the best mean; equal means go to the smaller mean loss, where both trials have all
/// of theirs, and then to the lower trial number.
size_t best_trial(const std::vector<TrialScores>& trials);

/// What each dataset, method and variant keeps after the first `seeds` seeds of a search whose trials
/// have all ended: its `keep` best trials, best first. A trial without a score on each of these seeds does not
/// take part.
std::map<std::vector<std::string>, std::vector<int64_t>> survivors(const StudySpec& spec,
                                                                   const Store& store,
                                                                   int64_t seeds, int64_t keep);

struct Winner {
  std::string dataset, method, variant;
  int64_t trial = 0;
  double validation = 0.0;      // mean over the trial's seeds
  int64_t trials = 0;           // that finished on all their seeds, out of which it was chosen
  std::vector<Setting> values;  // what differs from trial 0
};
/// Winners so far: of every dataset, method and variant whose trials have all ended. Trials that
/// failed on a seed do not take part; with halving those do that ran on the most seeds.
std::vector<Winner> winners(const Store& store, const std::string& study);

/// The winners' runs on the study's own seeds, with train.test = selected.
std::vector<PlannedCell> final_cells(const StudySpec& spec, const std::vector<Winner>& chosen);

/// Trials, choice and final runs; resumes where an earlier call was stopped. The outcome counts
/// both phases.
Outcome tune_study(const StudySpec& spec, const RunnerOptions& options, const RunnerHooks& hooks);

}  // namespace grm::study
