#pragma once

#include "grm/data/task.h"
#include "grm/train/config.h"

namespace grm {

/// The task with the validation that the option names. Of n training graphs the ceil(n / 10) with
/// the most nodes (of equal ones those that come first) become the one validation domain and leave
/// the loss; no label but those of training graphs is used. Error(config) where that means nothing:
/// for nodes, or for fewer than two graphs.
Task with_validation(const Task& task, ValidateOn rule);

}  // namespace grm
