#pragma once

#include "grm/core/options.h"
#include "grm/core/words.h"
#include "grm/data/task.h"
#include "grm/methods/method.h"

// Environments of the graphs of a training set.
namespace grm::graph_level {

enum class EnvironmentSource { automatic, named, size };
GRM_WORDS(EnvironmentSource, "auto", "named", "size")

struct EnvironmentOptions {
  EnvironmentSource environments = EnvironmentSource::automatic;
  int64_t environment_parts = 3;
  void declare(OptionList& list);
};

struct GraphEnvironments {
  torch::Tensor of_item;  // [items] int64 below `count`; -1: none
  int64_t count = 1;
};

/// named: as the data names them. size: equal parts of the graphs that are trained on, by their
/// number of nodes. auto: as named, else by size, which the log says. Error(config) for `named`
/// where nothing is named.
GraphEnvironments environments_of(const EnvironmentOptions& options, const Domain& training);

}  // namespace grm::graph_level
