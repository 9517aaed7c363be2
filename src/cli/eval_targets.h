#pragma once

#include "cli/eval_scores.h"
#include "grm/train/predict.h"

namespace grm::cli {

/// `grm eval RUN --data PATH` for multi-label targets and regression: every metric of the kind, for
/// each domain and for all items together.
int eval_targets(Model& model, const EvalFlags& flags, const Common& common);

}  // namespace grm::cli
