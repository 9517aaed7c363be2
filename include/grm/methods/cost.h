#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grm/data/task.h"
#include "grm/nn/cost.h"

// What a method says of the memory and the work of its runs before they start.
namespace grm {

/// A domain as an estimate sees it: sizes and edges. Labels are not in it.
struct DomainShape : GraphShape {
  AdjacencyPtr edges_of;
  torch::Tensor counted;  // [k] int64: items whose loss (training) or score (else) counts
};
std::vector<DomainShape> shapes_of(const std::vector<Domain>& training);

/// What a run works on.
struct RunShape {
  RunShape(const Task& task, int64_t epochs, Sampling steps_on = {});
  std::vector<DomainShape> training, evaluated;  // evaluated: validation, then test
  double classes, features;
  double epochs;
  Sampling sampling;   // what steps are taken on
  double samples = 0;  // bytes of the samples of a step, where `training` has their sizes
  /// What the first epoch told by note_size(), where there was one already.
  std::map<std::string, std::vector<double>> noted;

  /// Sum over the distinct topologies of all domains, or of the training ones.
  double over_topologies(bool with_evaluated,
                         const std::function<double(const DomainShape&)>& of) const;
  /// A size that has to be looked up in the graphs. It is kept under its key, since one
  /// configuration after the other is estimated when options that fit are looked for.
  template <class T>
  T measured(const std::string& key, const std::function<T()>& measure) const {
    std::shared_ptr<void>& kept = (*kept_)[key];
    if (!kept) kept = std::make_shared<T>(measure());
    return *static_cast<const T*>(kept.get());
  }

 private:
  std::shared_ptr<std::map<std::string, std::shared_ptr<void>>> kept_;
};

/// The optimiser steps of an epoch, and the labelled items whose loss they see in all.
struct EpochShape {
  int64_t steps = 1;
  double targets = 0.0;
};

/// Numbers lie where the run computes, topology there and on the host.
enum class MemoryPlace { numbers, topology, host };
struct MemoryUse {
  std::string what;
  double bytes = 0.0;
  MemoryPlace place = MemoryPlace::numbers;
};
using MemoryUses = std::vector<MemoryUse>;

/// Values of options, by key.
using Settings = std::vector<std::pair<std::string, std::string>>;
/// One way to save memory: settings to be tried one after the other, the strongest last.
using Saving = std::vector<Settings>;
Saving saving(const std::string& key, const std::string& value);
/// A half, a quarter and an eighth of a whole number, and at least `least`.
Saving smaller(const std::string& key, int64_t value, int64_t least);

}  // namespace grm
