#include "data/shift.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "data/count_columns.h"
#include "data/domain_classifier.h"
#include "data/shift_measures.h"
#include "data/shift_words.h"
#include "grm/core/error.h"

namespace grm {
namespace {

constexpr size_t kColumnsNamed = 5;

// A measure is mild or strong where it exceeds what chance may give by this much.
struct Rule {
  const char* what;
  double mild;
  double strong;
};
constexpr Rule kRules[] = {
    {"features", 0.1, 0.5},   {"column", 0.25, 0.8},    {"spread", 0.25, 0.8},
    {"degrees", 0.1, 0.3},    {"sizes", 0.1, 0.3},      {"labels", 0.1, 0.3},
    {"homophily", 0.1, 0.25}, {"classifier", 0.1, 0.3},
};

const Rule& rule_of(const std::string& what) {
  for (const Rule& rule : kRules) {
    if (what == rule.what) return rule;
  }
  throw InternalError("shift: a measure without a rule");
}

ShiftMeasure measured(const std::string& what, double value, double chance) {
  const Rule& rule = rule_of(what);
  const double beyond = value - chance;
  const ShiftLevel level = beyond >= rule.strong ? ShiftLevel::strong
                           : beyond >= rule.mild ? ShiftLevel::mild
                                                 : ShiftLevel::none;
  return {what, value, chance, level, value};
}

std::string column_name(const Task& task, int64_t column) {
  const auto k = static_cast<size_t>(column);
  return k < task.feature_names.size() ? task.feature_names[k] : fmt::format("x{}", column);
}

// The columns with the largest differences, largest first.
std::vector<ColumnShift> largest(const Task& task, const std::vector<double>& differences) {
  std::vector<ColumnShift> all;
  for (size_t j = 0; j < differences.size(); ++j) {
    if (differences[j] == 0) continue;
    all.push_back({static_cast<int64_t>(j), "", differences[j]});
  }
  const size_t named = std::min(kColumnsNamed, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(named), all.end(),
                    [](const ColumnShift& a, const ColumnShift& b) {
                      const double size_a = std::abs(a.difference), size_b = std::abs(b.difference);
                      return size_a != size_b ? size_a > size_b : a.column < b.column;
                    });
  all.resize(named);
  for (ColumnShift& column : all) column.name = column_name(task, column.column);
  return all;
}

void compare_columns(const Task& task, const DomainCounts& training, const DomainCounts& other,
                     const CountColumns& counts, DomainShift& shift) {
  const std::vector<double> means = standardised_differences(training.columns, other.columns);
  if (means.empty()) return;
  double squares = 0;
  for (const double value : means) squares += value * value;
  const auto width = static_cast<double>(means.size());
  // The difference of a column of one law has about this deviation; nodes of one graph are not
  // independent, so the graphs of a set are what is counted.
  const double deviation =
      std::sqrt(1.0 / static_cast<double>(training.items) + 1.0 / static_cast<double>(other.items));
  const double largest_chance = deviation * (1 + std::sqrt(2 * std::log(2 * width)));
  const auto first = [](const std::vector<ColumnShift>& columns) {
    return columns.empty() ? 0.0 : std::abs(columns.front().difference);
  };
  shift.columns = largest(task, means);
  shift.spreads = largest(task, spread_differences(training, other, counts.is_count));
  shift.measures.push_back(measured("features", std::sqrt(squares / width), 2 * deviation));
  shift.measures.push_back(measured("column", first(shift.columns), largest_chance));
  shift.measures.push_back(measured("spread", first(shift.spreads), largest_chance));
}

void compare_homophily(const DomainCounts& training, const DomainCounts& other,
                       DomainShift& shift) {
  const auto a = training.ends.homophily(), b = other.ends.homophily();
  if (!a || !b) return;
  const double pooled =
      (training.ends.equal + other.ends.equal) / (training.ends.edges + other.ends.edges);
  // An edge is often stored both ways: count pairs as half an edge.
  const double deviation =
      std::sqrt(pooled * (1 - pooled) * (2 / training.ends.edges + 2 / other.ends.edges));
  const double scale = 1 - std::max(training.ends.expected(), other.ends.expected());
  shift.measures.push_back(
      measured("homophily", std::abs(a->adjusted - b->adjusted), 2 * deviation / scale));
}

void compare_counts(const std::string& what, const std::map<int64_t, int64_t>& a,
                    const std::map<int64_t, int64_t>& b, double n, double m, DomainShift& shift) {
  if (a.empty() || b.empty()) return;
  shift.measures.push_back(
      measured(what, total_variation(a, b), total_variation_chance(a, b, n, m)));
}

DomainLaw law_of(const std::string& name, const DomainCounts& counts, int64_t classes) {
  DomainLaw law;
  law.name = name;
  law.items = counts.items;
  law.mean_degree = counts.degrees.mean();
  law.mean_nodes = counts.sizes.mean();
  law.homophily = counts.ends.homophily();
  double total = 0;
  for (const auto& entry : counts.labels) total += static_cast<double>(entry.second);
  if (total == 0) return law;
  law.label_shares.assign(classes, 0.0);
  for (const auto& [label, count] : counts.labels) {
    law.label_shares[label] = static_cast<double>(count) / total;
  }
  return law;
}

double labelled(const DomainCounts& counts) {
  double total = 0;
  for (const auto& entry : counts.labels) total += static_cast<double>(entry.second);
  return total;
}

bool is_directed(const Adjacency& edges) {
  return !torch::equal(edges.in.offsets, edges.out.offsets) ||
         !torch::equal(edges.in.indices, edges.out.indices);
}

}  // namespace

const ShiftMeasure* DomainShift::find(const std::string& what) const {
  for (const ShiftMeasure& measure : measures) {
    if (measure.what == what) return &measure;
  }
  return nullptr;
}

double relative_strength(const ShiftMeasure& measure) {
  return (measure.value - measure.chance) / rule_of(measure.what).strong;
}

ShiftReport measure_shift(const Task& given, uint64_t seed) {
  if (given.training.empty()) fail(ErrorKind::data, "{}: has no training domain", given.name);
  ShiftReport report;
  const CountColumns counts = find_count_columns(given);
  report.count_columns = counts.count;
  Task task = given;
  for (std::vector<Domain>* domains : {&task.training, &task.validation, &task.test}) {
    for (Domain& domain : *domains) domain.graph.x = counts.logged(domain.graph.x);
  }
  std::vector<const Domain*> together;
  std::string names;
  for (const Domain& domain : task.training) {
    together.push_back(&domain);
    names += (names.empty() ? "" : ", ") + domain.name;
    report.directed = report.directed || is_directed(*domain.graph.edges);
  }
  const DomainCounts training = count_domains(together, task.classes);
  report.training = law_of(names, training, task.classes);
  const DomainClassifier classifier(task, Rng(seed));
  uint64_t number = 0;
  for (const Role role : {Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      const DomainCounts other = count_domains({&domain}, task.classes);
      report.directed = report.directed || is_directed(*domain.graph.edges);
      DomainShift shift;
      shift.role = role;
      shift.law = law_of(domain.name, other, task.classes);
      const auto n = static_cast<double>(training.items), m = static_cast<double>(other.items);
      compare_columns(task, training, other, counts, shift);
      compare_counts("degrees", training.degrees.count, other.degrees.count, n, m, shift);
      compare_counts("sizes", training.sizes.count, other.sizes.count, n, m, shift);
      compare_counts("labels", training.labels, other.labels, labelled(training), labelled(other),
                     shift);
      compare_homophily(training, other, shift);
      if (const auto score = classifier.tell_apart(domain, number++)) {
        // Below one half it found nothing that holds for the other half of the items.
        shift.measures.push_back(measured("classifier", std::max(0.5, score->auc), score->chance));
        shift.measures.back().raw = score->auc;
      }
      report.domains.push_back(std::move(shift));
    }
  }
  put_into_words(report);
  return report;
}

}  // namespace grm
