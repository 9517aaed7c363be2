#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "study/fit_plan.h"
#include "study/portfolio.h"
#include "train/trainer.h"

// From own data to a model: a portfolio of methods, chosen by validation alone. Search runs have no
// test domains; what is chosen is then scored on them once.
namespace grm::study {

struct FitRequest {
  std::string data;  // folder of own data, or a built-in dataset
  std::string out;   // folder of all that is kept; a second call goes on there
  double minutes = 10.0;
  DataContext context;
  std::string device = {};                 // empty: the configured one
  std::vector<Candidate> candidates = {};  // empty: the portfolio of the level
};

struct FitHooks {
  /// Before a candidate trains: its number and how many there are in the rung.
  std::function<void(const std::string& name, int64_t seed, size_t done, size_t all, size_t rung)>
      on_run;
  std::function<void(const EpochReport&)> on_epoch;
  std::function<void()> on_run_end;
  std::function<bool()> interrupted;  // stop now, to go on another day
  std::function<bool()> time_is_up;   // choose from what is there
};

/// Where one candidate came to.
struct Tried {
  Candidate candidate;
  double counted = 0.0;  // seconds of a whole run
  size_t rung = 0;       // the last rung that it finished, from 1; 0: none
  int64_t epochs = 0, seeds = 0;
  double validation = 0.0, loss = kNoLoss;  // means over the seeds, at that rung
  std::string problem;                      // why it could not be trained; empty: it could
};

struct FitResult {
  std::string name, metric;
  bool errors = false;  // the metric is an error: less is better
  Level level = Level::node;
  FitPlan plan;
  std::vector<Tried> tried;  // in the order of the portfolio, those left out included
  size_t chosen = 0;
  std::string why;
  bool complete = true;         // false: time was up before the plan was done
  std::vector<RunRecord> runs;  // of the chosen one, with test scores
  size_t best_run = 0;          // by validation; its model is kept
  std::string model;            // path
};

/// A score as text: errors are in the units of the targets, which may be small.
std::string shown_score(const FitResult& result, double score);

/// Where nothing is named: fits/NAME.
std::string default_fit_folder(const std::string& data);

/// The plan alone: nothing is trained or written.
FitResult plan_of(const FitRequest& request);

/// Error(data) if `out` was made with other data; Interrupted if hooks.interrupted said so.
FitResult fit(const FitRequest& request, const FitHooks& hooks);

}  // namespace grm::study
