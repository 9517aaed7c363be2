#pragma once

#include "dist/group.h"
#include "grm/data/task.h"
#include "grm/nn/parameters.h"
#include "grm/train/config.h"

// What the processes of a run make sure of, so that they do the same.
namespace grm {

/// Why the steps of a run cannot be cut into shards, as the end of a sentence; empty where they can.
std::string undivided(const RunConfig& config);

/// Error(config) for a method whose steps cannot be cut, or shards that the processes cannot share. A
/// task in parts gives several processes a reason to take whole steps.
void check_sharding(const RunConfig& config, const std::shared_ptr<dist::Group>& group,
                    const Task* task = nullptr);

/// Error(config) on every process whose data, or whatever bits depend on (threads, BLAS, CPU), differ
/// from those of rank 0; Error(io) where some find a checkpoint and others do not.
void check_same_setting(dist::Group& group, const Task& task, bool resumes);

/// What all processes do after an epoch, if one of them wants it.
struct Agreed {
  bool stop = false;
  bool enough = false;
};
/// Error(device) if a model has other bits than that of rank 0.
Agreed agree_after_epoch(dist::Group& group, const nn::ParameterSet& model, int64_t epoch,
                         const Agreed& wanted);

}  // namespace grm
