#pragma once

#include "grm/data/task.h"
#include "grm/train/config.h"

namespace grm {

/// The loss that a run trains on: that of the task with `train.class_weights` and `train.focal`.
/// Weights are read off the training labels alone:
///   classes, balanced     n / (classes n_c), which is 1 on average over the n training items
///   classes, by hand      as given, divided by their mean over the training items
///   multi-label, balanced what a yes of a task counts: its noes by its yeses
///   multi-label, by hand  what a yes of a task counts, as given
/// By hand is "fraud=5" (classes by name or number, others 1) or one number for each class, "1,5".
/// Error(config) for classes that are unknown and for a regression, which has no classes.
TrainLoss train_loss(const TrainOptions& options, const Task& task);

}  // namespace grm
