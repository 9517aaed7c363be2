// The shift between the domains of a dataset, as tables of a report.
#include <algorithm>

#include "data/shift.h"
#include "report/html_data.h"

namespace grm::report {
namespace {

std::string shift_text(const DomainShift& domain, const std::string& what) {
  const ShiftMeasure* m = domain.find(what);
  if (!m) return "";
  return m->level == ShiftLevel::none ? fmt::format("{:.2f}", m->value)
                                      : fmt::format("{:.2f} {}", m->value, to_string(m->level));
}

// In the order in which docs/shift.md explains them.
struct Named {
  const char* what;
  const char* text;
};
constexpr Named kMeasures[] = {
    {"features", "standardised difference of means, root mean square over all columns"},
    {"column", "the same of the column that moved most, in standard deviations"},
    {"spread", "the largest difference of a column's distance from its mean, likewise"},
    {"degrees", "total variation distance of the degrees, 0 to 1"},
    {"sizes", "the same of the numbers of nodes"},
    {"labels", "total variation distance of the shares of classes, 0 to 1"},
    {"homophily", "difference of adjusted homophily"},
    {"classifier", "ROC-AUC of telling the domain from training, 0.5 to 1"}};

Table measure_layout(const ShiftReport& shift) {
  Table layout;
  layout.title = "Distance from the training domains";
  layout.label_columns = 2;
  layout.head = {"domain", "role"};
  for (const DomainShift& d : shift.domains) {
    layout.rows.push_back({{d.law.name}, {to_string(d.role)}});
  }
  for (const Named& measure : kMeasures) {
    const bool taken =
        std::any_of(shift.domains.begin(), shift.domains.end(),
                    [&](const DomainShift& d) { return d.find(measure.what) != nullptr; });
    if (!taken) continue;
    layout.head.emplace_back(measure.what);
    for (size_t k = 0; k < shift.domains.size(); ++k) {
      layout.rows[k].push_back({shift_text(shift.domains[k], measure.what)});
    }
    layout.notes.push_back(fmt::format("{}: {}.", measure.what, measure.text));
  }
  layout.head.push_back("shift");
  for (size_t k = 0; k < shift.domains.size(); ++k) {
    layout.rows[k].push_back({to_string(shift.domains[k].level)});
  }
  layout.notes.push_back(
      "Mild and strong: beyond what two samples of one law differ by. The measures are those of "
      "'grm data shift'.");
  return layout;
}

// Graphs have a size where nodes have neighbours of equal label.
Table::Row law_row(const DomainLaw& law, const std::string& role, bool graphs) {
  std::string labels;
  for (const double share : law.label_shares) {
    labels += fmt::format("{}{:.0f}", labels.empty() ? "" : " / ", 100 * share);
  }
  return {{law.name},
          {role},
          {std::to_string(law.items)},
          {fmt::format("{:.1f}", law.mean_degree)},
          {graphs          ? fmt::format("{:.1f}", law.mean_nodes)
           : law.homophily ? fmt::format("{:.2f}", law.homophily->adjusted)
                           : ""},
          {labels}};
}

Table law_layout(const ShiftReport& shift, const std::vector<std::string>& labels) {
  Table layout;
  layout.title = "The domains in numbers";
  layout.label_columns = 2;
  const bool graphs = shift.training.mean_nodes > 0;
  layout.head = {
      "domain",         "role", "items", "mean degree", graphs ? "nodes/graph" : "homophily",
      "labels, percent"};
  layout.rows.push_back(law_row(shift.training, "train", graphs));
  for (const DomainShift& d : shift.domains) {
    layout.rows.push_back(law_row(d.law, to_string(d.role), graphs));
  }
  if (!graphs) {
    layout.notes = {
        "Homophily: adjusted, 0 where the labels at the ends of edges are independent, 1 where "
        "they "
        "are always equal."};
  }
  if (!labels.empty()) layout.notes.push_back("Labels in this order: " + joined(labels) + ".");
  return layout;
}

}  // namespace

ShiftPart shift_part(const std::string& dataset, const Task& task) {
  const ShiftReport shift = measure_shift(task);
  ShiftPart part;
  part.title = dataset;
  part.words = {shift.text};
  part.words.insert(part.words.end(), shift.advice.begin(), shift.advice.end());
  part.tables = {measure_layout(shift), law_layout(shift, task.label_names)};
  for (const DomainShift& d : shift.domains) part.domains.push_back(d.law.name + ": " + d.text);
  return part;
}

}  // namespace grm::report
