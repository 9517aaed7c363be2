#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grm/data/task.h"

namespace grm {

enum class ShiftLevel { none, mild, strong };
GRM_WORDS(ShiftLevel, "none", "mild", "strong")

/// One distance between the training domains and another domain. What they are and where "mild" and
/// "strong" begin is written in docs/shift.md.
struct ShiftMeasure {
  std::string what;  // features, column, spread, degrees, sizes, labels, homophily, classifier
  double value = 0;
  double chance = 0;  // up to this value two samples of one law may differ
  ShiftLevel level = ShiftLevel::none;
  double raw = 0;  // classifier: its score, where `value` is at least 0.5; else the value
};

/// Standardised difference of one column: other domain minus training.
struct ColumnShift {
  int64_t column = 0;
  std::string name;
  double difference = 0;
};

/// Share of edges between equal labels, self-loops and unlabelled ends left out; `adjusted` is 0
/// where labels at the ends are independent and 1 where they are always equal (Platonov et al.,
/// NeurIPS 2023).
struct Homophily {
  double edge = 0;
  double adjusted = 0;
};

/// A domain, or the training domains together, in numbers.
struct DomainLaw {
  std::string name;
  int64_t items = 0;  // nodes, or the graphs of a set
  double mean_degree = 0;
  double mean_nodes = 0;               // of a graph of a set, else 0
  std::optional<Homophily> homophily;  // node level, where two classes meet at the ends of edges
  std::vector<double> label_shares;    // by class; empty where nothing is labelled
};

struct DomainShift {
  DomainLaw law;
  Role role = Role::test;
  std::vector<ShiftMeasure> measures;  // those that can be taken
  std::vector<ColumnShift> columns;    // with the largest differences of means, largest first
  std::vector<ColumnShift> spreads;    // the same of the distance from the mean
  ShiftLevel level = ShiftLevel::none;
  std::string most;  // the measure that stands out most; empty where none does
  std::string text;  // the verdict in words

  const ShiftMeasure* find(const std::string& what) const;
};

struct ShiftReport {
  DomainLaw training;
  bool directed = false;             // some pair of some graph has no reverse
  int64_t count_columns = 0;         // that were compared as log(1 + count)
  std::vector<DomainShift> domains;  // validation, then test
  ShiftLevel level = ShiftLevel::none;
  std::string text;                 // the verdict in words
  std::vector<std::string> advice;  // what to try, one sentence each
};

/// Compares every validation and test domain with the training domains taken together. The same
/// seed gives the same report for any number of threads.
ShiftReport measure_shift(const Task& task, uint64_t seed = 0);

}  // namespace grm
