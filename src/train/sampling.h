#pragma once

#include "grm/train/config.h"

namespace grm {

/// What train.batch and train.fanout ask for. Error(config) for a method that takes whole graphs.
Sampling sampling_of(const RunConfig& config);

/// Error(config) where data is a graph in parts and the method cannot read one.
void check_parts(const RunConfig& config, const Task& task,
                 const std::shared_ptr<dist::Group>& group);

/// Error(config) where whole graphs are to be trained on and one is there for samples alone: large
/// mapped graphs have the pairs of one direction (docs/large.md).
void check_both_ways(const Task& task, const Sampling& sampling);

}  // namespace grm
