#pragma once

#include "grm/data/task.h"

namespace grm {

/// Notes for sets of graphs with two classes: what the number of nodes alone is worth in each subset,
/// and how much a ROC-AUC may be off because the test set has few items of class 1.
void add_binary_notes(Task& task);

}  // namespace grm
