#pragma once

#include <string>

#include "cli/cli.h"
#include "train/bootstrap.h"

namespace grm::cli {

/// What `grm eval` is asked beyond the domains of the run's own data.
struct EvalFlags {
  std::string run, data, positive;
  double precision = 0.0, recall = 0.0;  // 0: not wanted
  int64_t resamples = BootstrapOptions().resamples;
  double level = BootstrapOptions().level;

  bool wants_threshold() const { return precision > 0.0 || recall > 0.0; }
  /// Whether other scores are asked for than those of a plain `grm eval RUN`.
  bool decides() const { return !data.empty() || wants_threshold(); }
};
void add_eval_flags(CLI::App& verb, EvalFlags& flags);

/// Scores labelled data: `flags.data`, or the run's own test domains.
int eval_scores(const EvalFlags& flags, const Common& common);

}  // namespace grm::cli
