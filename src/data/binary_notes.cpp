// What a reader of a table must know of sets of graphs with two classes, computed from the data.
#include "data/binary_notes.h"

#include <torch/types.h>

#include <cmath>

#include "data/domain_classifier.h"

namespace grm {
namespace {

struct BySize {
  std::vector<double> negative, positive;  // numbers of nodes
};

BySize sizes_by_class(const Domain& domain) {
  BySize sizes;
  const torch::Tensor nodes = domain.graph.parts.diff().contiguous();
  for (int64_t k = 0; k < domain.labels.evaluate.numel(); ++k) {
    const int64_t item = domain.labels.evaluate.data_ptr<int64_t>()[k];
    const bool yes = domain.labels.y.data_ptr<int64_t>()[item] == 1;
    (yes ? sizes.positive : sizes.negative)
        .push_back(static_cast<double>(nodes.data_ptr<int64_t>()[item]));
  }
  return sizes;
}

// Standard error of an area `a` by Hanley and McNeil (Radiology 143, 1982).
double error_of_area(double a, double positives, double negatives) {
  const double q1 = a / (2 - a), q2 = 2 * a * a / (1 + a);
  const double variance =
      a * (1 - a) + (positives - 1) * (q1 - a * a) + (negatives - 1) * (q2 - a * a);
  return std::sqrt(variance / (positives * negatives));
}

}  // namespace

void add_binary_notes(Task& task) {
  constexpr double kArea = 0.7;
  std::string areas, counts;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      BySize sizes = sizes_by_class(domain);
      const auto yes = static_cast<double>(sizes.positive.size());
      const auto no = static_cast<double>(sizes.negative.size());
      if (yes == 0 || no == 0) continue;
      if (role == Role::test && task.metric == MetricKind::roc_auc) {
        counts += fmt::format(
            "{}{}: {} of {} items are of class 1, so a ROC-AUC of 70 has a "
            "standard error of {:.1f} points from the choice of items alone",
            counts.empty() ? "" : "; ", domain.name, yes, yes + no,
            100 * error_of_area(kArea, yes, no));
      }
      areas += fmt::format("{}{} {:.1f} ({:.1f} %)", areas.empty() ? "" : ", ", domain.name,
                           100 * rank_auc(std::move(sizes.negative), std::move(sizes.positive)),
                           100 * yes / (yes + no));
    }
  }
  if (!counts.empty()) task.notes.push_back(counts);
  if (!areas.empty()) {
    task.notes.push_back(
        "ROC-AUC of the number of nodes alone, more nodes for class 1 (and the share of class "
        "1): " +
        areas);
  }
}

}  // namespace grm
